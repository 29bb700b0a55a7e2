#include "core/bulk/export_task.h"

#include "codec/json/document.h"
#include "core/base/parts.h"
#include "core/base/sort_unique.h"
#include "core/bulk/ndjson_files.h"
#include "core/interactions/as_of.h"
#include "core/interactions/negotiation.h"
#include "core/interactions/references.h"
#include "core/jobs/job_folder.h"
#include "core/operations/input.h"
#include "core/search/compartments.h"
#include "core/search/query.h"
#include "core/subset.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace annals::core {

namespace {

constexpr std::size_t kFiltersMax = 1000;
constexpr std::size_t kPatientsMax = 100'000;

constexpr std::array<std::string_view, 8> kKnown{"_outputFormat", "_since",        "_until",
                                                 "_asOf",         "_type",         "_typeFilter",
                                                 "patient",       "includeHistory"};

// Parameters of the specification that are not supported.
constexpr std::array<std::string_view, 3> kUnsupported{"includeAssociatedData", "organizeOutputBy",
                                                       "allowPartialManifests"};

constexpr std::string_view kLevels[] = {"system", "patient", "group"};

// Whether a new query begins here, after a comma: a type's name and a question mark follow. Other commas belong to the current
// query.
bool begins_filter(std::string_view text) {
    constexpr std::size_t kNameBytesMax = 64;  // of a type: bounds the look ahead after each comma
    const std::size_t mark = text.substr(0, kNameBytesMax + 1).find('?');
    return mark != std::string_view::npos && find_resource_type(text.substr(0, mark)).has_value();
}

void split_filters(std::string_view list, std::vector<std::string>& filters) {
    std::size_t begin = 0;
    for (std::size_t comma = list.find(','); comma != std::string_view::npos;
         comma = list.find(',', comma + 1)) {
        if (begins_filter(list.substr(comma + 1))) {
            filters.emplace_back(list.substr(begin, comma - begin));
            begin = comma + 1;
        }
    }
    if (begin < list.size()) {
        filters.emplace_back(list.substr(begin));
    }
}

Result<void> check_format(const OperationInput& input) {
    ANNALS_TRY(std::optional<std::string> format, input.text("_outputFormat"));
    if (!format) {
        return {};
    }
    if (!is_ndjson(with_plus(*format))) {
        return Error{
            Errc::invalid,
            fmt::format("_outputFormat: '{}' is not supported: use application/fhir+ndjson",
                        format->substr(0, 100))};
    }
    return {};
}

// Reports an error, or notes a warning if the client asked for leniency.
Result<void> pass_over(ExportTask& task, Errc code, std::string detail) {
    if (task.strict) {
        return Error{code, std::move(detail)};
    }
    task.passed_over.push_back(std::move(detail));
    return {};
}

Result<void> check_names(const OperationInput& input, ExportTask& task) {
    ANNALS_TRY(const std::vector<std::string> names, input.names());
    for (const std::string& name : names) {
        if (std::ranges::find(kUnsupported, name) != kUnsupported.end()) {
            ANNALS_TRY_VOID(
                pass_over(task, Errc::not_supported, fmt::format("{} is not supported", name)));
        } else if (std::ranges::find(kKnown, name) == kKnown.end()) {
            ANNALS_TRY_VOID(
                pass_over(task, Errc::invalid,
                          fmt::format("There is no parameter '{}'", name.substr(0, 100))));
        }
    }
    return {};
}

Result<void> read_types(const OperationInput& input, ExportTask& task) {
    std::vector<std::string> names;
    ANNALS_TRY(const std::vector<std::string> lists, input.texts("_type"));
    for (const std::string& list : lists) {
        const std::string ended = list + ',';  // so that an empty last element is one, too
        for (std::string_view rest = ended; !rest.empty();) {
            names.emplace_back(take_until(rest, ','));
        }
    }
    for (const std::string& name : names) {
        Result<TypeId> type = search::read_type(name);
        if (type) {
            task.types.push_back(*type);
        } else {
            ANNALS_TRY_VOID(pass_over(task, type.error().code, std::move(type.error().detail)));
        }
    }
    task.no_type = task.types.empty() && !names.empty();
    sort_unique(task.types);
    return {};
}

Result<void> read_filters(const OperationInput& input, ExportTask& task) {
    ANNALS_TRY(const std::vector<std::string> lists, input.texts("_typeFilter"));
    for (const std::string& list : lists) {
        split_filters(list, task.filters);
    }
    if (task.filters.size() > kFiltersMax) {
        return Error{Errc::too_costly, "Too many type filters"};
    }
    for (const std::string& filter : task.filters) {
        ANNALS_TRY(const TypeFilter read, read_type_filter(filter));
        if ((task.no_type || !task.types.empty()) &&
            !std::binary_search(task.types.begin(), task.types.end(), read.type)) {
            return Error{Errc::invalid,
                         fmt::format("_typeFilter: {} is not among the requested types",
                                     resource_type_name(read.type))};
        }
    }
    return {};
}

Result<void> read_patients(const OperationInput& input, const Request& request, ExportTask& task) {
    if (!input.has("patient")) {
        return {};
    }
    if (task.level == ExportTask::Level::system || request.method != HttpMethod::post) {
        return Error{
            Errc::invalid,
            "patient is allowed for exports of patients and groups only, in the body of a POST"};
    }
    ANNALS_TRY(const std::vector<json::Value> parts, input.parts("patient"));
    for (const json::Value part : parts) {
        const json::Value value = value_of(part);
        const std::string reference =
            value.is_object() ? value["reference"].string() : value.string();
        const auto named = local_reference(reference, request.base_url);
        if (!named || named->first != search::patient_type() ||
            reference.find(kHistoryMark) != std::string::npos) {
            return Error{Errc::invalid,
                         fmt::format("patient: '{}' is not a reference to a patient on this server",
                                     reference.substr(0, 100))};
        }
        task.patients.emplace_back(named->second);
    }
    if (task.patients.empty() || task.patients.size() > kPatientsMax) {
        return Error{Errc::invalid, "patient: there are none, or too many"};
    }
    return {};
}

void append_texts(std::string& out, std::string_view name, const std::vector<std::string>& texts) {
    out += fmt::format(R"(,"{}":[)", name);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        out += i == 0 ? "" : ",";
        json::append_quoted(out, texts[i]);
    }
    out += ']';
}

std::vector<std::string> texts_of(json::Value list) {
    std::vector<std::string> texts;
    for (const json::Value text : list.elements()) {
        texts.push_back(text.string());
    }
    return texts;
}

}  // namespace

Result<TypeFilter> read_type_filter(std::string_view filter) {
    const std::size_t mark = filter.find('?');
    const std::optional<TypeId> type =
        mark == std::string_view::npos ? std::nullopt : find_resource_type(filter.substr(0, mark));
    if (!type) {
        return Error{Errc::invalid, fmt::format("_typeFilter: '{}' is not a search of one type",
                                                filter.substr(0, 100))};
    }
    return TypeFilter{*type, filter.substr(mark + 1)};
}

Result<ExportTask> read_export_task(const storage::Store& store, const Request& request,
                                    const Target& target) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ExportTask task;
    task.strict = !read_preference(request).lenient;
    ANNALS_TRY_VOID(check_names(input, task));
    ANNALS_TRY_VOID(check_format(input));

    if (target.level == Level::type_operation) {
        task.level = ExportTask::Level::patient;
    } else if (target.level == Level::instance_operation) {
        task.level = ExportTask::Level::group;
        task.group = target.id;
    }
    ANNALS_TRY(task.since, input.instant("_since"));
    ANNALS_TRY(task.until, input.instant("_until"));
    ANNALS_TRY(const std::optional<std::string> as_of, input.text("_asOf"));
    if (as_of) {
        ANNALS_TRY(task.as_of, read_as_of(store, *as_of));
    }
    ANNALS_TRY(task.history, input.flag("includeHistory"));
    ANNALS_TRY_VOID(read_types(input, task));
    ANNALS_TRY_VOID(read_filters(input, task));
    ANNALS_TRY_VOID(read_patients(input, request, task));
    ANNALS_TRY(const std::vector<std::string> lists, input.texts("_elements"));
    ElementNames names;
    for (const std::string& list : lists) {
        ANNALS_TRY_VOID(read_elements(list, names));
        task.elements.push_back(list);
    }
    return task;
}

std::string task_json(const ExportTask& task) {
    std::string out = fmt::format(R"({{"level":"{}","group":"{}","history":{},"strict":{})",
                                  kLevels[static_cast<std::size_t>(task.level)], task.group,
                                  task.history, task.strict);
    if (task.since) {
        out += fmt::format(R"(,"since":"{}")", format_instant(*task.since));
    }
    if (task.until) {
        out += fmt::format(R"(,"until":"{}")", format_instant(*task.until));
    }
    if (task.as_of) {
        out += fmt::format(R"(,"asOf":{})", task.as_of->value);
    }
    std::vector<std::string> types;
    for (const TypeId type : task.types) {
        types.emplace_back(resource_type_name(type));
    }
    append_texts(out, "types", types);
    out += task.no_type ? R"(,"noType":true)" : "";
    append_texts(out, "filters", task.filters);
    append_texts(out, "elements", task.elements);
    append_texts(out, "patients", task.patients);
    append_texts(out, "passedOver", task.passed_over);
    return out + "}";
}

Result<ExportTask> parse_export_task(std::string_view json) {
    json::Parser parser;
    ANNALS_TRY(const json::Document document, parser.parse(json));
    const json::Value root = document.root();
    ExportTask task;
    bool known = false;
    for (std::size_t i = 0; i < std::size(kLevels); ++i) {
        if (root["level"].equals(kLevels[i])) {
            task.level = static_cast<ExportTask::Level>(i);
            known = true;
        }
    }
    if (!known) {
        return Error{Errc::corrupt, "the stored request of an export cannot be read"};
    }
    task.group = root["group"].string();
    task.history = root["history"].raw() == "true";
    task.strict = root["strict"].raw() == "true";
    if (root["since"]) {
        ANNALS_TRY(task.since, parse_instant(root["since"].string()));
    }
    if (root["until"]) {
        ANNALS_TRY(task.until, parse_instant(root["until"].string()));
    }
    if (root["asOf"]) {
        ANNALS_TRY(const std::uint64_t position, saved_number(root["asOf"], "asOf"));
        task.as_of = Position{position};
    }
    for (const std::string& name : texts_of(root["types"])) {
        if (const auto type = find_resource_type(name)) {
            task.types.push_back(*type);
        }
    }
    task.no_type = root["noType"].raw() == "true";
    task.filters = texts_of(root["filters"]);
    task.elements = texts_of(root["elements"]);
    task.patients = texts_of(root["patients"]);
    task.passed_over = texts_of(root["passedOver"]);
    return task;
}

}  // namespace annals::core
