#include "core/config/config_checks.h"

#include "core/base/parts.h"
#include "core/base/time_zone.h"
#include "core/config/history_limits.h"
#include "core/config/listen_address.h"
#include "core/subscriptions/endpoint.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace annals::core {

namespace {

/// The log writer counts milliseconds in 32 bits, which is 49 days.
constexpr std::chrono::days kSyncIntervalMax{30};

/// `authority`: a host and optionally a port.
bool is_loopback_host(std::string_view authority) {
    std::string_view host = authority.substr(0, authority.rfind(':'));
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    }
    if (host == "localhost" || host == "::1") {
        return true;
    }
    // 127.0.0.0/8 as four numbers; a name such as "127.example.org" may be anywhere.
    return host.starts_with("127.") &&
           host.find_first_not_of("0123456789.") == std::string_view::npos;
}

// Whether it is an Origin as browsers send it: scheme, host, optional port, nothing else.
bool is_origin(std::string_view text) {
    const std::size_t scheme = text.find("://");
    if (scheme == std::string_view::npos || scheme == 0) {
        return false;
    }
    const std::string_view host = text.substr(scheme + 3);
    return !host.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return c > ' ' && c < 0x7f && !(c >= 'A' && c <= 'Z') && c != ',' && c != '"';
    }) && host.find_first_of("/?#*@") == std::string_view::npos;
}

/// Whether the port of `authority` may be one, if it has any.
bool has_fit_port(std::string_view authority) {
    const std::size_t colon = authority.rfind(':');
    if (colon == std::string_view::npos || authority.ends_with(']')) {
        return true;
    }
    const auto address = read_listen_address(authority);
    return address && address->port.find_first_not_of('0') != std::string::npos;
}

/// Whether it can be a base URL: paths are appended to it to make links, which are public.
bool is_root(std::string_view url) {
    const std::size_t scheme = url.starts_with("https://") ? 8 : url.starts_with("http://") ? 7 : 0;
    const std::string_view rest = url.substr(scheme);
    const std::string_view authority = rest.substr(0, rest.find('/'));
    return scheme != 0 && rest.ends_with("/fhir") && !authority.empty() &&
           authority.find('@') == std::string_view::npos && has_fit_port(authority) &&
           std::all_of(rest.begin(), rest.end(), [](char c) {
               return c > ' ' && c < 0x7f &&
                      std::string_view("?#\"<>\\").find(c) == std::string_view::npos;
           });
}

Result<void> check_origins(const std::vector<std::string>& origins) {
    for (const std::string& origin : origins) {
        if (origin != "*" && !is_origin(origin)) {
            return usage(
                fmt::format("cors.origins: '{}' is neither * nor an origin as browsers send it "
                            "(such as https://app.example.org, in lower case)",
                            one_line(origin)));
        }
    }
    return {};
}

Result<void> check_instantiates(const std::vector<std::string>& urls) {
    for (const std::string& url : urls) {
        const bool visible = std::all_of(url.begin(), url.end(), [](char c) {
            return static_cast<unsigned char>(c) > ' ' && c != 0x7f;
        });
        if (!visible || url.find(':') == std::string::npos || url.starts_with(':')) {
            return usage(
                fmt::format("metadata.instantiates: '{}' is not an absolute URL", one_line(url)));
        }
    }
    return {};
}

Result<void> check_endpoints(const std::vector<std::string>& endpoints) {
    for (const std::string& text : endpoints) {
        const Result<Endpoint> endpoint = read_endpoint(text);
        if (!endpoint || endpoint->has_query) {
            return usage(
                fmt::format("subscriptions.endpoints: '{}': {}", one_line(text),
                            endpoint ? "a prefix must not have a query" : endpoint.error().detail));
        }
    }
    return {};
}

Result<void> check_issuers(const Config::Auth& auth) {
    constexpr std::size_t kIssuersMax = 16;
    const std::vector<Config::Auth::Issuer>& all = auth.jwt_issuers;
    if (all.size() > kIssuersMax) {
        return usage(fmt::format("auth.jwt.issuers: more than {}", kIssuersMax));
    }
    if (!all.empty() && auth.has_own_issuer() && auth.jwt_issuer.empty()) {
        return usage(
            "auth.jwt.issuers needs auth.jwt.issuer, so that the issuer of each token is known");
    }
    for (const Config::Auth::Issuer& one : all) {
        const std::string name = one_line(one.issuer);
        if (one.issuer.empty()) {
            return usage("auth.jwt.issuers: an entry has no issuer");
        }
        const auto namesakes = std::count_if(
            all.begin(), all.end(), [&](const auto& other) { return other.issuer == one.issuer; });
        if (namesakes > 1 || (auth.has_own_issuer() && one.issuer == auth.jwt_issuer)) {
            return usage(fmt::format("auth.jwt.issuers: '{}' appears twice", name));
        }
        if (one.jwks_file.empty() == one.jwks_url.empty()) {
            return usage(
                fmt::format("auth.jwt.issuers: '{}' needs either jwks_file or jwks_url", name));
        }
        if (!one.jwks_url.empty() && !is_safe_url(one.jwks_url)) {
            return usage(fmt::format(
                "auth.jwt.issuers: jwks_url of '{}' must begin with https:// and contain no user",
                name));
        }
    }
    return {};
}

Result<void> check_introspection(const Config& config) {
    const Config::Auth::Introspection& introspection = config.auth.introspection;
    if (introspection.url.empty()) {
        return {};
    }
    if (!is_safe_url(introspection.url)) {
        return usage("auth.introspection.url must begin with https:// and contain no user");
    }
    const bool is_known =
        !introspection.client_secret_file.empty() || !config.outgoing.cert_file.empty();
    if (introspection.client_id.empty() || !is_known) {
        return usage(
            "auth.introspection.url needs auth.introspection.client_id and either "
            "auth.introspection.client_secret_file or outgoing.cert_file");
    }
    return {};
}

Result<void> check_token_endpoint(const Config& config) {
    const Config::Auth& auth = config.auth;
    if (!auth.issues_tokens()) {
        return {};
    }
    constexpr std::string_view kName = "auth.token_endpoint.clients_file";
    if (!auth.takes_tokens()) {
        return usage(fmt::format("{} needs auth.mode = \"jwt\" or \"jwt_or_api_key\"", kName));
    }
    if (!is_safe_url(config.base_url)) {
        // The Host header can't be trusted for the audience (aud) of an assertion.
        return usage(fmt::format("{} needs a base_url that begins with https://", kName));
    }
    if (!auth.smart.authorization_endpoint.empty() || !auth.smart.token_endpoint.empty()) {
        return usage(
            fmt::format("{} cannot be combined with the endpoints of auth.smart: only one token "
                        "endpoint can be announced to clients",
                        kName));
    }
    if (auth.has_own_issuer() && auth.jwt_issuer.empty()) {
        return usage(fmt::format(
            "{} needs auth.jwt.issuer, so that the issuer of each token is known", kName));
    }
    const bool namesake =
        std::any_of(auth.jwt_issuers.begin(), auth.jwt_issuers.end(),
                    [&](const auto& issuer) { return issuer.issuer == config.base_url; });
    if (namesake || auth.jwt_issuer == config.base_url) {
        return usage(fmt::format("{}: no other issuer may be named like base_url", kName));
    }
    return {};
}

/// Clients send credentials to what is announced here, and cannot resolve a relative or mistyped URL.
Result<void> check_announced(const Config::Auth::Smart& smart) {
    const std::pair<std::string_view, const std::string&> urls[] = {
        {"authorization_endpoint", smart.authorization_endpoint},
        {"token_endpoint", smart.token_endpoint},
        {"introspection_endpoint", smart.introspection_endpoint},
        {"revocation_endpoint", smart.revocation_endpoint},
        {"management_endpoint", smart.management_endpoint},
        {"registration_endpoint", smart.registration_endpoint},
        {"jwks_uri", smart.jwks_uri},
        {"user_access_brand_bundle", smart.user_access_brand_bundle},
    };
    for (const auto& [key, url] : urls) {
        if (url.empty()) {
            continue;
        }
        if (const Result<Endpoint> endpoint = read_endpoint(url); !endpoint) {
            return usage(fmt::format("auth.smart.{}: '{}': {}", key, one_line(url),
                                     endpoint.error().detail));
        }
    }
    return {};
}

Result<void> check_audit(const Config& config) {
    if (!config.audit.resources) {
        return {};
    }
    if (config.audit.file.empty()) {
        return usage(
            "audit.resources needs audit.file: AuditEvent resources may be lost, lines of the file "
            "are not");
    }
    if (config.read_only) {
        return usage("audit.resources cannot be combined with read_only");
    }
    if (config.integrity_on_delete || config.integrity_on_write) {
        // AuditEvents may refer to resources that a request asked for in vain, or that have been deleted since.
        return usage("audit.resources cannot be combined with referential_integrity");
    }
    return {};
}

Result<void> check_auth(const Config& config) {
    const Config::Auth& auth = config.auth;
    if (auth.takes_tokens() && !auth.has_own_issuer() && auth.jwt_issuers.empty() &&
        auth.introspection.url.empty() && !auth.issues_tokens()) {
        return usage(
            "auth.mode = \"jwt\" needs auth.jwt.jwks_file, auth.jwt.jwks_url, "
            "auth.jwt.hs256_secret_file, auth.jwt.issuers, auth.introspection.url or "
            "auth.token_endpoint.clients_file");
    }
    if (auth.takes_keys() && auth.api_keys_file.empty()) {
        return usage("auth.mode = \"api_key\" needs auth.api_keys_file");
    }
    if (!auth.jwt_jwks_file.empty() && !auth.jwt_jwks_url.empty()) {
        return usage("auth.jwt.jwks_file cannot be combined with auth.jwt.jwks_url");
    }
    if (!auth.jwt_jwks_url.empty() && !is_safe_url(auth.jwt_jwks_url)) {
        return usage("auth.jwt.jwks_url must begin with https:// and contain no user");
    }
    ANNALS_TRY_VOID(check_issuers(auth));
    ANNALS_TRY_VOID(check_announced(auth.smart));
    ANNALS_TRY_VOID(check_token_endpoint(config));
    return check_introspection(config);
}

}  // namespace

bool is_safe_url(std::string_view url) {
    constexpr std::string_view kPlain = "http://";
    constexpr std::string_view kEncrypted = "https://";
    const bool encrypted = url.starts_with(kEncrypted);
    if (!encrypted && !url.starts_with(kPlain)) {
        return false;
    }
    const std::string_view rest = url.substr(encrypted ? kEncrypted.size() : kPlain.size());
    const std::string host(rest.substr(0, rest.find_first_of("/?#")));
    if (host.find('@') != std::string::npos) {
        return false;  // the real host follows the '@'; such URLs also appear in answers and in the log
    }
    const bool has_port = host.find(':') != std::string::npos && !host.ends_with(']');
    return encrypted || is_loopback_host(has_port ? host : host + ":80");
}

Error usage(std::string detail) {
    return {Errc::usage, std::move(detail)};
}

std::string one_line(std::string_view text) {
    std::string out(text.substr(0, 200));
    for (char& c : out) {
        if (static_cast<unsigned char>(c) < 0x20) {
            c = ' ';
        }
    }
    return out;
}

bool is_loopback(const Config& config) {
    return is_loopback_host(config.listen);
}

Result<void> check_config(const Config& config) {
    ANNALS_TRY_VOID(read_listen_address(config.listen));
    if (config.data.empty()) {
        return usage("data must name a directory, not ''");
    }
    if (!config.base_url.empty() && !is_root(config.base_url)) {
        return usage(
            "base_url must begin with http:// or https:// and a host, whose port is a number up to "
            "65535, end in /fhir, and contain neither a user, a query nor characters beyond ASCII");
    }
    if (config.sync_interval > kSyncIntervalMax) {
        return usage(
            fmt::format("sync_interval must be at most {} days", kSyncIntervalMax.count()));
    }
    if (const auto zone = TimeZone::load(config.search_time_zone); !zone) {
        return usage(fmt::format("search.time_zone: '{}': {}", one_line(config.search_time_zone),
                                 zone.error().detail));
    }
    if (config.delete_absent != 404 && config.delete_absent != 204) {
        return usage("delete_absent must be 404 or 204");
    }
    for (const std::string& name : config.auth.public_access) {
        if (!has_word("metadata read search history", name)) {
            return usage(fmt::format(
                "auth.public: '{}' is not one of metadata, read, search, history", one_line(name)));
        }
    }
    if (config.allow_damaged && !config.read_only) {
        return usage("allow_damaged needs read_only");
    }
    if (config.tls.cert_file.empty() != config.tls.key_file.empty()) {
        return usage("tls.cert_file and tls.key_file must be set together");
    }
    if (!config.tls.client_ca_file.empty() && config.tls.cert_file.empty()) {
        return usage("tls.client_ca_file needs tls.cert_file and tls.key_file");
    }
    if (config.outgoing.cert_file.empty() != config.outgoing.key_file.empty()) {
        return usage("outgoing.cert_file and outgoing.key_file must be set together");
    }
    ANNALS_TRY_VOID(check_origins(config.cors_origins));
    ANNALS_TRY_VOID(check_instantiates(config.instantiates));
    ANNALS_TRY_VOID(check_endpoints(config.subscriptions.endpoints));
    ANNALS_TRY_VOID(check_auth(config));
    ANNALS_TRY_VOID(check_audit(config));
    if (const auto limits = history_limits(config); !limits) {
        return usage("history_cleanup_types: " + limits.error().detail);
    }
    if (config.auth.mode == "none" && !config.allow_unauthenticated && !is_loopback(config)) {
        return usage(
            fmt::format("listen = \"{}\" is not a loopback address, which without authentication "
                        "needs allow_unauthenticated = true",
                        one_line(config.listen)));
    }
    return {};
}

}  // namespace annals::core
