#include "core/openapi.h"

#include "core/base/ascii.h"
#include "core/base/parts.h"
#include "core/base/text_map.h"
#include "core/openapi_components.h"
#include "core/openapi_shapes.h"
#include "core/operations/operations.h"
#include "core/operations/signatures.h"
#include "core/search/compartments.h"
#include "core/service.h"

#include <fmt/format.h>

#include <vector>

namespace annals::core {

namespace {

std::string_view method_key(HttpMethod method) noexcept {
    switch (method) {
        case HttpMethod::get:
            return "get";
        case HttpMethod::head:
            return "head";
        case HttpMethod::post:
            return "post";
        case HttpMethod::put:
            return "put";
        case HttpMethod::patch:
            return "patch";
        case HttpMethod::delete_:
            return "delete";
        case HttpMethod::options:
            return "options";
        case HttpMethod::other:
            break;
    }
    return "trace";
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
    std::string out(text);
    if (const std::size_t at = out.find(from); at != std::string::npos) {
        out.replace(at, from.size(), to);
    }
    return out;
}

std::string parameter_references(std::string_view keys) {
    std::string out;
    while (!keys.empty()) {
        out += fmt::format(R"({}{{"$ref":"#/components/parameters/{}"}})", out.empty() ? "" : ",",
                           take_until(keys, ' '));
    }
    return out;
}

std::string responses_json(std::string_view responses, bool guarded) {
    std::string out;
    const auto add = [&](std::string_view status, std::string_view key) {
        out += fmt::format(R"({}"{}":{{"$ref":"#/components/responses/{}"}})",
                           out.empty() ? "" : ",", status, key);
    };
    while (!responses.empty()) {
        const std::string_view word = take_until(responses, ' ');
        const std::size_t equals = word.find('=');
        add(word.substr(0, equals),
            equals == std::string_view::npos ? word : word.substr(equals + 1));
    }
    if (guarded) {
        add("401", "401");
        add("403", "403");
    }
    add("default", "default");
    return out;
}

/// An operation of a path, as OpenAPI means it.
struct Told {
    std::string id;
    std::string summary;
    std::string tag;
    std::string parameters;  ///< JSON, without brackets
    std::string body;        ///< key of a component; empty: none
    std::string_view responses;
    bool everybody = false;  ///< no credentials needed
};

class Paths {
  public:
    explicit Paths(const Config& config) : config_(config) {}

    void add(const std::string& path, HttpMethod method, const Told& told) {
        const auto [found, is_new] = places_.try_emplace(path, items_.size());
        if (is_new) {
            items_.push_back(begin(path));
        }
        const bool guarded = config_.auth.mode != "none" && !told.everybody;
        std::string& item = items_[found->second];
        item += fmt::format(R"({}"{}":{{"operationId":"{}","tags":["{}"],"summary":"{}")",
                            item.ends_with('{') ? "" : ",", method_key(method), told.id, told.tag,
                            told.summary);
        if (!told.parameters.empty()) {
            item += fmt::format(R"(,"parameters":[{}])", told.parameters);
        }
        if (!told.body.empty()) {
            item += fmt::format(R"(,"requestBody":{{"$ref":"#/components/requestBodies/{}"}})",
                                told.body);
        }
        if (told.everybody && config_.auth.mode != "none") {
            item += fmt::format(R"(,"security":{})", openapi_security(config_, true));
        }
        item += fmt::format(R"(,"responses":{{{}}}}})", responses_json(told.responses, guarded));
    }

    std::string json() const { return fmt::format("{}}}", fmt::join(items_, "},")); }

  private:
    /// `"/{type}/{id}":{"parameters":[...]`.
    static std::string begin(const std::string& path) {
        std::string keys;
        for (std::size_t at = path.find('{'); at != std::string::npos;
             at = path.find('{', at + 1)) {
            keys += keys.empty() ? "" : " ";
            keys += path.substr(at + 1, path.find('}', at) - at - 1);
        }
        const std::string shown = replaced(path, "{job}", "{id}");
        return keys.empty()
                   ? fmt::format(R"("{}":{{)", shown)
                   : fmt::format(R"("{}":{{"parameters":[{}])", shown, parameter_references(keys));
    }

    const Config& config_;
    std::vector<std::string> items_;
    TextMap<std::size_t> places_;
};

void add_interaction(Paths& paths, const Interaction& row, const Described& described,
                     SearchComponents& components) {
    const Shape* const shape = find_shape(row);
    if (shape == nullptr) {
        return;
    }
    Told told;
    told.summary = shape->summary;
    told.responses = shape->responses;
    told.everybody = is_public(described.config, row, row.access);
    std::string_view list = paths_of(row.level);
    for (int turn = 0; !list.empty(); ++turn) {
        const std::string_view path = take_until(list, ' ');
        told.parameters = parameter_references(shape->parameters);
        told.body = shape->body;
        const std::string id =
            fmt::format("{}{}", shape->id, turn == 0 ? "" : std::to_string(turn + 1));
        told.id = id;
        told.tag = row.page;
        if (is_compartment(row.level)) {
            for (const std::string_view type : search::compartment_types()) {
                told.id = id + std::string(type);
                paths.add(replaced(path, "{compartment}", type), row.method, told);
            }
            continue;
        }
        if (row.level != Level::type) {
            paths.add(std::string(path), row.method, told);
            continue;
        }
        for (const std::string_view type : resource_type_names()) {
            if (type == "Parameters") {
                continue;  // can be sent, but not stored
            }
            told.id = fmt::format("{}{}", shape->id, type);
            told.tag = type;
            told.body = shape->body == kOwnBody ? type : shape->body;
            told.parameters = parameter_references(shape->parameters);
            if (row.method == HttpMethod::get) {
                for (const search::Parameter& parameter :
                     described.parameters.of(*find_resource_type(type))) {
                    if (parameter.ready && parameter.code != search::kNamedQuery) {
                        told.parameters += ",";
                        told.parameters += parameter_references(components.key(parameter));
                    }
                }
            }
            paths.add(replaced(path, "{each}", type), row.method, told);
        }
    }
}

/// "validateCode" of "$validate-code".
std::string camel(std::string_view name) {
    std::string out;
    bool upper = false;
    for (const char c : name) {
        if (c == '$' || c == '-') {
            upper = c == '-';
            continue;
        }
        out += upper ? ascii_upper(c) : c;
        upper = false;
    }
    return out;
}

/// The parameters of `signature` that can be in the query of a GET at `level`.
std::string query_parameters(const Signature& signature, std::uint8_t level) {
    std::string out;
    std::string_view parameters = signature.parameters;
    while (const auto parameter = next_parameter(parameters)) {
        // $document's `persist` is only accepted by POST; for an instance, the path gives its `id`.
        const bool names_instance = parameter->name == "id";
        if (parameter->name == "persist" || (names_instance && level == kOnInstance)) {
            continue;
        }
        // $docref's `type` can also be given as a token.
        if (!parameter->is_primitive() && parameter->name != "type") {
            continue;
        }
        std::string schema = R"({"type":"string"})";
        if (parameter->type == "boolean") {
            schema = R"({"type":"boolean"})";
        } else if (parameter->type == "integer" || parameter->type == "positiveInt") {
            schema = R"({"type":"integer","minimum":0})";
        }
        if (parameter->repeats) {
            schema = fmt::format(R"({{"type":"array","items":{}}})", schema);
        }
        out += fmt::format(R"({}{{"name":"{}","in":"query","required":{},"schema":{}}})",
                           out.empty() ? "" : ",", parameter->name,
                           parameter->required || names_instance, schema);
    }
    return out;
}

/// Whether it reads what has a version, which the client may have.
bool reads_version(const Operation& operation, std::uint8_t level, HttpMethod method) noexcept {
    return operation.name == "$meta" && method == HttpMethod::get &&
           (level == kOnInstance || level == kOnVersion);
}

/// Further parameters of an operation at a level: Prefer if it can answer later, preconditions if it writes or reads what has
/// a version, and search criteria for $lastn.
std::string_view more_of(const Operation& operation, std::uint8_t level,
                         HttpMethod method) noexcept {
    if (operation.name == "$export" || operation.name == "$import") {
        return "Prefer";
    }
    if (operation.name == "$lastn" && method == HttpMethod::get) {
        return "_criteria";
    }
    if (reads_version(operation, level, method)) {
        return "If-None-Match If-Modified-Since";
    }
    const bool writes = operation.affects_state || operation.name == "$meta";
    if (level != kOnInstance || method != HttpMethod::post || !writes) {
        return {};
    }
    return operation.name == "$restore" ? "If-Match If-None-Match If-Unmodified-Since Prefer"
                                        : "If-Match If-None-Match If-Unmodified-Since";
}

/// A level at which an operation can be invoked.
struct OperationPlace {
    std::uint8_t level;
    Level row;
    std::string_view path;
    std::string_view id;
};

constexpr OperationPlace kOperationPlaces[] = {
    {kOnSystem, Level::system_operation, "/", "System"},
    {kOnType, Level::type_operation, "/{type}/", "Type"},
    {kOnInstance, Level::instance_operation, "/{type}/{id}/", "Instance"},
    {kOnVersion, Level::version_operation, "/{type}/{id}/_history/{vid}/", "Version"}};

/// Describes an operation at one place, for one type or (empty) for any, by GET or POST.
Told tell_operation(const Operation& operation, const OperationPlace& place, std::string_view type,
                    HttpMethod method, const Config& config) {
    const Signature* const signature = find_signature(operation.definition);
    const bool is_graphql = operation.name == "$graphql";  // the only one not in FHIR's formats
    const bool by_get = method == HttpMethod::get;
    // A GET never changes anything: it takes none of the parameters of an operation that changes something, and asks for its
    // progress.
    const bool asks = by_get && operation.affects_state;
    Interaction row{};
    row.level = place.row;
    row.access = Access::operation;
    Told told;
    told.tag = operation.name;
    told.responses = is_graphql                      ? "200=graphql 400 404 410 415"
                     : operation.name == "$versions" ? "200=versions 400"
                     : reads_version(operation, place.level, method)
                         ? "200=parameters 202=accepted 304 400 404 410 422"
                         : "200=parameters 202=accepted 400 404 410 422";
    told.summary = asks                   ? "Returns the progress of an operation started by POST"
                   : signature == nullptr ? operation.name
                                          : signature->summary;
    told.everybody = is_public(config, row, operation.access);
    told.id = fmt::format("{}{}{}{}", camel(operation.name), type, place.id, by_get ? "ByGet" : "");
    told.parameters =
        by_get && !asks && signature != nullptr ? query_parameters(*signature, place.level) : "";
    const std::string_view more = more_of(operation, place.level, method);
    if (!more.empty()) {
        told.parameters += told.parameters.empty() ? "" : ",";
        told.parameters += parameter_references(more);
    }
    told.body = by_get                        ? ""
                : is_graphql                  ? "graphql"
                : operation.name == "$import" ? "import"
                                              : "parameters";
    return told;
}

void add_operation(Paths& paths, const Operation& operation, const Config& config) {
    for (const OperationPlace& place : kOperationPlaces) {
        if ((operation.levels & place.level) == 0) {
            continue;
        }
        // An operation that exists only for some types gets a path for each, so that no two rows share a path.
        std::string_view types = place.level == kOnSystem ? std::string_view() : operation.types;
        do {
            const std::string_view type = take_until(types, ' ');
            const std::string path =
                (type.empty() ? std::string(place.path) : replaced(place.path, "{type}", type)) +
                std::string(operation.name);
            Target target;
            target.level = place.row;
            for (const HttpMethod method : {HttpMethod::get, HttpMethod::post}) {
                if (takes(operation, target, method)) {
                    paths.add(path, method, tell_operation(operation, place, type, method, config));
                }
            }
        } while (!types.empty());
    }
}

}  // namespace

std::string make_openapi(const Described& described) {
    const Config& config = described.config;
    Paths paths(config);
    SearchComponents components;
    for (const Interaction& row : interactions()) {
        if (is_on(row, config)) {
            add_interaction(paths, row, described, components);
        }
    }
    for (const Operation& operation : operations()) {
        if (is_told(operation, config)) {
            add_operation(paths, operation, config);
        }
    }
    return fmt::format(
        R"({{"openapi":"3.1.0","info":{{"title":"Annals","version":"{}","summary":)"
        R"("A versioned FHIR R4 resource store","description":)"
        R"("HEAD is supported wherever GET is; _format, _pretty, _summary and _elements wherever a )"
        R"(resource is returned; X-Annals-Min-Position with every request. Errors are OperationOutcomes. )"
        R"(Resources are defined by FHIR R4 (4.0.1): https://hl7.org/fhir/R4."}},)"
        R"("servers":[{{"url":"{}"}}],"security":{},"paths":{{{}}},"components":{}}})",
        ANNALS_VERSION, kBaseUrlMark, openapi_security(config, false), paths.json(),
        openapi_components(components, config));
}

}  // namespace annals::core
