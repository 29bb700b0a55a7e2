#include "core/config/config.h"

#include "core/config/config_checks.h"
#include "core/config/toml.h"

#include <fmt/format.h>

#include <unistd.h>

#include <array>
#include <cctype>
#include <limits>
#include <utility>
#include <variant>

extern char** environ;

namespace annals::core {

namespace {

using Millis = std::chrono::milliseconds;

// Where a key's value lives, and by that which TOML values it takes.
using Flag = bool& (*)(Config&);
using Text = std::string& (*)(Config&);
using Texts = std::vector<std::string>& (*)(Config&);
using Duration = Millis& (*)(Config&);
using Issuers = std::vector<Config::Auth::Issuer>& (*)(Config&);

struct Number {
    std::uint64_t& (*field)(Config&);
    std::uint64_t min = 0;
    std::uint64_t max = std::numeric_limits<std::int64_t>::max();
};

struct Size {
    std::uint64_t& (*field)(Config&);
    std::uint64_t min = 1;
};

struct Choice {
    std::string& (*field)(Config&);
    std::string_view choices;  // separated by blanks
};

using Field = std::variant<Flag, Text, Texts, Duration, Issuers, Number, Size, Choice>;

struct Key {
    std::string_view name;
    Field field;
    std::string_view meaning;
};

#define ANNALS_FIELD(type, member) [](Config& c) -> type& { return c.member; }
#define ANNALS_FLAG(member) Flag(ANNALS_FIELD(bool, member))
#define ANNALS_TEXT(member) Text(ANNALS_FIELD(std::string, member))
#define ANNALS_TEXTS(member) Texts(ANNALS_FIELD(std::vector<std::string>, member))
#define ANNALS_DURATION(member) Duration(ANNALS_FIELD(Millis, member))
#define ANNALS_U64(member) ANNALS_FIELD(std::uint64_t, member)

const std::vector<Key>& keys() {
    static const std::vector<Key> all = {
        {"listen", ANNALS_TEXT(listen), "address and port; port 0 picks a free one"},
        {"data", ANNALS_TEXT(data), "data directory"},
        {"base_url", ANNALS_TEXT(base_url),
         "public root, ends in /fhir; empty: from the request's Host"},
        {"threads", Number{ANNALS_U64(threads), 0, 1024},
         "server threads; 0: one per core that it may use"},
        {"durability", Choice{ANNALS_FIELD(std::string, durability), "commit interval none"},
         "when a write is answered: after its sync, after its write with a sync every "
         "sync_interval, or with syncs left to the operating system"},
        {"sync_interval", ANNALS_DURATION(sync_interval), "for durability = \"interval\""},
        {"storage.compression", ANNALS_FLAG(storage_compression),
         "compress sealed segments in the background"},
        {"storage.compression_after", ANNALS_DURATION(storage_compression_after),
         "so long after their last commit"},
        {"storage.written_memory", Size{ANNALS_U64(storage_written_memory), 0},
         "of what is poured in, so much stays in the system's memory unread; 0: as the system has "
         "it"},
        {"read_only", ANNALS_FLAG(read_only), "serve without taking writes"},
        {"allow_damaged", ANNALS_FLAG(allow_damaged), "with read_only: serve what is whole"},
        {"hard_delete", ANNALS_FLAG(hard_delete),
         "true: delete removes all versions, and history can be deleted"},
        {"max_history_versions", Number{ANNALS_U64(max_history_versions)},
         "versions kept per resource by history cleanup; 0: all"},
        {"history_cleanup_enabled", ANNALS_FLAG(history_cleanup_enabled),
         "remove versions beyond max_history_versions"},
        {"history_cleanup_interval", ANNALS_DURATION(history_cleanup_interval), "cleanup cycle"},
        {"history_cleanup_types", ANNALS_TEXTS(history_cleanup_types),
         "instead of max_history_versions for single types: [\"Patient=5\", \"Task=0\"]"},
        {"allow_history_bundles", ANNALS_FLAG(allow_history_bundles),
         "take history bundles at the root"},
        {"history_page_size", Number{ANNALS_U64(history_page_size), 1},
         "default page of type and system history"},
        {"search_page_size", Number{ANNALS_U64(search_page_size), 1}, "default page of search"},
        {"instance_history_page_size", Number{ANNALS_U64(instance_history_page_size), 1},
         "default page of instance history"},
        {"max_page_size", Number{ANNALS_U64(max_page_size), 1, 1'000'000},
         "larger _count is lowered to this"},
        {"interactions.instance.history", ANNALS_FLAG(interactions.instance_history),
         "instance history"},
        {"interactions.instance.vread", ANNALS_FLAG(interactions.instance_vread), "vread"},
        {"interactions.type.history", ANNALS_FLAG(interactions.type_history), "type history"},
        {"interactions.system.history", ANNALS_FLAG(interactions.system_history), "system history"},
        {"interactions.system.history_bundle", ANNALS_FLAG(interactions.system_history_bundle),
         "history bundle submission"},
        {"update_create", ANNALS_FLAG(update_create), "PUT to an absent id creates it"},
        {"delete_absent", Number{ANNALS_U64(delete_absent), 204, 404},
         "answer to DELETE of what never existed: 404 or 204"},
        {"conditional_delete",
         Choice{ANNALS_FIELD(std::string, conditional_delete), "single multiple"},
         "how many resources a DELETE by criteria may delete: one, or up to "
         "conditional_delete_max"},
        {"conditional_delete_max", Number{ANNALS_U64(conditional_delete_max), 1, 10'000},
         "more matches than this are not deleted by one request"},
        {"referential_integrity.on_delete", ANNALS_FLAG(integrity_on_delete),
         "refuse to delete what a live resource refers to"},
        {"referential_integrity.on_write", ANNALS_FLAG(integrity_on_write),
         "refuse a relative reference to what does not exist"},
        {"validation", Choice{ANNALS_FIELD(std::string, validation), "off structure full"},
         "how closely resources are looked at"},
        {"allow_unknown_elements", ANNALS_FLAG(allow_unknown_elements),
         "keep elements that FHIR does not know"},
        {"limits.max_body", Size{ANNALS_U64(limits.max_body)},
         "larger request: 413; four times as much answered inside of a bundle: 422"},
        {"limits.max_bundle_entries", Number{ANNALS_U64(limits.max_bundle_entries), 1},
         "more entries in a bundle: 413"},
        {"limits.max_expansion", Number{ANNALS_U64(limits.max_expansion), 1, 5'000'000},
         "$expand of a value set with more codes: 422"},
        {"limits.max_connections", Number{ANNALS_U64(limits.max_connections), 1, 1'000'000},
         "more connections: 503"},
        {"limits.idle_timeout", ANNALS_DURATION(limits.idle_timeout),
         "an idle connection is closed"},
        {"limits.header_timeout", ANNALS_DURATION(limits.header_timeout),
         "a request's headers took longer: 408"},
        {"limits.body_timeout", ANNALS_DURATION(limits.body_timeout),
         "a request's body took longer: 408"},
        {"limits.request_timeout", ANNALS_DURATION(limits.request_timeout),
         "an answer took longer: 503"},
        {"limits.max_memory", Size{ANNALS_U64(limits.max_memory)},
         "request bodies under way have more together: 503"},
        {"limits.connections_per_address", Number{ANNALS_U64(limits.connections_per_address)},
         "more connections of one address: 503; 0: no limit"},
        {"limits.rate", Number{ANNALS_U64(limits.rate), 0, 1'000'000},
         "requests a second of one principal or address, more: 429; 0: no limit"},
        {"limits.rate_burst", Number{ANNALS_U64(limits.rate_burst), 0, 10'000'000},
         "how many of them may come at once; 0: those of a second"},
        {"shutdown_timeout", ANNALS_DURATION(shutdown_timeout),
         "how long requests in flight may take to finish when stopping"},
        {"auth.mode",
         Choice{ANNALS_FIELD(std::string, auth.mode), "none jwt api_key jwt_or_api_key"},
         "which credentials are asked for"},
        {"auth.jwt.issuer", ANNALS_TEXT(auth.jwt_issuer), "the iss that a token must have"},
        {"auth.jwt.audience", ANNALS_TEXT(auth.jwt_audience), "the aud that a token must have"},
        {"auth.jwt.jwks_file", ANNALS_TEXT(auth.jwt_jwks_file), "keys of the issuer, from a file"},
        {"auth.jwt.jwks_url", ANNALS_TEXT(auth.jwt_jwks_url), "keys of the issuer, from a URL"},
        {"auth.jwt.leeway", ANNALS_DURATION(auth.jwt_leeway), "how far clocks may be apart"},
        {"auth.jwt.hs256_secret_file", ANNALS_TEXT(auth.jwt_hs256_secret_file),
         "shared secret for HS256 tokens"},
        {"auth.jwt.issuers",
         Issuers(ANNALS_FIELD(std::vector<Config::Auth::Issuer>, auth.jwt_issuers)),
         "more issuers: tables of issuer, audience, and jwks_file or jwks_url"},
        {"auth.introspection.url", ANNALS_TEXT(auth.introspection.url),
         "where is asked about tokens that are no JSON Web Tokens (RFC 7662)"},
        {"auth.introspection.client_id", ANNALS_TEXT(auth.introspection.client_id),
         "who asks there"},
        {"auth.introspection.client_secret_file",
         ANNALS_TEXT(auth.introspection.client_secret_file), "and its secret"},
        {"auth.introspection.audience", ANNALS_TEXT(auth.introspection.audience),
         "the aud that an answer must have"},
        {"auth.introspection.cache", ANNALS_DURATION(auth.introspection.cache),
         "how long an answer holds, at most until the token's exp"},
        {"auth.introspection.rate", Number{ANNALS_U64(auth.introspection.rate), 1, 100'000},
         "questions a second; a request that needs one more: 503"},
        {"auth.token_endpoint.clients_file", ANNALS_TEXT(auth.token_endpoint.clients_file),
         "TOML file of [[client]] entries, who get tokens of this server; empty: it gives none"},
        {"auth.token_endpoint.key_file", ANNALS_TEXT(auth.token_endpoint.key_file),
         "the private key that its tokens are signed with, PEM; empty: made at the start"},
        {"auth.token_endpoint.rate", Number{ANNALS_U64(auth.token_endpoint.rate), 1, 100'000},
         "requests for tokens a second of one address, more: 429"},
        {"auth.introspection.refused_rate",
         Number{ANNALS_U64(auth.introspection.refused_rate), 0, 100'000},
         "questions a second of one address that turn out to be about no good token, more: 429; "
         "0: no limit"},
        {"auth.api_keys_file", ANNALS_TEXT(auth.api_keys_file), "TOML file of [[key]] entries"},
        {"auth.public", ANNALS_TEXTS(auth.public_access),
         "what needs no credential: metadata, read, search, history"},
        {"auth.smart.authorization_endpoint", ANNALS_TEXT(auth.smart.authorization_endpoint),
         "told to clients: where users log in"},
        {"auth.smart.token_endpoint", ANNALS_TEXT(auth.smart.token_endpoint),
         "told to clients: where tokens are got"},
        {"auth.smart.introspection_endpoint", ANNALS_TEXT(auth.smart.introspection_endpoint),
         "told to clients"},
        {"auth.smart.revocation_endpoint", ANNALS_TEXT(auth.smart.revocation_endpoint),
         "told to clients"},
        {"auth.smart.management_endpoint", ANNALS_TEXT(auth.smart.management_endpoint),
         "told to clients"},
        {"auth.smart.registration_endpoint", ANNALS_TEXT(auth.smart.registration_endpoint),
         "told to clients"},
        {"auth.smart.scopes", ANNALS_TEXTS(auth.smart.scopes),
         "told to clients: scopes that the authorization server gives"},
        {"auth.smart.capabilities", ANNALS_TEXTS(auth.smart.capabilities),
         "told to clients: SMART capabilities of the authorization server"},
        {"allow_unauthenticated", ANNALS_FLAG(allow_unauthenticated),
         "listen beyond loopback without authentication"},
        {"tls.cert_file", ANNALS_TEXT(tls.cert_file), "certificate chain, PEM"},
        {"tls.key_file", ANNALS_TEXT(tls.key_file), "private key, PEM"},
        {"tls.client_ca_file", ANNALS_TEXT(tls.client_ca_file),
         "client certificates must be signed by these, PEM"},
        {"audit.file", ANNALS_TEXT(audit.file),
         "every access is written to this file; empty: to none"},
        {"audit.max_file", Size{ANNALS_U64(audit.max_bytes)},
         "a larger audit.file is put aside under the next number"},
        {"audit.when_full", Choice{ANNALS_FIELD(std::string, audit.when_full), "wait refuse"},
         "what requests do while no line can be written: wait, or 503"},
        {"audit.resources", ANNALS_FLAG(audit.resources),
         "every access becomes an AuditEvent resource as well"},
        {"subscriptions.enabled", ANNALS_FLAG(subscriptions.enabled),
         "activate Subscription resources and send their notifications"},
        {"subscriptions.endpoints", ANNALS_TEXTS(subscriptions.endpoints),
         "URLs below which rest-hooks may lie; none: no rest-hooks"},
        {"subscriptions.max", Number{ANNALS_U64(subscriptions.max), 1, 10'000},
         "active at a time; more are refused"},
        {"subscriptions.attempts", Number{ANNALS_U64(subscriptions.attempts), 1, 1000},
         "failures in a row after which a subscription has the status error"},
        {"subscriptions.retry_delay", ANNALS_DURATION(subscriptions.retry_delay),
         "before the second attempt; doubled with each, up to five minutes"},
        {"subscriptions.timeout", ANNALS_DURATION(subscriptions.timeout),
         "how long one attempt may take"},
        {"cors.origins", ANNALS_TEXTS(cors_origins), "origins that browsers may call from"},
        {"backup_dir", ANNALS_TEXT(backup_dir),
         "where $backup makes its backups; empty: backups in the data directory"},
        {"jobs.max_running", Number{ANNALS_U64(jobs_max_running), 1, 64},
         "exports, imports and the like under way at a time; more: 429"},
        {"jobs.keep", ANNALS_DURATION(jobs_keep),
         "how long after its end a job and its files are kept"},
        {"export.max_file", Size{ANNALS_U64(export_max_file), 1 << 10},
         "an export begins a new file where one would be larger"},
        {"import_dir", ANNALS_TEXT(import_dir),
         "where $import finds files; empty: import in the data directory"},
        {"packages_dir", ANNALS_TEXT(packages_dir),
         "where $install-package finds name#version.tgz; empty: packages in the data directory"},
    };
    return all;
}

#undef ANNALS_FIELD
#undef ANNALS_FLAG
#undef ANNALS_TEXT
#undef ANNALS_TEXTS
#undef ANNALS_DURATION
#undef ANNALS_U64

const Key* find_key(std::string_view name) {
    for (const Key& key : keys()) {
        if (key.name == name) {
            return &key;
        }
    }
    return nullptr;
}

// ---- values ----

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

constexpr Unit kDurationUnits[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
constexpr Unit kSizeUnits[] = {{"kB", 1000},
                               {"MB", 1000'000},
                               {"GB", 1000'000'000},
                               {"KiB", 1ULL << 10},
                               {"MiB", 1ULL << 20},
                               {"GiB", 1ULL << 30},
                               {"B", 1}};

// "250ms": digits, an optional blank, a unit.
std::optional<std::uint64_t> read_with_unit(std::string_view text, std::span<const Unit> units) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    std::uint64_t number = 0;
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
        const auto digit = static_cast<std::uint64_t>(text[digits] - '0');
        if (number > (kMax - digit) / 10) {
            return {};
        }
        number = number * 10 + digit;
        ++digits;
    }
    if (digits == 0) {
        return {};
    }
    text.remove_prefix(digits);
    if (text.starts_with(' ')) {
        text.remove_prefix(1);
    }
    for (const Unit& unit : units) {
        if (text == unit.name) {
            return number > kMax / unit.factor ? std::nullopt : std::optional(number * unit.factor);
        }
    }
    return {};
}

std::string in_units(std::uint64_t number, std::span<const Unit> units) {
    const Unit* best = nullptr;
    for (const Unit& unit : units) {
        if (number != 0 && number % unit.factor == 0 &&
            (best == nullptr || unit.factor > best->factor)) {
            best = &unit;
        }
    }
    return best == nullptr ? fmt::format("{}{}", number, units.front().name)
                           : fmt::format("{}{}", number / best->factor, best->name);
}

std::string kind_of(const Field& field) {
    struct Visitor {
        std::string operator()(Flag) const { return "true or false"; }

        std::string operator()(Text) const { return "a text"; }

        std::string operator()(Texts) const { return "a list of texts"; }

        std::string operator()(Duration) const {
            return "a duration such as \"60s\" (ms, s, m, h, d)";
        }

        std::string operator()(Issuers) const {
            return "a list of tables with issuer, audience, and jwks_file or jwks_url";
        }

        std::string operator()(const Number& number) const {
            return number.max == Number{nullptr}.max
                       ? fmt::format("an integer of at least {}", number.min)
                       : fmt::format("an integer from {} to {}", number.min, number.max);
        }

        std::string operator()(const Size& size) const {
            return fmt::format(
                "a size: an integer of bytes{}, or a text such as \"64MiB\"",
                size.min == 0 ? std::string() : fmt::format(", {} or more", size.min));
        }

        std::string operator()(const Choice& choice) const {
            std::string list(choice.choices);
            for (std::size_t at = list.find(' '); at != std::string::npos;
                 at = list.find(' ', at + 2)) {
                list.replace(at, 1, ", ");
            }
            return "one of " + list;
        }
    };

    return std::visit(Visitor{}, field);
}

// Puts a TOML value into its field; false if it is of the wrong type or out of range.
struct Assign {
    Config& config;
    const toml::node& node;

    std::optional<std::uint64_t> natural() const {
        const auto* integer = node.as_integer();
        if (integer == nullptr || integer->get() < 0) {
            return {};
        }
        return static_cast<std::uint64_t>(integer->get());
    }

    bool operator()(Flag field) const {
        const auto* value = node.as_boolean();
        if (value == nullptr) {
            return false;
        }
        field(config) = value->get();
        return true;
    }

    bool operator()(Text field) const {
        const auto* value = node.as_string();
        if (value == nullptr) {
            return false;
        }
        field(config) = value->get();
        return true;
    }

    bool operator()(Texts field) const {
        const auto* value = node.as_array();
        if (value == nullptr) {
            return false;
        }
        std::vector<std::string> texts;
        for (const toml::node& element : *value) {
            const auto* text = element.as_string();
            if (text == nullptr) {
                return false;
            }
            texts.push_back(text->get());
        }
        field(config) = std::move(texts);
        return true;
    }

    bool operator()(Duration field) const {
        const auto* text = node.as_string();
        if (text == nullptr) {
            return false;
        }
        const auto value = read_with_unit(text->get(), kDurationUnits);
        // A year at most: sums of durations and clocks must not overflow.
        if (!value || *value == 0 || *value > 366ULL * 86'400'000) {
            return false;
        }
        field(config) = Millis(*value);
        return true;
    }

    bool operator()(Issuers field) const {
        const auto* value = node.as_array();
        if (value == nullptr) {
            return false;
        }
        std::vector<Config::Auth::Issuer> issuers;
        for (const toml::node& element : *value) {
            const auto* table = element.as_table();
            if (table == nullptr) {
                return false;
            }
            Config::Auth::Issuer issuer;
            for (const auto& [name, member] : *table) {
                std::string* const text = name == "issuer"      ? &issuer.issuer
                                          : name == "audience"  ? &issuer.audience
                                          : name == "jwks_file" ? &issuer.jwks_file
                                          : name == "jwks_url"  ? &issuer.jwks_url
                                                                : nullptr;
                if (text == nullptr || !member.is_string()) {
                    return false;
                }
                *text = member.as_string()->get();
            }
            issuers.push_back(std::move(issuer));
        }
        field(config) = std::move(issuers);
        return true;
    }

    bool operator()(const Number& field) const {
        const auto value = natural();
        if (!value || *value < field.min || *value > field.max) {
            return false;
        }
        field.field(config) = *value;
        return true;
    }

    bool operator()(const Size& field) const {
        const auto* text = node.as_string();
        const auto value = text != nullptr ? read_with_unit(text->get(), kSizeUnits) : natural();
        if (!value || *value < field.min) {
            return false;
        }
        field.field(config) = *value;
        return true;
    }

    bool operator()(const Choice& field) const {
        const auto* value = node.as_string();
        if (value == nullptr || !is_choice(field.choices, value->get())) {
            return false;
        }
        field.field(config) = value->get();
        return true;
    }
};

Result<void> assign(Config& config, const Key& key, const toml::node& node,
                    std::string_view source) {
    if (!std::visit(Assign{config, node}, key.field)) {
        return usage(fmt::format("{}: {} must be {}", source, key.name, kind_of(key.field)));
    }
    return {};
}

Result<const Key*> known_key(std::string_view name, std::string_view source) {
    const Key* key = find_key(name);
    if (key == nullptr) {
        return usage(fmt::format("{}: unknown key '{}'", source, one_line(name)));
    }
    return key;
}

// ---- sources ----

Result<void> apply_table(Config& config, const toml::table& table, const std::string& prefix,
                         std::string_view source) {
    for (const auto& [name, node] : table) {
        const std::string full =
            prefix.empty() ? std::string(name.str()) : fmt::format("{}.{}", prefix, name.str());
        if (const toml::table* inner = node.as_table();
            inner != nullptr && find_key(full) == nullptr) {
            const std::string start = full + ".";
            const bool leads_somewhere =
                std::any_of(keys().begin(), keys().end(),
                            [&](const Key& key) { return key.name.starts_with(start); });
            if (!leads_somewhere) {
                return usage(fmt::format("{}: unknown key '{}'", source, one_line(full)));
            }
            ANNALS_TRY_VOID(apply_table(config, *inner, full, source));
            continue;
        }
        ANNALS_TRY(const Key* key, known_key(full, source));
        ANNALS_TRY_VOID(assign(config, *key, node, source));
    }
    return {};
}

Result<void> apply_file(Config& config, const std::string& path) {
    const Result<toml::table> table = read_toml(path);
    if (!table) {
        return usage(fmt::format("{}: {}", path, table.error().detail));
    }
    return apply_table(config, *table, "", path);
}

// What a number or date is for a key of texts.
enum class Bare : std::uint8_t { text, wrong };

// A TOML value, or else the text as it stands.
Result<void> apply_text(Config& config, const Key& key, std::string_view text,
                        std::string_view source, Bare bare) {
    // What does not fit on one line cannot be one TOML value, and must not become several keys.
    if (text.find('\n') == std::string_view::npos) {
        const Result<toml::table> parsed = parse_toml(fmt::format("value = {}", text));
        if (parsed) {
            if (const toml::node* node = parsed->get("value"); node != nullptr) {
                if (std::visit(Assign{config, *node}, key.field)) {
                    return {};
                }
                if (bare == Bare::wrong || node->is_string() || node->is_array() ||
                    node->is_boolean() || node->is_table()) {
                    return assign(config, key, *node, source);
                }
            }
        }
    }
    const toml::value<std::string> as_text{std::string(text)};
    return assign(config, key, as_text, source);
}

std::string environment_name(std::string_view key) {
    std::string out = "ANNALS_";
    for (const char c : key) {
        if (c == '.') {
            out += "__";
        } else {
            out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        }
    }
    return out;
}

Result<void> apply_environment(Config& config,
                               const std::vector<std::pair<std::string, std::string>>& variables) {
    for (const auto& [name, value] : variables) {
        const Key* found = nullptr;
        for (const Key& key : keys()) {
            if (environment_name(key.name) == name) {
                found = &key;
                break;
            }
        }
        if (found == nullptr) {
            return usage(fmt::format("environment: unknown key '{}'", one_line(name)));
        }
        // All that an environment has is text.
        ANNALS_TRY_VOID(apply_text(config, *found, value, name, Bare::text));
    }
    return {};
}

Result<void> apply_set(Config& config, std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        return usage(fmt::format("--set {}: expected KEY=VALUE", one_line(text)));
    }
    std::string_view name = text.substr(0, equals);
    while (name.ends_with(' ')) {
        name.remove_suffix(1);
    }
    ANNALS_TRY(const Key* key, known_key(name, "--set"));
    return apply_text(config, *key, text.substr(equals + 1), "--set", Bare::wrong);
}

}  // namespace

Result<Config> load_config(const ConfigSources& sources) {
    Config config;
    if (!sources.file.empty()) {
        ANNALS_TRY_VOID(apply_file(config, sources.file));
    }
    ANNALS_TRY_VOID(apply_environment(config, sources.environment));
    for (const std::string& set : sources.sets) {
        ANNALS_TRY_VOID(apply_set(config, set));
    }
    ANNALS_TRY_VOID(check_config(config));
    return config;
}

std::vector<std::pair<std::string, std::string>> config_environment() {
    std::vector<std::pair<std::string, std::string>> variables;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::size_t equals = text.find('=');
        // ANNALS_TEST_* is for the project's own tests and names no setting.
        if (text.starts_with("ANNALS_") && !text.starts_with("ANNALS_TEST_") &&
            equals != std::string_view::npos) {
            variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    return variables;
}

std::string describe_config() {
    struct Describe {
        Config& config;

        std::pair<std::string_view, std::string> operator()(Flag field) const {
            return {"flag", field(config) ? "true" : "false"};
        }

        std::pair<std::string_view, std::string> operator()(Text field) const {
            return {"text", fmt::format("\"{}\"", field(config))};
        }

        std::pair<std::string_view, std::string> operator()(Texts field) const {
            std::string list = "[";
            for (const std::string& text : field(config)) {
                list += fmt::format("{}\"{}\"", list.size() > 1 ? ", " : "", text);
            }
            return {"texts", list + "]"};
        }

        std::pair<std::string_view, std::string> operator()(Duration field) const {
            return {
                "duration",
                fmt::format("\"{}\"", in_units(static_cast<std::uint64_t>(field(config).count()),
                                               kDurationUnits))};
        }

        std::pair<std::string_view, std::string> operator()(Issuers) const {
            return {"tables", "[]"};
        }

        std::pair<std::string_view, std::string> operator()(const Number& field) const {
            return {"integer", fmt::format("{}", field.field(config))};
        }

        std::pair<std::string_view, std::string> operator()(const Size& field) const {
            return {"size", fmt::format("\"{}\"", in_units(field.field(config), kSizeUnits))};
        }

        std::pair<std::string_view, std::string> operator()(const Choice& field) const {
            return {"text", fmt::format("\"{}\"", field.field(config))};
        }
    };

    Config defaults;
    std::string out;
    for (const Key& key : keys()) {
        const auto [kind, value] = std::visit(Describe{defaults}, key.field);
        out += fmt::format("{} ({}, default {}): {}\n", key.name, kind, value, key.meaning);
    }
    return out;
}

}  // namespace annals::core
