#include "net/auth/smart_configuration.h"

#include "codec/json/document.h"
#include "core/capability_statement.h"
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

/// The issuers of tokens, first the one that the endpoints belong to; the rest are only named (RFC 9728 section 2).
std::vector<core::Config::Auth::Issuer> issuers_of(const core::Config& config) {
    const core::Config::Auth& auth = config.auth;
    std::vector<core::Config::Auth::Issuer> all = auth.jwt_issuers;
    if (auth.has_own_issuer() || (all.empty() && !auth.issues_tokens())) {
        all.insert(all.begin(), {auth.jwt_issuer, "", "", auth.jwt_jwks_url});
    }
    if (auth.issues_tokens()) {
        all.insert(all.begin(),
                   {config.base_url, "", "",
                    config.base_url + std::string(core::Config::Auth::TokenEndpoint::kKeysPath)});
    }
    return all;
}

std::string configuration(const core::Config& config) {
    const core::Config::Auth& auth = config.auth;
    const core::Config::Auth::Smart& smart = auth.smart;
    std::string text = "{";
    const std::vector<core::Config::Auth::Issuer> issuers = issuers_of(config);
    add(text, "issuer", issuers.front().issuer);
    // Keys in a file may also have a URL, and the one this server uses may not be the one for clients.
    add(text, "jwks_uri",
        smart.jwks_uri.empty() || auth.issues_tokens() ? issuers.front().jwks_url : smart.jwks_uri);
    if (issuers.size() > 1 || !auth.jwt_issuers.empty()) {
        std::vector<std::string> names;
        for (const core::Config::Auth::Issuer& issuer : issuers) {
            names.push_back(issuer.issuer);
        }
        add(text, "authorization_servers", names);
    }
    add(text, "authorization_endpoint", smart.authorization_endpoint);
    add(text, "token_endpoint", config.token_url());
    if (auth.issues_tokens()) {
        add(text, "token_endpoint_auth_methods_supported",
            std::vector<std::string>{"private_key_jwt"});
        add(text, "token_endpoint_auth_signing_alg_values_supported",
            std::vector<std::string>{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256",
                                     "ES384", "ES512", "EdDSA"});
    } else {
        add(text, "token_endpoint_auth_methods_supported", smart.token_endpoint_auth_methods);
    }
    add(text, "introspection_endpoint", smart.introspection_endpoint);
    add(text, "revocation_endpoint", smart.revocation_endpoint);
    add(text, "management_endpoint", smart.management_endpoint);
    add(text, "registration_endpoint", smart.registration_endpoint);
    add(text, "user_access_brand_bundle", smart.user_access_brand_bundle);
    add(text, "user_access_brand_identifier", smart.user_access_brand_identifier);
    std::vector<std::string> grants;
    std::vector<std::string> responses;
    std::vector<std::string> challenges;
    if (!smart.authorization_endpoint.empty()) {
        grants.emplace_back("authorization_code");
        responses.emplace_back("code");
    }
    if (!config.token_url().empty()) {
        grants.emplace_back("client_credentials");
    }
    if (!grants.empty()) {
        // Required by SMART for every server. Without an authorization endpoint there are no challenges, and
        // "plain" isn't accepted either.
        challenges.emplace_back("S256");
    }
    add(text, "grant_types_supported", grants);
    add(text, "response_types_supported", responses);
    add(text, "code_challenge_methods_supported", challenges);
    std::vector<std::string> scopes = smart.scopes;
    if (scopes.empty() && auth.issues_tokens()) {
        scopes = {"system/*.cruds", "system/*.rs"};
    }
    add(text, "scopes_supported", scopes);
    add(text, "capabilities", core::smart_capabilities(config));
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
        response = Error{Errc::not_found,
                         "This server accepts no tokens, so there is no SMART configuration"};
        core::represent_error(request, response);
        return response;
    }
    if (request.method != core::HttpMethod::get && request.method != core::HttpMethod::head) {
        response =
            Error{Errc::method_not_allowed, "The SMART configuration accepts GET and HEAD only"};
        core::represent_error(request, response);
        response.allow = "GET, HEAD";
        return response;
    }
    response.content_type = core::ContentType::json;
    response.cache_control = "max-age=300";
    response.body = core::Body(configuration(config));
    return response;
}

}  // namespace annals::net::auth
