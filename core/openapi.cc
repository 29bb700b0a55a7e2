#include "core/openapi.h"

#include "core/openapi_components.h"
#include "core/operations/operations.h"
#include "core/operations/signatures.h"
#include "core/search/compartments.h"
#include "core/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

namespace annals::core {

namespace {

/// How a row of THE table is told. Lists are keys of components, separated by blanks; of responses "200=resource", or
/// "404" where the key is the status.
struct Shape {
    Level level;
    HttpMethod method;
    std::string_view id;  ///< operationId; of paths that each type has, the type's name follows
    std::string_view summary;
    std::string_view parameters;
    std::string_view body;
    std::string_view responses;
};

constexpr std::string_view kHistory =
    "_count _since _at _sort _cursor _format _pretty _summary _elements";
constexpr std::string_view kSearch =
    "_criteria _sort _count _cursor _total _include _revinclude _contained _containedType _asOf "
    "_format _pretty _summary _elements";
constexpr std::string_view kOwnBody = "{type}";  ///< the one of the path's type

// clang-format off
constexpr auto kShapes = std::to_array<Shape>({
    {Level::instance, HttpMethod::get, "read", "Reads the newest version of a resource",
     "_asOf If-None-Match If-Modified-Since _format _pretty _summary _elements", "", "200=resource 304 404 406 410"},
    {Level::version, HttpMethod::get, "vread", "Reads a version of a resource",
     "If-None-Match If-Modified-Since _format _pretty _summary _elements", "", "200=resource 304 404 406 410"},
    {Level::instance, HttpMethod::put, "update", "Writes a new version of a resource, or the first one",
     "If-Match If-None-Match Prefer", "resource", "200=resource 201=created 400 404 409 412 422"},
    {Level::instance, HttpMethod::patch, "patch", "Changes a resource",
     "If-Match Prefer", "patch", "200=resource 400 404 409 410 412 422"},
    {Level::instance, HttpMethod::delete_, "delete", "Deletes a resource",
     "If-Match Prefer", "", "200=outcome 204=noContent 400 404 409 412"},
    {Level::instance_history, HttpMethod::get, "historyInstance", "Lists the versions of a resource",
     kHistory, "", "200=bundle 400 404 406"},
    {Level::type_history, HttpMethod::get, "historyType", "Lists the versions of all resources of a type",
     kHistory, "", "200=bundle 400 406"},
    {Level::type, HttpMethod::post, "create", "Creates a resource under an id of the server's",
     "If-None-Exist Prefer", kOwnBody, "200=resource 201=created 400 412 422"},
    {Level::type, HttpMethod::get, "search", "Finds resources",
     kSearch, "", "200=bundle 400 406 410"},
    {Level::type_search, HttpMethod::post, "searchByPost", "Finds resources by a form",
     "_criteria", "form", "200=bundle 400 406 410 415"},
    {Level::compartment, HttpMethod::get, "searchCompartment", "Finds resources of a compartment",
     kSearch, "", "200=bundle 400 404 406 410"},
    {Level::type, HttpMethod::put, "updateByCriteria", "Writes a new version of the one resource that matches",
     "_criteria If-Match Prefer", kOwnBody, "200=resource 201=created 400 412 422"},
    {Level::type, HttpMethod::patch, "patchByCriteria", "Changes the one resource that matches",
     "_criteria If-Match Prefer", "patch", "200=resource 400 404 409 412 422"},
    {Level::type, HttpMethod::delete_, "deleteByCriteria", "Deletes what matches",
     "_criteria If-Match Prefer", "", "200=outcome 204=noContent 400 412"},
    {Level::version, HttpMethod::delete_, "deleteVersion", "Erases a version for good",
     "Prefer", "", "200=outcome 204=noContent 404 409"},
    {Level::instance_history, HttpMethod::delete_, "deleteHistory", "Erases the earlier versions for good",
     "Prefer", "", "200=outcome 204=noContent 404"},
    {Level::root, HttpMethod::post, "submitBundle", "Carries out a batch, a transaction or a history bundle",
     "Prefer", "bundle", "200=bundle 202=accepted 400 409 412 413 415 422"},
    {Level::root, HttpMethod::get, "searchSystem", "Finds resources of several types",
     kSearch, "", "200=bundle 400 406 410"},
    {Level::system_search, HttpMethod::post, "searchSystemByPost", "Finds resources of several types by a form",
     "_criteria", "form", "200=bundle 400 406 410 415"},
    {Level::system_history, HttpMethod::get, "historySystem", "Lists the versions of all resources",
     kHistory, "", "200=bundle 400 406"},
    {Level::changes, HttpMethod::get, "changes", "Gives every version in commit order, and waits for what is to come",
     "after wait _count _type _format", "", "200=changes 400 406"},
    {Level::job, HttpMethod::get, "jobStatus", "Tells how far a job is",
     "", "", "200=manifest 202=accepted 404 429 500"},
    {Level::job, HttpMethod::delete_, "deleteJob", "Stops a job and removes its files", "", "", "202=accepted 404"},
    {Level::job_file, HttpMethod::get, "jobFile", "Gives a file that a job made",
     "Range", "", "200=file 206=file 404 416"},
    {Level::metadata, HttpMethod::get, "metadata", "Tells what the server can do",
     "mode If-None-Match _format _pretty _summary _elements", "", "200=statement 304 400 406"},
    {Level::openapi, HttpMethod::get, "openapi", "Gives this document", "If-None-Match", "", "200=openapi 304"},
    {Level::root, HttpMethod::options, "options", "Tells what the server can do",
     "If-None-Match", "", "200=statement 304"},
});
// clang-format on

const Shape* find_shape(const Interaction& row) {
    const auto* const found = std::find_if(kShapes.begin(), kShapes.end(), [&](const Shape& shape) {
        return shape.level == row.level && shape.method == row.method;
    });
    return found == kShapes.end() ? nullptr : found;
}

/// Where a level is; what stands in braces is a parameter. Several are separated by blanks. Empty: of operations.
std::string_view paths_of(Level level) noexcept {
    switch (level) {
        case Level::root:
            return "/";
        case Level::metadata:
            return "/metadata";
        case Level::openapi:
            return "/openapi.json";
        case Level::system_history:
            return "/_history";
        case Level::system_search:
            return "/_search";
        case Level::changes:
            return "/_changes";
        case Level::type:
            return "/{each}";
        case Level::type_history:
            return "/{type}/_history";
        case Level::type_search:
            return "/{type}/_search";
        case Level::instance:
            return "/{type}/{id}";
        case Level::instance_history:
            return "/{type}/{id}/_history";
        case Level::version:
            return "/{type}/{id}/_history/{vid}";
        case Level::compartment:
            return "/{compartment}/{id}/{member}";
        case Level::job:
            return "/_jobs/{job} /_export-status/{job}";
        case Level::job_file:
            return "/_jobs/{job}/{file}";
        case Level::system_operation:
        case Level::type_operation:
        case Level::instance_operation:
        case Level::version_operation:
            break;
    }
    return {};
}

/// Takes the first word off a list of words.
std::string_view next_word(std::string_view& list) noexcept {
    const std::string_view word = list.substr(0, list.find(' '));
    list.remove_prefix(std::min(list.size(), word.size() + 1));
    return word;
}

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

std::string references(std::string_view kind, std::string_view keys) {
    std::string out;
    while (!keys.empty()) {
        out += fmt::format(R"({}{{"$ref":"#/components/{}/{}"}})", out.empty() ? "" : ",", kind,
                           next_word(keys));
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
        const std::string_view word = next_word(responses);
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

/// One operation of a path.
struct Told {
    std::string id;
    std::string summary;
    std::string tag;
    std::string parameters;  ///< JSON, without brackets
    std::string body;        ///< key; empty: none
    std::string_view responses;
    bool everybody = false;  ///< may do it without credentials
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
        return keys.empty() ? fmt::format(R"("{}":{{)", shown)
                            : fmt::format(R"("{}":{{"parameters":[{}])", shown,
                                          references("parameters", keys));
    }

    const Config& config_;
    std::vector<std::string> items_;
    std::unordered_map<std::string, std::size_t> places_;
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
        const std::string_view path = next_word(list);
        told.parameters = references("parameters", shape->parameters);
        told.body = shape->body;
        told.id = fmt::format("{}{}", shape->id, turn == 0 ? "" : std::to_string(turn + 1));
        told.tag = row.page;
        if (row.level == Level::compartment) {
            for (const std::string_view type : search::compartment_types()) {
                told.id = fmt::format("{}{}", shape->id, type);
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
                continue;  // it exists to be sent
            }
            told.id = fmt::format("{}{}", shape->id, type);
            told.tag = type;
            told.body = shape->body == kOwnBody ? type : shape->body;
            told.parameters = references("parameters", shape->parameters);
            if (row.method == HttpMethod::get) {
                for (const search::Parameter& parameter :
                     described.parameters.of(*find_resource_type(type))) {
                    if (parameter.ready) {
                        told.parameters += ",";
                        told.parameters += references("parameters", components.key(parameter));
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
        out += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        upper = false;
    }
    return out;
}

std::string query_parameters(std::string_view parameters) {
    std::string out;
    while (const auto parameter = next_parameter(parameters)) {
        if (!parameter->is_primitive()) {
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
                           out.empty() ? "" : ",", parameter->name, parameter->required, schema);
    }
    return out;
}

void add_operation(Paths& paths, const Operation& operation, const Config& config) {
    struct Place {
        std::uint8_t level;
        Level row;
        std::string_view path;
        std::string_view id;
    };

    static constexpr Place kPlaces[] = {
        {kOnSystem, Level::system_operation, "/", "System"},
        {kOnType, Level::type_operation, "/{type}/", "Type"},
        {kOnInstance, Level::instance_operation, "/{type}/{id}/", "Instance"},
        {kOnVersion, Level::version_operation, "/{type}/{id}/_history/{vid}/", "Version"}};

    const Signature* const signature = find_signature(operation.definition);
    Told told;
    told.tag = operation.name;
    told.summary = signature == nullptr ? operation.name : signature->summary;
    told.responses = "200=parameters 202=accepted 400 404 410 422";
    for (const Place& place : kPlaces) {
        if ((operation.levels & place.level) == 0) {
            continue;
        }
        // What is for some types only has paths of its own, so that no two rows share one.
        std::string_view types = place.level == kOnSystem ? std::string_view() : operation.types;
        do {
            const std::string_view type = next_word(types);
            const std::string path =
                (type.empty() ? std::string(place.path) : replaced(place.path, "{type}", type)) +
                std::string(operation.name);
            Target target;
            target.level = place.row;
            Interaction row{};
            row.level = place.row;
            row.access = Access::operation;
            for (const HttpMethod method : {HttpMethod::get, HttpMethod::post}) {
                if (!takes(operation, target, method)) {
                    continue;
                }
                const bool by_get = method == HttpMethod::get;
                told.everybody = is_public(config, row, operation.access);
                told.id = fmt::format("{}{}{}{}", camel(operation.name), type, place.id,
                                      by_get ? "ByGet" : "");
                told.parameters =
                    by_get && signature != nullptr ? query_parameters(signature->parameters) : "";
                told.body = by_get ? "" : "parameters";
                paths.add(path, method, told);
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
        if (row.enabled == nullptr || row.enabled(config)) {
            add_interaction(paths, row, described, components);
        }
    }
    for (const Operation& operation : operations()) {
        add_operation(paths, operation, config);
    }
    return fmt::format(
        R"({{"openapi":"3.1.0","info":{{"title":"Annals","version":"{}","summary":)"
        R"("A versioned FHIR R4 resource store","description":)"
        R"("HEAD is taken wherever GET is. Errors are OperationOutcomes. )"
        R"(What resources look like, FHIR R4 (4.0.1) says: https://hl7.org/fhir/R4."}},)"
        R"("servers":[{{"url":"{}"}}],"security":{},"paths":{{{}}},"components":{}}})",
        ANNALS_VERSION, kBaseUrlMark, openapi_security(config, false), paths.json(),
        openapi_components(components, config));
}

}  // namespace annals::core
