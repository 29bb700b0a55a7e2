#include "core/bulk/import_task.h"

#include "codec/json/document.h"
#include "core/base/plain_name.h"
#include "core/base/resource_types.h"
#include "core/bulk/ndjson_files.h"
#include "core/interactions/media_type.h"
#include "core/interactions/negotiation.h"
#include "core/operations/input.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

constexpr std::size_t kInputsMax = 10'000;
constexpr std::size_t kNameCharsMax = 200;
constexpr std::string_view kUpload = "upload.ndjson";

Result<void> check_type(const std::string& type) {
    if (!type.empty() && !find_resource_type(type)) {
        return Error{Errc::invalid, fmt::format("There is no type '{}'", type.substr(0, 100))};
    }
    return {};
}

Result<ImportTask::Input> read_input(const Service& service, json::Value parameter) {
    ImportTask::Input input;
    input.type = text_of(part_of(parameter, "type")).value_or("");
    ANNALS_TRY_VOID(check_type(input.type));
    input.name = text_of(part_of(parameter, "url")).value_or("");
    if (!is_plain_name(input.name, kNameCharsMax)) {
        return Error{Errc::invalid,
                     fmt::format("input: '{}' is not the name of a file in the import folder",
                                 input.name.substr(0, 100))};
    }
    if (!service.jobs().files().exists(
            fmt::format("{}/{}", import_folder(service.config()), input.name))) {
        return Error{Errc::not_found,
                     fmt::format("The import folder has no file '{}'", input.name)};
    }
    return input;
}

Result<ImportTask> read_upload(const Request& request, bool lenient,
                               std::vector<JobInput>& uploads) {
    ANNALS_TRY(const Parameters query, parse_query(request.query));
    ImportTask task;
    ImportTask::Input input{.name = std::string(kUpload), .type = {}, .uploaded = true};
    for (const auto& [name, value] : query) {
        if (name == "type") {
            input.type = value;
        } else if (name == "keepVersions" && (value == "true" || value == "false")) {
            task.keep_versions = value == "true";
        } else if (!lenient && name != "_format" && name != "_pretty") {
            return Error{Errc::invalid, fmt::format("There is no parameter '{}'", name)};
        }
    }
    ANNALS_TRY_VOID(check_type(input.type));
    task.inputs.push_back(std::move(input));
    uploads.emplace_back(kUpload, request.body);
    return task;
}

}  // namespace

std::string import_folder(const Config& config) {
    return config.import_dir.empty() ? config.data + "/import" : config.import_dir;
}

Result<ImportTask> read_import_task(const Service& service, const Request& request,
                                    std::vector<JobInput>& uploads) {
    const Preference preference = read_preference(request);
    if (!preference.respond_async) {
        return Error{Errc::invalid, "An import is asynchronous: send Prefer: respond-async"};
    }
    std::string_view content = request.header("Content-Type").value_or("");
    if (is_ndjson(next_part(content, ';'))) {
        return read_upload(request, preference.lenient, uploads);
    }
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    if (!preference.lenient) {
        ANNALS_TRY_VOID(input.only({"inputFormat", "inputSource", "input", "keepVersions"}));
    }
    ANNALS_TRY(const std::optional<std::string> format, input.text("inputFormat"));
    if (format && !is_ndjson(with_plus(*format))) {
        return Error{Errc::invalid,
                     fmt::format("inputFormat: '{}' is not supported: use application/fhir+ndjson",
                                 format->substr(0, 100))};
    }
    ImportTask task;
    ANNALS_TRY(task.keep_versions, input.flag("keepVersions"));
    ANNALS_TRY(const std::vector<json::Value> inputs, input.parts("input"));
    for (const json::Value parameter : inputs) {
        if (task.inputs.size() == kInputsMax) {
            return Error{Errc::too_costly, "Too many files at once"};
        }
        ANNALS_TRY(ImportTask::Input file, read_input(service, parameter));
        task.inputs.push_back(std::move(file));
    }
    if (task.inputs.empty()) {
        return Error{Errc::required, "input: no file is named"};
    }
    return task;
}

std::string task_json(const ImportTask& task) {
    std::string out = fmt::format(R"({{"keepVersions":{},"inputs":[)", task.keep_versions);
    bool first = true;
    for (const ImportTask::Input& input : task.inputs) {
        out += fmt::format(R"({}{{"name":"{}","type":"{}","uploaded":{}}})", first ? "" : ",",
                           input.name, input.type, input.uploaded);
        first = false;
    }
    return out + "]}";
}

Result<ImportTask> parse_import_task(std::string_view json) {
    json::Parser parser;
    ANNALS_TRY(const json::Document document, parser.parse(json));
    ImportTask task;
    task.keep_versions = document.root()["keepVersions"].raw() == "true";
    for (const json::Value input : document.root()["inputs"].elements()) {
        task.inputs.push_back({.name = input["name"].string(),
                               .type = input["type"].string(),
                               .uploaded = input["uploaded"].raw() == "true"});
        if (!is_plain_name(task.inputs.back().name, kNameCharsMax)) {
            return Error{Errc::corrupt, "the stored request of an import names no file"};
        }
    }
    return task;
}

}  // namespace annals::core
