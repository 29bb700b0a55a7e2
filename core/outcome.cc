#include "core/outcome.h"

#include "codec/json/document.h"
#include "codec/json/unicode.h"
#include "core/base/log.h"
#include "core/interactions/patch_document.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {

namespace {

constexpr std::string_view kStatusTexts[] = {
    "200 OK",
    "201 Created",
    "202 Accepted",
    "204 No Content",
    "206 Partial Content",
    "304 Not Modified",
    "400 Bad Request",
    "401 Unauthorized",
    "403 Forbidden",
    "404 Not Found",
    "405 Method Not Allowed",
    "406 Not Acceptable",
    "408 Request Timeout",
    "409 Conflict",
    "410 Gone",
    "412 Precondition Failed",
    "413 Content Too Large",
    "414 URI Too Long",
    "415 Unsupported Media Type",
    "416 Range Not Satisfiable",
    "417 Expectation Failed",
    "422 Unprocessable Content",
    "426 Upgrade Required",
    "429 Too Many Requests",
    "431 Request Header Fields Too Large",
    "500 Internal Server Error",
    "501 Not Implemented",
    "503 Service Unavailable",
    "505 HTTP Version Not Supported",
};

// The text that a client gets for a server error: the table's text and the request id.
std::string own_fault(const ErrorMeaning& meaning, std::string_view request_id) {
    return request_id.empty() ? std::string(meaning.text)
                              : fmt::format("{} (request {})", meaning.text, request_id);
}

// Adds the accepted media types for a 415 (RFC 9110 section 15.5.16, RFC 5789 section 2.2).
void add_accepted(const Request& request, Response& response) {
    if (request.method == HttpMethod::patch) {
        response.headers.emplace_back("Accept-Patch", kPatchTypes);
    } else if (request.path.ends_with("/_search") || request.path.ends_with("/_search/")) {
        response.headers.emplace_back("Accept", "application/x-www-form-urlencoded");
    } else {
        response.headers.emplace_back("Accept", "application/fhir+json, application/fhir+xml");
    }
}

// Adds "Retry-After: 1", unless the header is already set.
void ask_again_later(Response& response) {
    const bool told = std::ranges::any_of(
        response.headers, [](const auto& header) { return header.first == "Retry-After"; });
    if (!told) {
        response.headers.emplace_back("Retry-After", "1");
    }
}

// Names the missing scope if the error does (RFC 6750 section 3.1).
void add_scope_challenge(const Error& error, Response& response) {
    std::string challenge = R"(Bearer realm="fhir", error="insufficient_scope")";
    const std::string_view detail = error.detail;
    if (const std::size_t at = detail.find("system/"); at != std::string_view::npos) {
        const std::string_view scope = detail.substr(at);
        challenge += fmt::format(R"(, scope="{}")", scope.substr(0, scope.find(' ')));
    }
    response.headers.emplace_back("WWW-Authenticate", std::move(challenge));
}

}  // namespace

ErrorMeaning meaning_of(Errc code) noexcept {
    switch (code) {
        case Errc::invalid:
            return {400, "invalid", "The request is malformed"};
        case Errc::structure:
            return {400, "structure", "The resource has the wrong structure"};
        case Errc::required:
            return {400, "required", "A required element is missing"};
        case Errc::value:
            return {400, "value", "A value is in the wrong format"};
        case Errc::not_supported:
            return {400, "not-supported", "The request asks for something that is not supported"};
        case Errc::unauthenticated:
            return {401, "login", "Authentication is required"};
        case Errc::bad_credentials:
            return {401, "security", "The credentials are not valid"};
        case Errc::credentials_expired:
            return {401, "expired", "The token has expired"};
        case Errc::forbidden:
        case Errc::insufficient_scope:
            return {403, "forbidden", "The credentials do not allow this"};
        case Errc::not_found:
            return {404, "not-found", "Not found"};
        case Errc::method_not_allowed:
            return {405, "not-supported", "The method is not supported here"};
        case Errc::not_acceptable:
            return {406, "not-supported", "None of the accepted representations is supported"};
        case Errc::request_timeout:
            return {408, "timeout", "The request did not arrive in time"};
        case Errc::conflict:
            return {409, "conflict", "The request conflicts with the state of the store"};
        case Errc::still_current:
            return {409, "business-rule",
                    "The resource is in use and cannot be removed in this way"};
        case Errc::deleted:
            return {410, "deleted", "The resource was deleted"};
        case Errc::expired:
            return {410, "expired", "The page is no longer available"};
        case Errc::precondition:
            return {412, "conflict", "A precondition failed"};
        case Errc::multiple_matches:
            return {412, "multiple-matches", "The criteria match more than one resource"};
        case Errc::body_too_large:
            return {413, "too-long", "The request body is too large"};
        case Errc::too_costly:
            return {413, "too-costly", "The request asks for too much"};
        case Errc::uri_too_long:
            return {414, "too-long", "The URL is too long"};
        case Errc::unsupported_media:
            return {415, "not-supported", "The media type is not supported"};
        case Errc::business_rule:
            return {422, "business-rule", "The resource violates a rule"};
        case Errc::processing:
            return {422, "processing", "The request could not be processed"};
        case Errc::not_computable:
            return {422, "not-supported",
                    "Something that the response depends on is not available"};
        case Errc::answer_too_costly:
            return {422, "too-costly", "The response would be too large"};
        case Errc::headers_too_large:
            return {431, "too-long", "The request headers are too large"};
        case Errc::throttled:
            return {429, "throttled", "Too many requests"};
        case Errc::corrupt:
        case Errc::io:
        case Errc::internal:
        case Errc::usage:
            return {500, "exception", "Internal server error"};
        case Errc::not_implemented:
            return {501, "not-supported", "Not supported"};
        case Errc::overloaded:
            return {503, "transient", "The server is busy; try again"};
        case Errc::timeout:
            return {503, "timeout", "The request took too long"};
        case Errc::no_store:
            return {503, "no-store", "The store accepts no writes at present"};
    }
    return {500, "exception", "Internal server error"};
}

std::string outcome_json(const std::vector<Issue>& issues) {
    std::string out = R"({"resourceType":"OperationOutcome","issue":[)";
    bool first = true;
    for (const Issue& issue : issues) {
        if (!first) {
            out += ',';
        }
        first = false;
        out += R"({"severity":")";
        out += issue.severity;
        out += R"(","code":")";
        out += issue.code;
        out += '"';
        if (!issue.diagnostics.empty()) {
            out += R"(,"diagnostics":)";
            json::append_quoted(out, json::valid_utf8(issue.diagnostics));
        }
        if (!issue.expression.empty()) {
            out += R"(,"expression":[)";
            json::append_quoted(out, json::valid_utf8(issue.expression));
            out += ']';
        }
        out += '}';
    }
    out += "]}";
    return out;
}

Response::Response(Error error) : status(meaning_of(error.code).status), failure(std::move(error)) {
}

void tell_untold_failure(const Request& request, Response& response) {
    Error& error = *response.failure;
    const ErrorMeaning meaning = meaning_of(error.code);
    if (response.status == 500) {
        log_error(fmt::format("request {}: {}", request.request_id, error.detail));
    }
    if (response.status == 500 || response.status == 503) {
        error.detail = own_fault(meaning, request.request_id);
    } else if (error.detail.empty()) {
        error.detail = meaning.text;
    }

    if (response.status == 503 || response.status == 429 || response.status == 408) {
        ask_again_later(response);
    } else if (response.status == 415) {
        add_accepted(request, response);
    } else if (response.status == 403 && error.code == Errc::insufficient_scope) {
        add_scope_challenge(error, response);
    }

    std::vector<Issue> issues;
    issues.reserve(1 + error.others.size());
    issues.push_back({"error", meaning.issue_code, error.detail, error.expression});
    for (const Error& other : error.others) {
        issues.push_back(
            {"error", meaning_of(other.code).issue_code, other.detail, other.expression});
    }
    response.content_type = ContentType::fhir_json;
    response.body = Body(outcome_json(issues));
}

std::string_view status_text(int status) noexcept {
    for (std::string_view text : kStatusTexts) {
        const int code = (text[0] - '0') * 100 + (text[1] - '0') * 10 + (text[2] - '0');
        if (code == status) {
            return text;
        }
    }
    return "500 Internal Server Error";
}

std::string_view reason_phrase(int status) noexcept {
    return status_text(status).substr(4);
}

}  // namespace annals::core
