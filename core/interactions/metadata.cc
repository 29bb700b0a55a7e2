#include "core/interactions/metadata.h"

#include "codec/json/document.h"
#include "core/base/digest.h"
#include "core/interactions/preconditions.h"
#include "core/operations/operations.h"
#include "core/outcome.h"
#include "core/search/compartments.h"

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
    return fmt::format(
        R"("interaction":{},"versioning":"versioned","readHistory":{},"updateCreate":{},)"
        R"("conditionalCreate":{},"conditionalRead":"full-support","conditionalUpdate":{},)"
        R"("conditionalDelete":"{}","referencePolicy":["literal","local"{}])",
        interaction_codes(config, {Level::instance, Level::instance_history, Level::version,
                                   Level::type, Level::type_history, Level::type_search}),
        yes_no(offers(config, Level::version, HttpMethod::get)), yes_no(config.update_create),
        yes_no(offers(config, Level::type, HttpMethod::post)),
        yes_no(offers(config, Level::type, HttpMethod::put)),
        offers(config, Level::type, HttpMethod::delete_) ? config.conditional_delete
                                                         : "not-supported",
        config.integrity_on_write ? R"(,"enforced")" : "");
}

std::string_view search_type_name(schema::SearchType type) {
    switch (type) {
        case schema::SearchType::number:
            return "number";
        case schema::SearchType::date:
            return "date";
        case schema::SearchType::string:
            return "string";
        case schema::SearchType::token:
            return "token";
        case schema::SearchType::reference:
            return "reference";
        case schema::SearchType::composite:
            return "composite";
        case schema::SearchType::quantity:
            return "quantity";
        case schema::SearchType::uri:
            return "uri";
        case schema::SearchType::special:
            break;
    }
    return "special";
}

void append_parameter(std::string& out, const search::Parameter& parameter) {
    out += fmt::format(R"({}{{"name":"{}","definition":)", out.ends_with('[') ? "" : ",",
                       parameter.code);
    json::append_quoted(out, parameter.url);
    out += fmt::format(R"(,"type":"{}"}})", search_type_name(parameter.type));
}

// "searchInclude" and "searchParam" of a type.
std::string search_abilities(const search::ParameterSet& parameters, TypeId type) {
    std::string includes = R"("searchInclude":["*")";
    std::string params = R"("searchParam":[)";
    for (const search::Parameter& parameter : parameters.of(type)) {
        if (!parameter.ready) {
            continue;
        }
        append_parameter(params, parameter);
        if (parameter.type == schema::SearchType::reference) {
            includes += fmt::format(R"(,"{}:{}")", resource_type_name(type), parameter.code);
        }
    }
    return includes + "]," + params + "]";
}

// What may lead to so many types is not told of each of them.
constexpr std::size_t kToldTargetsMax = 20;

// By type: what refers to it, "Observation:patient".
std::vector<std::string> reverse_includes(const search::ParameterSet& parameters) {
    std::vector<std::string> out(kResourceTypeCount);
    for (std::uint16_t number = 0; number < kResourceTypeCount; ++number) {
        const TypeId source{number};
        for (const search::Parameter& parameter : parameters.of(source)) {
            if (parameter.type != schema::SearchType::reference || !parameter.ready ||
                parameter.targets.size() > kToldTargetsMax) {
                continue;
            }
            for (const TypeId target : parameter.targets) {
                std::string& list = out[target.value];
                list += fmt::format(R"({}"{}:{}")", list.empty() ? "" : ",",
                                    resource_type_name(source), parameter.code);
            }
        }
    }
    return out;
}

std::string compartments() {
    std::string out = R"("compartment":[)";
    for (const std::string_view name : search::compartment_types()) {
        std::string id(name);
        id.front() = static_cast<char>(id.front() - 'A' + 'a');
        out += fmt::format(R"({}"http://hl7.org/fhir/CompartmentDefinition/{}")",
                           out.ends_with('[') ? "" : ",", id);
    }
    return out + "]";
}

// The extension by which SMART's first clients find the authorization server.
std::string oauth_uris(const Config::Auth::Smart& smart) {
    std::string uris;
    for (const auto& [name, url] : {std::pair("authorize", &smart.authorization_endpoint),
                                    std::pair("token", &smart.token_endpoint),
                                    std::pair("introspect", &smart.introspection_endpoint),
                                    std::pair("revoke", &smart.revocation_endpoint),
                                    std::pair("manage", &smart.management_endpoint),
                                    std::pair("register", &smart.registration_endpoint)}) {
        if (!url->empty()) {
            uris += fmt::format(R"({}{{"url":"{}","valueUri":{}}})", uris.empty() ? "" : ",", name,
                                json::quoted(*url));
        }
    }
    return uris.empty()
               ? uris
               : fmt::format(R"("extension":[{{"url":"http://fhir-registry.smarthealthit.org/)"
                             R"(StructureDefinition/oauth-uris","extension":[{}]}}],)",
                             uris);
}

std::string security_json(const Config& config) {
    return fmt::format(R"("security":{{{}"cors":{},"service":[{{"coding":[{{"system":)"
                       R"("http://terminology.hl7.org/CodeSystem/restful-security-service",)"
                       R"("code":"SMART-on-FHIR"}}]}}]}},)",
                       oauth_uris(config.auth.smart),
                       config.cors_origins.empty() ? "false" : "true");
}

// "searchParam" of all types together: what Resource has.
std::string common_parameters() {
    std::string out = R"("searchParam":[)";
    for (const schema::SearchParameter parameter :
         schema::search_parameters(schema::resource_base_type())) {
        out += fmt::format(
            R"({}{{"name":"{}","definition":"http://hl7.org/fhir/SearchParameter/{}","type":"{}"}})",
            out.ends_with('[') ? "" : ",", parameter.code(), parameter.id(),
            search_type_name(parameter.type()));
    }
    return out + "]";
}

/// The statement is the same in every mode that R4 knows: a server may ignore it. Errors: invalid.
Result<void> check_mode(std::string_view query) {
    ANNALS_TRY(const Parameters parameters, parse_query(query));
    for (const auto& [name, value] : parameters) {
        if (name == "mode" && value != "full" && value != "normative" && value != "terminology") {
            return Error{Errc::invalid, fmt::format("There is no mode '{}'", value), ""};
        }
    }
    return {};
}

}  // namespace

CapabilityStatement make_capability_statement(const Config& config,
                                              const search::ParameterSet& parameters,
                                              const std::vector<std::string>& guides,
                                              Instant started) {
    std::string before = fmt::format(
        R"({{"resourceType":"CapabilityStatement","status":"active","date":"{}",)"
        R"("publisher":"Annals","kind":"instance","software":{{"name":"Annals","version":"{}"}},)"
        R"("implementation":{{"description":"A versioned FHIR R4 resource store","url":)",
        format_instant(started), ANNALS_VERSION);

    std::string after = R"(},"fhirVersion":"4.0.1","format":["application/fhir+json","json",)"
                        R"("application/fhir+xml","xml"],)"
                        R"("patchFormat":["application/json-patch+json","application/fhir+json",)"
                        R"("application/fhir+xml"],)";
    for (std::size_t i = 0; i < guides.size(); ++i) {
        after += i == 0 ? R"("implementationGuide":[)" : ",";
        json::append_quoted(after, guides[i]);
        after += i + 1 == guides.size() ? "]," : "";
    }
    after += R"("rest":[{"mode":"server",)";
    if (config.auth.mode != "none") {
        after += security_json(config);
    }
    after += R"("resource":[)";
    const std::string abilities = resource_abilities(config);
    const std::vector<std::string> referrers = reverse_includes(parameters);
    bool first = true;
    for (const std::string_view name : resource_type_names()) {
        // Parameters exists to be sent, not to be stored.
        if (name == "Parameters") {
            continue;
        }
        after += fmt::format(
            R"({}{{"type":"{}","profile":"http://hl7.org/fhir/StructureDefinition/{}",{},)",
            first ? "" : ",", name, name, abilities);
        const TypeId type = *find_resource_type(name);
        after += search_abilities(parameters, type);
        if (!referrers[type.value].empty()) {
            after += fmt::format(R"(,"searchRevInclude":[{}])", referrers[type.value]);
        }
        const std::string operations = operations_json(type);
        if (!operations.empty()) {
            after += R"(,"operation":)";
            after += operations;
        }
        after += '}';
        first = false;
    }
    const std::string operations = operations_json({});
    after += fmt::format(
        R"(],"interaction":{},{}{}{},{}}}]}})",
        interaction_codes(config, {Level::root, Level::system_history, Level::system_search}),
        common_parameters(), operations.empty() ? "" : R"(,"operation":)", operations,
        compartments());
    return {std::move(before), std::move(after)};
}

Response metadata(const Service& service, const Request& request, const Target&) {
    if (const Result<void> known = check_mode(request.query); !known) {
        return outcome_response(known.error(), request);
    }
    const std::shared_ptr<const CapabilityStatement> statement = service.capability_statement();
    const auto& [before, after] = *statement;
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
    response.body.append_view(before, statement);
    response.body.append(url);
    response.body.append_view(after, statement);
    return response;
}

}  // namespace annals::core
