#include "core/openapi_shapes.h"

#include <algorithm>
#include <array>

namespace annals::core {

namespace {

constexpr std::string_view kHistory =
    "_count _since _at _sort _cursor _format _pretty _summary _elements";
constexpr std::string_view kInstanceHistory =
    "_count _offset _since _at _sort _cursor _format _pretty _summary _elements";
constexpr std::string_view kSearch =
    "_criteria _sort _count _cursor _total _include _revinclude _contained _containedType _asOf "
    "_format _pretty _summary _elements Prefer";
constexpr std::string_view kSystemSearch =
    "_type _criteria _sort _count _cursor _total _include _revinclude _contained _containedType "
    "_asOf _format _pretty _summary _elements Prefer";

// clang-format off
constexpr auto kShapes = std::to_array<Shape>({
    {Level::instance, HttpMethod::get, "read", "Reads the current version of a resource",
     "_asOf If-None-Match If-Modified-Since _format _pretty _summary _elements", "", "200=content 304 404 406 410"},
    {Level::version, HttpMethod::get, "vread", "Reads a version of a resource",
     "If-None-Match If-Modified-Since _format _pretty _summary _elements", "", "200=content 304 404 406 410"},
    {Level::instance, HttpMethod::put, "update", "Writes a new version of a resource, or creates it",
     "If-Match If-None-Match If-Unmodified-Since Prefer", "resource", "200=resource 201=created 400 404 409 412 422"},
    {Level::instance, HttpMethod::patch, "patch", "Changes a resource",
     "If-Match If-None-Match If-Unmodified-Since Prefer", "patch", "200=resource 400 404 409 410 412 422"},
    {Level::instance, HttpMethod::delete_, "delete", "Deletes a resource",
     "If-Match If-None-Match If-Unmodified-Since Prefer", "", "200=outcome 204=noContent 400 404 409 412"},
    {Level::instance_history, HttpMethod::get, "historyInstance", "Lists the versions of a resource",
     kInstanceHistory, "", "200=bundle 400 404 406"},
    {Level::type_history, HttpMethod::get, "historyType", "Lists the versions of all resources of a type",
     kHistory, "", "200=bundle 400 406"},
    {Level::type, HttpMethod::post, "create", "Creates a resource with an id that the server assigns",
     "If-None-Exist Prefer", kOwnBody, "200=resource 201=created 400 412 422"},
    {Level::type, HttpMethod::get, "search", "Finds resources",
     kSearch, "", "200=bundle 400 406 410"},
    {Level::type_search, HttpMethod::post, "searchByPost", "Finds resources, with the parameters in a form",
     "_criteria Prefer", "form", "200=bundle 400 406 410 415"},
    {Level::compartment, HttpMethod::get, "searchCompartment", "Finds resources of a compartment",
     kSearch, "", "200=bundle 400 404 406 410"},
    {Level::compartment_search, HttpMethod::post, "searchCompartmentByPost", "Finds resources of a compartment, with the parameters in a form",
     "_criteria Prefer", "form", "200=bundle 400 404 406 410 415"},
    {Level::type, HttpMethod::put, "updateByCriteria", "Writes a new version of the one resource that matches",
     "_criteria If-Match If-None-Match If-Unmodified-Since Prefer", kOwnBody, "200=resource 201=created 400 412 422"},
    {Level::type, HttpMethod::patch, "patchByCriteria", "Changes the one resource that matches",
     "_criteria If-Match If-None-Match If-Unmodified-Since Prefer", "patch", "200=resource 400 404 409 412 422"},
    {Level::type, HttpMethod::delete_, "deleteByCriteria", "Deletes the resources that match",
     "_criteria If-Match If-None-Match If-Unmodified-Since Prefer", "", "200=outcome 204=noContent 400 412"},
    {Level::version, HttpMethod::delete_, "deleteVersion", "Erases a version",
     "If-Match If-None-Match If-Unmodified-Since Prefer", "", "200=outcome 204=noContent 400 404 409 412"},
    {Level::instance_history, HttpMethod::delete_, "deleteHistory", "Erases the earlier versions",
     "If-Match If-None-Match If-Unmodified-Since Prefer", "", "200=outcome 204=noContent 400 404 412"},
    {Level::root, HttpMethod::post, "submitBundle", "Processes a batch, a transaction or a history bundle",
     "Prefer", "bundle", "200=bundle 202=accepted 400 409 412 413 415 422"},
    {Level::root, HttpMethod::get, "searchSystem", "Finds resources of several types",
     kSystemSearch, "", "200=bundle 400 406 410"},
    {Level::system_search, HttpMethod::post, "searchSystemByPost", "Finds resources of several types, with the parameters in a form",
     "_criteria Prefer", "form", "200=bundle 400 406 410 415"},
    {Level::system_history, HttpMethod::get, "historySystem", "Lists the versions of all resources",
     kHistory, "", "200=bundle 400 406"},
    {Level::changes, HttpMethod::get, "changes", "Returns every version in commit order, and waits for new ones",
     "after wait _count _type _format", "", "200=changes 400 406"},
    {Level::job, HttpMethod::get, "jobStatus", "Returns the status of a job",
     "_format _pretty", "", "200=manifest 202=accepted 404 429 500"},
    {Level::job, HttpMethod::delete_, "deleteJob", "Stops a job and removes its files", "", "", "202=accepted 404"},
    {Level::job_file, HttpMethod::get, "jobFile", "Returns a file of a job",
     "Range", "", "200=file 206=file 404 416"},
    {Level::metadata, HttpMethod::get, "metadata", "Returns the CapabilityStatement",
     "mode If-None-Match _format _pretty _summary _elements", "", "200=statement 304 400 406"},
    {Level::openapi, HttpMethod::get, "openapi", "Returns this document", "If-None-Match", "", "200=openapi 304"},
    {Level::root, HttpMethod::options, "options", "Returns the CapabilityStatement",
     "If-None-Match", "", "200=statement 304"},
});
// clang-format on

}  // namespace

const Shape* find_shape(const Interaction& row) noexcept {
    const auto* const found = std::find_if(kShapes.begin(), kShapes.end(), [&](const Shape& shape) {
        return shape.level == row.level && shape.method == row.method;
    });
    return found == kShapes.end() ? nullptr : found;
}

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
        case Level::compartment_search:
            return "/{compartment}/{id}/{member}/_search /{compartment}/{id}/_search";
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

}  // namespace annals::core
