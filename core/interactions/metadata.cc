#include "core/interactions/metadata.h"

#include "core/descriptions.h"
#include "core/interactions/preconditions.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

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

Response metadata(const Service& service, const Request& request, const Target&) {
    if (const Result<void> known = check_mode(request.query); !known) {
        return known.error();
    }
    return answer(service, request, service.descriptions().capability_statement(request.base_url));
}

Response openapi(const Service& service, const Request& request, const Target&) {
    if (request.inside_bundle) {
        return Error{Errc::not_supported, "The OpenAPI document is no resource; ask for it alone",
                     ""};
    }
    Response response = answer(service, request, service.descriptions().openapi(request.base_url));
    response.content_type = ContentType::json;
    return response;
}

}  // namespace annals::core
