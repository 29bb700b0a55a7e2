// Config: every setting of the server, with its default.
//
// Layer:   core. The table of keys (name, field, meaning) is in keys.cc.
// Spec:    the list of configuration keys in docs/operations.md is printed from that table.
// Threads: const after loading.

#pragma once

#include "core/base/result.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace annals::core {

struct Config {
    std::string listen = "127.0.0.1:8080";
    std::string data = "annals-data";
    std::string base_url;  ///< empty: from the request's Host
    std::uint64_t threads = 0;
    std::string durability = "commit";
    std::chrono::milliseconds sync_interval{100};
    bool storage_compression = true;
    std::chrono::milliseconds storage_compression_after{std::chrono::minutes(10)};
    std::uint64_t storage_written_memory = 0;
    bool read_only = false;      ///< --read-only
    bool allow_damaged = false;  ///< --allow-damaged

    bool hard_delete = false;
    std::uint64_t max_history_versions = 0;
    std::vector<std::string> history_cleanup_types;
    bool history_cleanup_enabled = false;
    std::chrono::milliseconds history_cleanup_interval{std::chrono::hours(24)};
    bool allow_history_bundles = true;
    std::uint64_t history_page_size = 100;
    std::uint64_t search_page_size = 20;
    std::string search_time_zone = "UTC";
    std::uint64_t instance_history_page_size = 10;
    std::uint64_t max_page_size = 1000;

    struct Interactions {
        bool instance_history = true;
        bool instance_vread = true;
        bool type_history = true;
        bool system_history = true;
        bool system_history_bundle = true;
    } interactions;

    bool update_create = true;
    std::uint64_t delete_absent = 404;
    std::string conditional_delete = "single";
    std::uint64_t conditional_delete_max = 100;
    bool integrity_on_delete = false;
    bool integrity_on_write = false;
    std::string validation = "structure";
    bool allow_unknown_elements = true;

    struct Limits {
        std::uint64_t max_body = 64ULL << 20;
        std::uint64_t max_bundle_entries = 50000;
        std::uint64_t max_expansion = 100'000;
        std::uint64_t max_connections = 10000;
        std::chrono::milliseconds idle_timeout{std::chrono::seconds(60)};
        std::chrono::milliseconds header_timeout{std::chrono::seconds(10)};
        std::chrono::milliseconds body_timeout{std::chrono::seconds(60)};
        std::chrono::milliseconds request_timeout{std::chrono::seconds(60)};
        std::uint64_t max_memory = 1ULL << 30;
        std::uint64_t connections_per_address = 0;
        std::uint64_t rate = 0;
        std::uint64_t rate_burst = 0;
    } limits;

    std::chrono::milliseconds shutdown_timeout{std::chrono::seconds(10)};

    struct Auth {
        std::string mode = "none";
        std::string jwt_issuer;
        std::string jwt_audience;
        std::string jwt_jwks_file;
        std::string jwt_jwks_url;
        std::chrono::milliseconds jwt_leeway{std::chrono::seconds(60)};
        std::string jwt_hs256_secret_file;

        /// A further issuer of tokens: its name and the source of its keys.
        struct Issuer {
            std::string issuer;
            std::string audience;
            std::string jwks_file;
            std::string jwks_url;
        };

        std::vector<Issuer> jwt_issuers;

        /// The server that is asked about opaque tokens (RFC 7662).
        struct Introspection {
            std::string url;  ///< empty: no introspection
            std::string client_id;
            std::string client_secret_file;
            std::string audience;
            std::chrono::milliseconds cache{std::chrono::minutes(1)};
            std::uint64_t rate = 50;
            std::uint64_t refused_rate = 2;
        } introspection;

        std::string api_keys_file;
        std::vector<std::string> public_access{"metadata"};

        /// The authorization server as described by the SMART configuration.
        struct Smart {
            std::string authorization_endpoint;
            std::string token_endpoint;
            std::string introspection_endpoint;
            std::string revocation_endpoint;
            std::string management_endpoint;
            std::string registration_endpoint;
            std::string jwks_uri;
            std::string user_access_brand_bundle;
            std::string user_access_brand_identifier;
            std::vector<std::string> token_endpoint_auth_methods;
            std::vector<std::string> scopes;
            std::vector<std::string> capabilities;
        } smart;

        /// Tokens that this server issues to clients known to it (SMART Backend Services).
        struct TokenEndpoint {
            static constexpr std::string_view kPath = "/auth/token";     ///< below base_url
            static constexpr std::string_view kKeysPath = "/auth/jwks";  ///< below base_url
            std::string clients_file;  ///< empty: no tokens are issued
            std::string key_file;      ///< PEM; empty: a key is generated at startup
            std::uint64_t rate = 10;
        } token_endpoint;

        bool issues_tokens() const noexcept { return !token_endpoint.clients_file.empty(); }

        bool takes_tokens() const noexcept { return mode == "jwt" || mode == "jwt_or_api_key"; }

        bool takes_keys() const noexcept { return mode == "api_key" || mode == "jwt_or_api_key"; }

        /// Whether auth.jwt.* itself configures how tokens are verified.
        bool has_own_issuer() const noexcept {
            return !jwt_jwks_file.empty() || !jwt_jwks_url.empty() ||
                   !jwt_hs256_secret_file.empty();
        }
    } auth;

    struct Audit {
        std::string file;  ///< empty: no audit log
        std::uint64_t max_bytes = 100ULL << 20;
        std::string when_full = "wait";
        bool resources = false;
    } audit;

    /// Where clients get tokens; empty: unknown.
    std::string token_url() const {
        return auth.issues_tokens() ? base_url + std::string(Auth::TokenEndpoint::kPath)
                                    : auth.smart.token_endpoint;
    }

    bool allow_unauthenticated = false;

    struct Tls {
        std::string cert_file;
        std::string key_file;
        std::string client_ca_file;
    } tls;

    /// How this server identifies itself to other servers.
    struct Outgoing {
        std::string cert_file;  ///< empty: no client certificate
        std::string key_file;
    } outgoing;

    /// Whether accesses are recorded.
    bool audited() const noexcept { return !audit.file.empty(); }

    struct Subscriptions {
        bool enabled = false;
        std::vector<std::string> endpoints;
        std::uint64_t max = 1000;
        std::uint64_t attempts = 20;
        std::chrono::milliseconds retry_delay{std::chrono::seconds(1)};
        std::chrono::milliseconds timeout{std::chrono::seconds(30)};
    } subscriptions;

    std::vector<std::string> cors_origins;
    /// Canonical URLs of CapabilityStatements that the deployment claims to meet.
    std::vector<std::string> instantiates;
    std::string backup_dir;  ///< empty: "backups" in the data directory
    std::uint64_t jobs_max_running = 4;
    std::chrono::milliseconds jobs_keep{std::chrono::hours(24)};
    std::uint64_t export_max_file = 128ULL << 20;
    std::string import_dir;    ///< empty: "import" in the data directory
    std::string packages_dir;  ///< empty: "packages" in the data directory
};

/// The sources of settings, in order of increasing precedence.
struct ConfigSources {
    std::string file;  ///< path of a TOML file, or empty
    std::vector<std::pair<std::string, std::string>> environment;  ///< ANNALS_*: name, value
    std::vector<std::string> sets;  ///< KEY=VALUE of each --set, in order
};

/// Applies the sources to the defaults and checks each value's type and range, and that the values go together.
/// Errors: usage: one line that names the key or the file.
Result<Config> load_config(const ConfigSources& sources);

/// Whether `listen` is a loopback address.
bool is_loopback(const Config& config);

/// The ANNALS_* variables of the process environment, except ANNALS_TEST_*.
std::vector<std::pair<std::string, std::string>> config_environment();

/// One line per key: name, type, default, meaning (for `annals serve --help`).
std::string describe_config();

}  // namespace annals::core
