#include "core/interactions/metadata.h"

#include "codec/json/document.h"
#include "core/base/digest.h"
#include "core/interactions/preconditions.h"
#include "core/operations/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace annals::core {

namespace {

bool is_on(const Interaction& row, const Config& config) {
    return row.enabled == nullptr || row.enabled(config);
}

bool offers(const Config& config, Level level, HttpMethod method) {
    const auto rows = interactions();
    return std::any_of(rows.begin(), rows.end(), [&](const Interaction& row) {
        return row.level == level && row.method == method && is_on(row, config);
    });
}

// [{"code":"read"},...] of the rows at these levels; each code once.
std::string interaction_codes(const Config& config, std::initializer_list<Level> levels) {
    std::vector<std::string_view> codes;
    for (const Interaction& row : interactions()) {
        if (std::find(levels.begin(), levels.end(), row.level) == levels.end() ||
            !is_on(row, config)) {
            continue;
        }
        std::string_view rest = row.capability;
        while (!rest.empty()) {
            const std::size_t blank = rest.find(' ');
            const std::string_view code = rest.substr(0, blank);
            rest.remove_prefix(blank == std::string_view::npos ? rest.size() : blank + 1);
            if (std::find(codes.begin(), codes.end(), code) == codes.end()) {
                codes.push_back(code);
            }
        }
    }
    std::string out = "[";
    for (const std::string_view code : codes) {
        out += fmt::format(R"({}{{"code":"{}"}})", out.size() > 1 ? "," : "", code);
    }
    return out + "]";
}

// What every resource type has in common: everything but "type" and "profile".
std::string resource_abilities(const Config& config) {
    const auto yes_no = [](bool yes) { return yes ? "true" : "false"; };
    const std::string operations = operations_json(kOnType | kOnInstance);
    return fmt::format(
        R"("interaction":{},"versioning":"versioned","readHistory":{},"updateCreate":{},)"
        R"("conditionalCreate":{},"conditionalRead":"full-support","conditionalUpdate":{},)"
        R"("conditionalDelete":"{}","referencePolicy":["literal","local"{}]{}{})",
        interaction_codes(config, {Level::instance, Level::instance_history, Level::version,
                                   Level::type, Level::type_history, Level::type_search}),
        yes_no(offers(config, Level::version, HttpMethod::get)), yes_no(config.update_create),
        yes_no(offers(config, Level::type, HttpMethod::post)),
        yes_no(offers(config, Level::type, HttpMethod::put)),
        offers(config, Level::type, HttpMethod::delete_) ? "single" : "not-supported",
        config.integrity_on_write ? R"(,"enforced")" : "",
        operations.empty() ? "" : R"(,"operation":)", operations);
}

}  // namespace

std::pair<std::string, std::string> make_capability_statement(const Config& config,
                                                              Instant started) {
    std::string before = fmt::format(
        R"({{"resourceType":"CapabilityStatement","status":"active","date":"{}",)"
        R"("publisher":"Annals","kind":"instance","software":{{"name":"Annals","version":"{}"}},)"
        R"("implementation":{{"description":"A versioned FHIR R4 resource store","url":)",
        format_instant(started), ANNALS_VERSION);

    std::string after = R"(},"fhirVersion":"4.0.1","format":["application/fhir+json","json",)"
                        R"("application/fhir+xml","xml"],)"
                        R"("patchFormat":["application/json-patch+json","application/fhir+json",)"
                        R"("application/fhir+xml"],)"
                        R"("rest":[{"mode":"server","resource":[)";
    const std::string abilities = resource_abilities(config);
    bool first = true;
    for (const std::string_view name : resource_type_names()) {
        // Parameters exists to be sent, not to be stored.
        if (name == "Parameters") {
            continue;
        }
        after += fmt::format(
            R"({}{{"type":"{}","profile":"http://hl7.org/fhir/StructureDefinition/{}",{}}})",
            first ? "" : ",", name, name, abilities);
        first = false;
    }
    const std::string operations = operations_json(kOnSystem);
    after += fmt::format(
        R"(],"interaction":{}{}{}}}]}})",
        interaction_codes(config, {Level::root, Level::system_history, Level::system_search}),
        operations.empty() ? "" : R"(,"operation":)", operations);
    return {std::move(before), std::move(after)};
}

Response metadata(const Service& service, const Request& request, const Target&) {
    const auto& [before, after] = service.capability_statement();
    const std::string url = json::quoted(request.base_url);

    Response response;
    response.cache_control = "no-cache";
    response.etag = VersionNumber{hash64(after, hash64(url, hash64(before))) & kVersionNumberMax};
    response.last_modified = service.started();
    const auto tags = read_entity_tags(request, "If-None-Match");
    if (tags && *tags && ((*tags)->any || (*tags)->names(*response.etag))) {
        response.status = 304;
        return response;
    }
    // The halves live in the service, which outlives every response.
    response.body.append_view(before, nullptr);
    response.body.append(url);
    response.body.append_view(after, nullptr);
    return response;
}

}  // namespace annals::core
