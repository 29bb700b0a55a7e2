#include "core/capability_statement.h"

#include "codec/json/document.h"
#include "codec/schema/search_type.h"
#include "core/base/limits.h"
#include "core/base/parts.h"
#include "core/interactions/search_includes.h"
#include "core/operations/definition.h"
#include "core/operations/everything.h"
#include "core/operations/operations.h"
#include "core/search/compartments.h"
#include "core/search/query.h"
#include "core/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace annals::core {

namespace {

bool offers(const Config& config, Level level, HttpMethod method) {
    const auto rows = interactions();
    return std::any_of(rows.begin(), rows.end(), [&](const Interaction& row) {
        return row.level == level && row.method == method && is_on(row, config);
    });
}

// [{"code":"read"},...] for the rows at these levels; each code once.
std::string interaction_codes(const Config& config, std::initializer_list<Level> levels) {
    std::vector<std::string_view> codes;
    for (const Interaction& row : interactions()) {
        if (std::find(levels.begin(), levels.end(), row.level) == levels.end() ||
            !is_on(row, config)) {
            continue;
        }
        std::string_view rest = row.capability;
        while (!rest.empty()) {
            const std::string_view code = take_until(rest, ' ');
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

// What all resource types have in common: everything except "type" and "profile".
std::string resource_abilities(const Config& config) {
    const auto yes_no = [](bool yes) { return yes ? "true" : "false"; };
    return fmt::format(
        R"("interaction":{},"versioning":"versioned","readHistory":{},"updateCreate":{},)"
        R"("conditionalCreate":{},"conditionalRead":"full-support","conditionalUpdate":{},)"
        R"("conditionalDelete":"{}","referencePolicy":["literal","local"{}])",
        interaction_codes(config, {Level::instance, Level::instance_history, Level::version,
                                   Level::type, Level::type_history, Level::type_search}),
        yes_no(offers(config, Level::version, HttpMethod::get)),
        yes_no(config.update_create && offers(config, Level::instance, HttpMethod::put)),
        yes_no(offers(config, Level::type, HttpMethod::post)),
        yes_no(offers(config, Level::type, HttpMethod::put)),
        offers(config, Level::type, HttpMethod::delete_) ? config.conditional_delete
                                                         : "not-supported",
        config.integrity_on_write ? R"(,"enforced")" : "");
}

void append_parameter(std::string& out, const search::Parameter& parameter) {
    out += fmt::format(R"({}{{"name":"{}","definition":)", out.ends_with('[') ? "" : ",",
                       parameter.code);
    json::append_quoted(out, parameter.url);
    out += fmt::format(R"(,"type":"{}"}})", schema::search_type_name(parameter.type));
}

// "searchInclude" and "searchParam" of a type.
std::string search_abilities(const search::ParameterSet& parameters, TypeId type) {
    std::string includes = R"("searchInclude":["*")";
    std::string params = R"("searchParam":[)";
    for (const search::Parameter& parameter : parameters.of(type)) {
        if (!parameter.ready || parameter.code == search::kNamedQuery) {
            continue;
        }
        append_parameter(params, parameter);
        if (parameter.type == schema::SearchType::reference) {
            includes += fmt::format(R"(,"{}:{}")", resource_type_name(type), parameter.code);
        }
    }
    return includes + "]," + params + "]";
}

// A parameter with more target types than this is not listed as a reverse include of each of them.
constexpr std::size_t kToldTargetsMax = 20;

// An exception: US Core asks for it on every type.
bool is_told_of_all(TypeId source, const search::Parameter& parameter) {
    return resource_type_name(source) == "Provenance" && parameter.code == "target";
}

// For each type, the parameters that refer to it, such as "Observation:patient".
std::vector<std::string> reverse_includes(const search::ParameterSet& parameters) {
    std::vector<std::string> out(kResourceTypeCount);
    for (std::uint16_t number = 0; number < kResourceTypeCount; ++number) {
        const TypeId source{number};
        for (const search::Parameter& parameter : parameters.of(source)) {
            if (parameter.type != schema::SearchType::reference || !parameter.ready) {
                continue;
            }
            const std::vector<TypeId> targets = search::targets_of(parameter);
            if (targets.size() > kToldTargetsMax && !is_told_of_all(source, parameter)) {
                continue;
            }
            for (const TypeId target : targets) {
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

// The extension that gives the websocket URL of subscriptions.
std::string websocket_json(const Config& config) {
    if (!config.subscriptions.enabled || config.read_only) {
        return {};
    }
    return fmt::format(R"("extension":[{{"url":"http://hl7.org/fhir/StructureDefinition/)"
                       R"(capabilitystatement-websocket","valueUri":"{}/websocket"}}],)",
                       kWebsocketBaseMark);
}

constexpr std::string_view kSmartDefinitions =
    "http://fhir-registry.smarthealthit.org/StructureDefinition";

// The extensions by which clients of SMART 1 find the authorization server, and the capabilities for scopes.
std::string smart_extensions(const Config& config) {
    const Config::Auth::Smart& smart = config.auth.smart;
    const std::string token = config.token_url();
    std::string uris;
    for (const auto& [name, url] :
         {std::pair("authorize", &smart.authorization_endpoint), std::pair("token", &token),
          std::pair("introspect", &smart.introspection_endpoint),
          std::pair("revoke", &smart.revocation_endpoint),
          std::pair("manage", &smart.management_endpoint),
          std::pair("register", &smart.registration_endpoint)}) {
        if (!url->empty()) {
            uris += fmt::format(R"({}{{"url":"{}","valueUri":{}}})", uris.empty() ? "" : ",", name,
                                json::quoted(*url));
        }
    }
    std::string extensions;
    if (!uris.empty()) {
        extensions =
            fmt::format(R"({{"url":"{}/oauth-uris","extension":[{}]}},)", kSmartDefinitions, uris);
    }
    const auto add = [&](std::string_view capability) {
        extensions += fmt::format(R"({{"url":"{}/capabilities","valueCode":{}}},)",
                                  kSmartDefinitions, json::quoted(capability));
    };
    std::ranges::for_each(smart_capabilities(config), add);
    extensions.pop_back();
    return fmt::format(R"("extension":[{}],)", extensions);
}

std::string security_service(std::string_view code) {
    return fmt::format(R"({{"coding":[{{"system":"http://terminology.hl7.org/CodeSystem/)"
                       R"(restful-security-service","code":"{}"}}]}})",
                       code);
}

std::string security_json(const Config& config) {
    const bool takes_tokens = config.auth.takes_tokens();
    const bool takes_keys = config.auth.takes_keys();
    std::string services = takes_tokens ? security_service("SMART-on-FHIR") : "";
    if (!config.tls.client_ca_file.empty()) {
        services += services.empty() ? "" : ",";
        services += security_service("Certificates");
    }
    std::string_view description = services.empty()
                                       ? "No credentials are required."
                                       : "No credentials are required except a client certificate.";
    if (takes_tokens && takes_keys) {
        description =
            "Access tokens (RFC 6750) with SMART scopes, or keys in the header X-API-Key.";
    } else if (takes_tokens) {
        description = "Access tokens (RFC 6750) with SMART scopes.";
    } else if (takes_keys) {
        description = "Keys in the header X-API-Key.";
    }
    return fmt::format(R"("security":{{{}"cors":{}{}{}{},"description":"{}"}},)",
                       takes_tokens ? smart_extensions(config) : "",
                       config.cors_origins.empty() ? "false" : "true",
                       services.empty() ? "" : R"(,"service":[)", services,
                       services.empty() ? "" : "]", description);
}

std::string limits_text(const Config& config) {
    return fmt::format(
        "Limits: bodies of {} bytes, Bundles of {} entries, pages of {} entries, responses within "
        "{} ms; conditional deletes of {} resources, expansions of {} codes. Fixed: {} included "
        "resources per page, :iterate {} times, $everything without _count {} resources, patches "
        "of {} operations, JSON {} levels deep, URLs of {} bytes, request heads of {} bytes and {} "
        "headers, searches of {} parameters.",
        config.limits.max_body, config.limits.max_bundle_entries, config.max_page_size,
        config.limits.request_timeout.count(),
        config.conditional_delete == "multiple" ? config.conditional_delete_max : 1,
        config.limits.max_expansion, kIncludedMax, kIterateDepthMax, kEverythingPageMax,
        kPatchOperationsMax, kJsonDepthMax, kRequestTargetBytesMax, kHeaderBytesMax,
        kHeaderCountMax, search::kSearchPairsMax);
}

// There is no code in `interaction` for it.
std::string_view history_bundle_text(const Config& config) {
    return config.allow_history_bundles && config.interactions.system_history_bundle &&
                   !config.read_only
               ? " Bundles of type history are accepted at the base URL, as batches are: each "
                 "entry is stored as the version that it states."
               : "";
}

// CapabilityStatement's operation[] of the system (no type), or of a type and its instances, with member name and leading
// comma.
std::string operations_json(const Config& config, std::optional<TypeId> type) {
    std::string out;
    for (const Operation& operation : operations()) {
        if (!is_told(operation, config)) {
            continue;
        }
        if (type ? (operation.levels & ~kOnSystem) != 0 && is_for(operation, *type)
                 : (operation.levels & kOnSystem) != 0) {
            const std::string entry =
                fmt::format(R"({{"name":"{}","definition":"{}"}})", operation.name.substr(1),
                            definition_url(operation));
            // An operation at several levels may have several rows.
            if (out.find(entry) == std::string::npos) {
                out += (out.empty() ? R"(,"operation":[)" : ",") + entry;
            }
        }
    }
    return out.empty() ? out : out + "]";
}

// For each type, the profiles of it that packages define.
std::vector<std::vector<std::string_view>> profiles(
    const std::vector<packages::PackagePointer>& packages) {
    std::vector<std::vector<std::string_view>> out(kResourceTypeCount);
    for (const packages::PackagePointer& package : packages) {
        for (const packages::Package::Resource& resource : package->resources()) {
            if (const auto type = find_resource_type(resource.profile_of)) {
                std::vector<std::string_view>& list = out[type->value];
                if (std::find(list.begin(), list.end(), resource.url) == list.end()) {
                    list.push_back(resource.url);
                }
            }
        }
    }
    return out;
}

// A list of strings with member name and leading comma; empty if there are none.
template <typename List>
std::string texts_json(std::string_view name, const List& texts) {
    std::string out;
    for (const auto& text : texts) {
        out += out.empty() ? fmt::format(R"(,"{}":[)", name) : ",";
        json::append_quoted(out, text);
    }
    return out.empty() ? out : out + "]";
}

// Further search parameters of all types, for which R4 has no SearchParameter.
constexpr std::string_view kUndefinedParameters[] = {"_filter", "_has", "_list", "_type"};

// "searchParam" common to all types: the parameters of Resource.
std::string common_parameters() {
    std::string out = R"("searchParam":[)";
    for (const schema::SearchParameter parameter :
         schema::search_parameters(schema::resource_base_type())) {
        if (parameter.code() == search::kNamedQuery) {
            continue;
        }
        out += fmt::format(
            R"({}{{"name":"{}","definition":"http://hl7.org/fhir/SearchParameter/{}","type":"{}"}})",
            out.ends_with('[') ? "" : ",", parameter.code(), parameter.id(),
            schema::search_type_name(parameter.type()));
    }
    for (const std::string_view name : kUndefinedParameters) {
        out += fmt::format(R"(,{{"name":"{}","type":"special"}})", name);
    }
    return out + "]";
}

// Left out on a read-only server, which neither exports nor patches.
constexpr std::string_view kBulkData =
    "http://hl7.org/fhir/uv/bulkdata/CapabilityStatement/bulk-data";
constexpr std::string_view kPatchFormat =
    R"(,"patchFormat":["application/json-patch+json","application/fhir+json","application/fhir+xml"])";

}  // namespace

std::string make_capability_statement(const Described& described) {
    const Config& config = described.config;
    std::vector<std::string_view> instantiates(config.instantiates.begin(),
                                               config.instantiates.end());
    if (!config.read_only) {
        instantiates.insert(instantiates.begin(), kBulkData);
    }
    std::string out = fmt::format(
        R"({{"resourceType":"CapabilityStatement","status":"active","date":"{}",)"
        R"("publisher":"Annals","kind":"instance"{},)"
        R"("software":{{"name":"Annals","version":"{}","releaseDate":"{}"}},)"
        R"("implementation":{{"description":"A versioned FHIR R4 resource store","url":"{}"}},)"
        R"("fhirVersion":"4.0.1",)"
        R"("format":["application/fhir+json","json","application/fhir+xml","xml"]{})",
        format_instant(described.started), texts_json("instantiates", instantiates), ANNALS_VERSION,
        ANNALS_RELEASE_DATE, kBaseUrlMark, config.read_only ? "" : kPatchFormat);
    std::vector<std::string_view> guides;
    for (const packages::PackagePointer& package : described.packages) {
        if (!package->guide().empty()) {
            guides.push_back(package->guide());
        }
    }
    out += texts_json("implementationGuide", guides);
    out += fmt::format(R"(,"rest":[{{{}"mode":"server","documentation":"{}{}",{}"resource":[)",
                       websocket_json(config), limits_text(config), history_bundle_text(config),
                       security_json(config));
    const std::string abilities = resource_abilities(config);
    const std::vector<std::string> referrers = reverse_includes(described.parameters);
    const std::vector<std::vector<std::string_view>> profiles_of = profiles(described.packages);
    for (const std::string_view name : resource_type_names()) {
        // Parameters can be sent, but not stored.
        if (name == "Parameters") {
            continue;
        }
        const TypeId type = *find_resource_type(name);
        out += fmt::format(
            R"({}{{"type":"{}","profile":"http://hl7.org/fhir/StructureDefinition/{}"{},{},{})",
            out.ends_with('[') ? "" : ",", name, name,
            texts_json("supportedProfile", profiles_of[type.value]), abilities,
            search_abilities(described.parameters, type));
        const std::string& told = referrers[type.value];
        out += fmt::format(R"(,"searchRevInclude":["*"{}{}])", told.empty() ? "" : ",", told);
        out += operations_json(config, type);
        out += '}';
    }
    out += fmt::format(
        R"(],"interaction":{},{}{},{}}}]}})",
        interaction_codes(config, {Level::root, Level::system_history, Level::system_search}),
        common_parameters(), operations_json(config, {}), compartments());
    return out;
}

std::vector<std::string> smart_capabilities(const Config& config) {
    constexpr std::string_view kOfOwnTokens = "client-confidential-asymmetric";
    const std::vector<std::string>& configured = config.auth.smart.capabilities;
    std::vector<std::string> all(kScopeCapabilities.begin(), kScopeCapabilities.end());
    if (config.auth.issues_tokens() &&
        std::ranges::find(configured, kOfOwnTokens) == configured.end()) {
        all.emplace_back(kOfOwnTokens);
    }
    all.insert(all.end(), configured.begin(), configured.end());
    return all;
}

}  // namespace annals::core
