#include "core/interactions/metadata.h"

#include "core/descriptions.h"
#include "core/interactions/preconditions.h"
#include "core/operations/terminology.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

/// Whether TerminologyCapabilities are requested; all other modes return the same statement. Errors: invalid.
Result<bool> is_of_terminology(std::string_view query) {
    ANNALS_TRY(const Parameters parameters, parse_query(query));
    bool terminology = false;
    for (const auto& [name, value] : parameters) {
        if (name == "mode" && value != "full" && value != "normative" && value != "terminology") {
            return Error{Errc::invalid, fmt::format("The mode '{}' does not exist", value)};
        }
        terminology = name == "mode" ? value == "terminology" : terminology;
    }
    return terminology;
}

Response answer(const Service& service, const Request& request,
                const Descriptions::Pointer& description) {
    Response response;
    response.cache_control = "no-cache";
    response.etag = description->etag;
    response.last_modified = service.started();
    if (is_kept(request, *response.etag)) {
        response.status = 304;
        return response;
    }
    response.body.append_view(description->text, description);
    return response;
}

}  // namespace

asio::awaitable<Response> metadata(const Service& service, const Request& request,
                                   const Target& target) {
    const Result<bool> terminology = is_of_terminology(request.query);
    if (!terminology) {
        co_return terminology.error();
    }
    if (!*terminology) {
        co_return answer(service, request,
                         service.descriptions().capability_statement(request.base_url));
    }
    const Result<void> all =
        require_search(service, request, *find_resource_type("CodeSystem"), Extent::all);
    const bool stored = static_cast<bool>(all);
    if (stored) {
        const auto end = service.request_end();
        Result<void> fetched = co_await fetch_definitions(service, request, target, end);
        if (!fetched) {
            co_return std::move(fetched.error());
        }
    }
    Response response =
        answer(service, request,
               service.descriptions().terminology_capabilities(request.base_url, stored));
    response.last_modified.reset();  // Code systems come and go.
    co_return response;
}

Response openapi(const Service& service, const Request& request, const Target&) {
    if (request.inside_bundle) {
        return Error{Errc::not_supported,
                     "The OpenAPI document is not a resource; request it by itself"};
    }
    Response response = answer(service, request, service.descriptions().openapi(request.base_url));
    response.content_type = ContentType::json;
    return response;
}

}  // namespace annals::core
