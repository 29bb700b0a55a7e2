#include "net/auth/token_endpoint.h"

#include "codec/json/document.h"
#include "core/base/random.h"
#include "core/base/text.h"
#include "core/representation.h"
#include "core/target.h"
#include "net/auth/files.h"
#include "net/auth/granted_scopes.h"
#include "net/auth/jwt.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::net::auth {

namespace {

using core::HttpMethod;
using Endpoint = core::Config::Auth::TokenEndpoint;

constexpr std::size_t kParametersMax = 20;
constexpr std::string_view kAssertionType =
    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The codes of RFC 6749 section 5.2 are carried in the Error's expression, which is otherwise unused here.
Error refusal(Errc code, std::string_view name, std::string_view why) {
    return {code, std::string(why), std::string(name)};
}

Error invalid_request(std::string_view why) {
    return refusal(Errc::invalid, "invalid_request", why);
}

Error invalid_client(std::string_view why) {
    return refusal(Errc::bad_credentials, "invalid_client", why);
}

core::Response json_answer(int status, std::string text) {
    core::Response response;
    response.status = status;
    response.content_type = core::ContentType::json;
    response.body = core::Body(std::move(text));
    response.cache_control = "no-store";
    response.headers.emplace_back("Pragma", "no-cache");
    return response;
}

core::Response refuse_with(int status, std::string_view name, std::string_view why) {
    return json_answer(
        status, fmt::format(R"({{"error":"{}","error_description":{}}})", name, json::quoted(why)));
}

core::Response answer_to(const Error& error) {
    if (error.code == Errc::overloaded || error.code == Errc::io) {
        core::Response response =
            refuse_with(503, "temporarily_unavailable", "No token can be issued at present");
        response.headers.emplace_back("Retry-After", "30");
        return response;
    }
    return refuse_with(400, error.expression, error.detail);
}

/// Content-Length; none if there is no such header, or it is not a number.
std::optional<std::uint64_t> announced_bytes(const core::Request& request) {
    const auto text = request.header("Content-Length");
    return text ? parse_number(*text) : std::nullopt;
}

Result<TokenSigner> read_signer(const Endpoint& config) {
    if (config.key_file.empty()) {
        return TokenSigner::generate();
    }
    constexpr std::string_view kSetting = "auth.token_endpoint.key_file";
    ANNALS_TRY(const std::string pem, read_file(kSetting, config.key_file));
    auto signer = TokenSigner::read(pem);
    if (!signer) {
        return Error{Errc::usage,
                     fmt::format("{}: {}: {}", kSetting, config.key_file, signer.error().detail)};
    }
    return signer;
}

/// The contents of a request for a token.
struct Asked {
    std::string client;  ///< client_id; empty: not given
    std::string assertion;
    std::string scope;
};

/// Parses the form. Errors: those that answer_to() reports.
Result<Asked> read_form(const core::Request& request) {
    if (!request.query.empty()) {
        return invalid_request("Parameters must be in the body");
    }
    if (request.body.size() > TokenEndpoint::kRequestBytesMax || !core::is_form(request)) {
        return invalid_request("The body must be a short application/x-www-form-urlencoded");
    }
    const auto parameters = core::parse_query(request.body);
    if (!parameters || parameters->size() > kParametersMax) {
        return invalid_request("The form is malformed");
    }
    const auto value = [&](std::string_view name) {
        for (const auto& [key, text] : *parameters) {
            if (key == name) {
                return text;
            }
        }
        return std::string();
    };
    for (const auto& [key, text] : *parameters) {
        if (std::count_if(parameters->begin(), parameters->end(),
                          [&name = key](const auto& other) { return other.first == name; }) > 1) {
            return invalid_request("A parameter is repeated");
        }
    }
    const std::string grant = value("grant_type");
    if (grant.empty()) {
        return invalid_request("The grant_type is missing");
    }
    if (grant != "client_credentials") {
        return refusal(Errc::invalid, "unsupported_grant_type",
                       "Only the grant_type client_credentials is supported");
    }
    Asked asked{value("client_id"), value("client_assertion"), value("scope")};
    if (asked.assertion.empty() || value("client_assertion_type") != kAssertionType) {
        return invalid_client("A client_assertion of the type jwt-bearer is required");
    }
    return asked;
}

}  // namespace

TokenEndpoint::TokenEndpoint(const core::Config& config, TokenSigner signer,
                             std::unique_ptr<Clients> clients, std::unique_ptr<Replays> replays)
    : issuer_(config.base_url),
      url_(config.token_url()),
      leeway_(config.auth.jwt_leeway),
      signer_(std::move(signer)),
      clients_(std::move(clients)),
      throttle_(config.auth.token_endpoint.rate, 0, 0),
      replays_(std::move(replays)) {
}

Result<void> TokenEndpoint::check(const core::Config& config) {
    ANNALS_TRY_VOID(read_signer(config.auth.token_endpoint));
    return Clients::check(config.auth.token_endpoint.clients_file);
}

Result<std::unique_ptr<TokenEndpoint>> TokenEndpoint::open(const core::Config& config,
                                                           storage::FileSystem& files, Instant now,
                                                           const ClientCertificate* shown) {
    ANNALS_TRY(TokenSigner signer, read_signer(config.auth.token_endpoint));
    ANNALS_TRY(std::unique_ptr<Clients> clients,
               Clients::open(config.auth.token_endpoint.clients_file, shown));
    const auto life_max = assertion_life_max(config.auth.jwt_leeway);
    std::unique_ptr<Replays> replays;
    if (config.read_only) {
        replays = Replays::without_memory(life_max, now);
    } else {
        ANNALS_TRY(replays, Replays::open(files, config.data + "/assertions", machine_begin(now),
                                          life_max, now));
    }
    return std::unique_ptr<TokenEndpoint>(
        new TokenEndpoint(config, std::move(signer), std::move(clients), std::move(replays)));
}

KeySet TokenEndpoint::keys() const {
    auto keys = KeySet::read(signer_.jwk_set());
    ANNALS_CHECK(keys.has_value());
    return *std::move(keys);
}

bool TokenEndpoint::is_for(const core::Request& request) noexcept {
    return request.path == Endpoint::kPath;
}

std::optional<core::Response> TokenEndpoint::refuse_at_head(const core::Request& request) {
    if (announced_bytes(request).value_or(kRequestBytesMax + 1) <= kRequestBytesMax) {
        return {};
    }
    return refuse_with(413, "invalid_request",
                       "The request is too long, or does not state its length");
}

std::optional<core::Response> TokenEndpoint::answer_keys(const core::Request& request) const {
    if (request.path != Endpoint::kKeysPath) {
        return {};
    }
    if (request.method != HttpMethod::get && request.method != HttpMethod::head) {
        core::Response response =
            refuse_with(405, "invalid_request", "The keys accept GET and HEAD only");
        response.allow = "GET, HEAD";
        return response;
    }
    core::Response response = json_answer(200, signer_.jwk_set());
    response.cache_control = "max-age=300";
    response.headers.clear();
    return response;
}

std::optional<core::Response> TokenEndpoint::answer(const core::Request& request,
                                                    std::string_view address, Instant now,
                                                    Settled* later, std::string& client) {
    // A request that waited for keys has been counted already.
    if (const auto wait =
            later == nullptr ? std::nullopt : throttle_.take(address, Throttle::Clock::now())) {
        core::Response response =
            refuse_with(429, "temporarily_unavailable", "Too many requests from this address");
        throttle_.tell(response, *wait);
        return response;
    }
    if (request.method != HttpMethod::post) {
        core::Response response =
            refuse_with(405, "invalid_request", "Tokens are requested by POST");
        response.allow = "POST";
        return response;
    }
    if (request.header("Authorization") || request.header("X-API-Key")) {
        // RFC 6749 section 5.2: a challenge for clients that tried this scheme.
        refused_.fetch_add(1, std::memory_order_relaxed);
        core::Response response =
            refuse_with(401, "invalid_client", "Only private_key_jwt is supported");
        response.headers.emplace_back("WWW-Authenticate", R"(Bearer realm="token")");
        return response;
    }
    const Result<std::string> token = give(request, now, later, client);
    if (!token && token.error().code == Errc::not_found) {
        return {};
    }
    (token ? issued_ : refused_).fetch_add(1, std::memory_order_relaxed);
    return token ? json_answer(200, *token) : answer_to(token.error());
}

/// The body of a successful response.
///
/// Errors: those that answer_to() reports; not_found: `later` is set.
Result<std::string> TokenEndpoint::give(const core::Request& request, Instant now, Settled* later,
                                        std::string& client_name) {
    ANNALS_TRY(const Asked asked, read_form(request));
    // The same error for unknown clients and bad signatures, so that nobody learns which clients exist.
    const Error stranger = invalid_client("The client is not known, or its assertion is not valid");
    const auto issuer = unverified_issuer(asked.assertion);
    if (!issuer || (!asked.client.empty() && asked.client != *issuer)) {
        return stranger;
    }
    const std::shared_ptr<const Client> client = clients_->find(*issuer);
    if (client == nullptr) {
        return stranger;
    }
    const auto claims = verify_signature(asked.assertion, client->keys, {}, client->said.jwks_url);
    if (!claims && claims.error().code == Errc::not_found && later != nullptr) {
        *later = Clients::ask_for_keys(*client);
        if (*later != nullptr) {
            return Error{Errc::not_found};
        }
    }
    if (!claims) {
        return stranger;
    }
    const auto assertion = check_assertion(*claims, client->said.id, url_, leeway_, now);
    if (!assertion) {
        return invalid_client(assertion.error().detail);
    }
    if (const auto taken = replays_->take(client->said.id, *assertion, now); !taken) {
        return taken.error().code == Errc::overloaded ? taken.error()
                                                      : invalid_client(taken.error().detail);
    }
    const std::string scopes = granted_scopes(asked.scope, client->said.scopes);
    if (scopes.empty() || scopes.size() > kTokenBytesMax / 4) {
        return refusal(Errc::invalid, "invalid_scope",
                       "None of the requested scopes can be granted");
    }
    ANNALS_TRY(const std::string token, make(*client, scopes, now));
    client_name = client->said.id;
    return fmt::format(
        R"({{"access_token":"{}","token_type":"bearer","expires_in":{},"scope":{}}})", token,
        kTokenLife.count(), json::quoted(scopes));
}

Result<std::string> TokenEndpoint::make(const Client& client, const std::string& scopes,
                                        Instant now) const {
    const std::int64_t second = now.us / 1'000'000;
    const std::string issuer = json::quoted(issuer_);
    const std::string name = json::quoted(client.said.id);
    return signer_.sign(
        "at+jwt",
        fmt::format(
            R"({{"iss":{0},"aud":{0},"sub":{1},"client_id":{1},"scope":{2},"iat":{3},"exp":{4},"jti":"{5}"}})",
            issuer, name, json::quoted(scopes), second, second + kTokenLife.count(), make_uuid()));
}

}  // namespace annals::net::auth
