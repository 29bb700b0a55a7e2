#include "core/exchange.h"

#include "core/base/text.h"

namespace annals::core {

namespace {

/// Header names are nearly always spelled as ours.
bool same_name(std::string_view a, std::string_view b) noexcept {
    return a == b || equal_ignoring_case(a, b);
}

}  // namespace

std::string_view method_name(HttpMethod method) noexcept {
    switch (method) {
        case HttpMethod::get:
            return "GET";
        case HttpMethod::head:
            return "HEAD";
        case HttpMethod::post:
            return "POST";
        case HttpMethod::put:
            return "PUT";
        case HttpMethod::patch:
            return "PATCH";
        case HttpMethod::delete_:
            return "DELETE";
        case HttpMethod::options:
            return "OPTIONS";
        case HttpMethod::other:
            return "OTHER";
    }
    return "OTHER";
}

std::optional<std::string_view> Request::header(std::string_view name) const noexcept {
    for (const Header& header : headers) {
        if (same_name(header.name, name)) {
            return trimmed(header.value);
        }
    }
    return std::nullopt;
}

std::string_view content_type_name(ContentType type) noexcept {
    switch (type) {
        case ContentType::none:
            return "";
        case ContentType::fhir_json:
            return "application/fhir+json; charset=utf-8";
        case ContentType::fhir_xml:
            return "application/fhir+xml; charset=utf-8";
        case ContentType::json:
            return "application/json; charset=utf-8";
        case ContentType::ndjson:
            return "application/fhir+ndjson";
        case ContentType::text:
            return "text/plain; charset=utf-8";
        case ContentType::html:
            return "text/html; charset=utf-8";
        case ContentType::prometheus:
            return "text/plain; version=0.0.4; charset=utf-8";
        case ContentType::event_stream:
            return "text/event-stream; charset=utf-8";  // without it, Python's requests assumes Latin-1
    }
    return "";
}

}  // namespace annals::core
