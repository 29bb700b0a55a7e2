#include "core/config/config.h"

#include "core/config/config_checks.h"
#include "core/config/keys.h"
#include "core/config/toml.h"

#include <fmt/format.h>

#include <cctype>

extern char** environ;

namespace annals::core {

namespace {

using settings::Key;

/// The first key that begins with `name` and a dot; null if `name` is no table.
const Key* first_key_below(std::string_view name) {
    for (const Key& key : settings::keys()) {
        if (key.name.starts_with(name) && key.name.substr(name.size()).starts_with('.')) {
            return &key;
        }
    }
    return nullptr;
}

Result<const Key*> known_key(std::string_view name, std::string_view source) {
    const Key* key = settings::find_key(name);
    if (key == nullptr) {
        if (const Key* const below = first_key_below(name)) {
            return usage(fmt::format("{}: {} must be a table of keys, such as {}", source, name,
                                     below->name));
        }
        return usage(fmt::format("{}: unknown key '{}'", source, one_line(name)));
    }
    return key;
}

Result<void> apply_table(Config& config, const toml::table& table, const std::string& prefix,
                         std::string_view source) {
    for (const auto& [name, node] : table) {
        const std::string full =
            prefix.empty() ? std::string(name.str()) : fmt::format("{}.{}", prefix, name.str());
        if (const toml::table* inner = node.as_table();
            inner != nullptr && first_key_below(full) != nullptr) {
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

// How a bare number or date is read for a key of type text.
enum class Bare : std::uint8_t { text, wrong };

// Reads `text` as a TOML value, or else as a plain string.
Result<void> apply_text(Config& config, const Key& key, std::string_view text,
                        std::string_view source, Bare bare) {
    // Text with a line break is no single TOML value, and must not be able to set further keys.
    if (text.find('\n') == std::string_view::npos) {
        const Result<toml::table> parsed = parse_toml(fmt::format("value = {}", text));
        if (parsed) {
            if (const toml::node* node = parsed->get("value"); node != nullptr) {
                if (try_assign(config, key, *node)) {
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
        for (const Key& key : settings::keys()) {
            if (environment_name(key.name) == name) {
                found = &key;
                break;
            }
        }
        if (found == nullptr) {
            return usage(fmt::format("environment: unknown key '{}'", one_line(name)));
        }
        // Environment variables are always text.
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
        // ANNALS_TEST_* is reserved for the project's own tests.
        if (text.starts_with("ANNALS_") && !text.starts_with("ANNALS_TEST_") &&
            equals != std::string_view::npos) {
            variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    return variables;
}

std::string describe_config() {
    Config defaults;
    std::string out;
    for (const Key& key : settings::keys()) {
        const auto [kind, value] = describe(key, defaults);
        out += fmt::format("{} ({}, default {}): {}\n", key.name, kind, value, key.meaning);
    }
    return out;
}

}  // namespace annals::core
