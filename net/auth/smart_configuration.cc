#include "net/auth/smart_configuration.h"

#include "codec/json/document.h"
#include "core/outcome.h"
#include "core/representation.h"

#include <string>
#include <string_view>
#include <vector>

namespace annals::net::auth {

namespace {

constexpr std::string_view kPath = "/.well-known/smart-configuration";

void add(std::string& text, std::string_view name, std::string_view value) {
    if (!value.empty()) {
        text += text.ends_with('{') ? "" : ",";
        json::append_quoted(text, name);
        text += ':';
        json::append_quoted(text, value);
    }
}

void add(std::string& text, std::string_view name, const std::vector<std::string>& values) {
    if (values.empty()) {
        return;
    }
    text += text.ends_with('{') ? "" : ",";
    json::append_quoted(text, name);
    text += ":[";
    for (const std::string& value : values) {
        text += text.ends_with('[') ? "" : ",";
        json::append_quoted(text, value);
    }
    text += ']';
}

std::string configuration(const core::Config::Auth& auth) {
    const core::Config::Auth::Smart& smart = auth.smart;
    std::string text = "{";
    // The first issuer is the one that the endpoints are of; the rest are only named (RFC 9728 section 2).
    const bool own = auth.has_own_issuer() || auth.jwt_issuers.empty();
    add(text, "issuer", own ? auth.jwt_issuer : auth.jwt_issuers.front().issuer);
    add(text, "jwks_uri", own ? auth.jwt_jwks_url : auth.jwt_issuers.front().jwks_url);
    if (!auth.jwt_issuers.empty()) {
        std::vector<std::string> names;
        if (auth.has_own_issuer()) {
            names.push_back(auth.jwt_issuer);
        }
        for (const core::Config::Auth::Issuer& issuer : auth.jwt_issuers) {
            names.push_back(issuer.issuer);
        }
        add(text, "authorization_servers", names);
    }
    add(text, "authorization_endpoint", smart.authorization_endpoint);
    add(text, "token_endpoint", smart.token_endpoint);
    add(text, "introspection_endpoint", smart.introspection_endpoint);
    add(text, "revocation_endpoint", smart.revocation_endpoint);
    add(text, "management_endpoint", smart.management_endpoint);
    add(text, "registration_endpoint", smart.registration_endpoint);
    std::vector<std::string> grants;
    std::vector<std::string> responses;
    std::vector<std::string> challenges;
    if (!smart.authorization_endpoint.empty()) {
        grants.emplace_back("authorization_code");
        responses.emplace_back("code");
        challenges.emplace_back("S256");
    }
    if (!smart.token_endpoint.empty()) {
        grants.emplace_back("client_credentials");
    }
    add(text, "grant_types_supported", grants);
    add(text, "response_types_supported", responses);
    add(text, "code_challenge_methods_supported", challenges);
    add(text, "scopes_supported", smart.scopes);
    // What this server does with scopes; what its authorization server does, the configuration says.
    std::vector<std::string> capabilities{"permission-user", "permission-v1", "permission-v2"};
    capabilities.insert(capabilities.end(), smart.capabilities.begin(), smart.capabilities.end());
    add(text, "capabilities", capabilities);
    return text + "}";
}

}  // namespace

std::optional<core::Response> answer_smart_configuration(const core::Config& config,
                                                         const core::Request& request) {
    if (request.path != kPath) {
        return std::nullopt;
    }
    core::Response response;
    if (!config.auth.takes_tokens()) {
        response = core::outcome_response(
            Error{Errc::not_found, "No tokens are taken here: there is no SMART configuration", ""},
            request);
        core::represent_error(request, response);
        return response;
    }
    if (request.method != core::HttpMethod::get && request.method != core::HttpMethod::head) {
        response = core::outcome_response(
            Error{Errc::method_not_allowed, "The SMART configuration is only read", ""}, request);
        core::represent_error(request, response);
        response.allow = "GET, HEAD";
        return response;
    }
    response.content_type = core::ContentType::json;
    response.cache_control = "max-age=300";
    response.body = core::Body(configuration(config.auth));
    return response;
}

}  // namespace annals::net::auth
