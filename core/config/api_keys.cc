#include "core/config/api_keys.h"

#include "core/config/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace annals::core {

namespace {

constexpr std::size_t kDigestChars = 64;

Error fault(const std::string& file, std::string_view why) {
    return {Errc::usage, fmt::format("auth.api_keys_file: {}: {}", file, why), ""};
}

Result<ApiKey> read_key(const std::string& file, const toml::table& table) {
    ApiKey key;
    key.id = table["id"].value_or(std::string());
    key.sha256 = table["sha256"].value_or(std::string());
    if (key.id.empty()) {
        return fault(file, "a key has no id");
    }
    std::transform(key.sha256.begin(), key.sha256.end(), key.sha256.begin(),
                   [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c; });
    if (key.sha256.size() != kDigestChars ||
        key.sha256.find_first_not_of("0123456789abcdef") != std::string::npos) {
        return fault(file, fmt::format("sha256 of the key '{}' must be 64 hex digits", key.id));
    }
    const toml::array* const scopes = table["scopes"].as_array();
    if (scopes == nullptr ||
        (!scopes->empty() && !scopes->is_homogeneous(toml::node_type::string))) {
        return fault(file, fmt::format("scopes of the key '{}' must be a list of texts", key.id));
    }
    for (const toml::node& scope : *scopes) {
        key.scopes += scope.value_or(std::string()) + ' ';
    }
    for (const auto& [name, value] : table) {
        if (name != "id" && name != "sha256" && name != "scopes") {
            return fault(file, fmt::format("the key '{}' has an unknown '{}'", key.id, name.str()));
        }
    }
    return key;
}

}  // namespace

Result<std::vector<ApiKey>> read_api_keys(const std::string& file) {
    const toml::parse_result parsed = toml::parse_file(file);
    if (!parsed) {
        return fault(file, fmt::format("line {}: {}", parsed.error().source().begin.line,
                                       std::string_view(parsed.error().description())));
    }
    const toml::table& root = parsed.table();
    const toml::array* const list = root["key"].as_array();
    if (list == nullptr || root.size() != 1) {
        return fault(file, "it must have [[key]] entries and nothing else");
    }
    std::vector<ApiKey> keys;
    std::set<std::string> seen;
    for (const toml::node& node : *list) {
        const toml::table* const table = node.as_table();
        if (table == nullptr) {
            return fault(file, "it must have [[key]] entries and nothing else");
        }
        ANNALS_TRY(ApiKey key, read_key(file, *table));
        if (!seen.insert(key.id).second || !seen.insert(key.sha256).second) {
            return fault(file, fmt::format("the key '{}' is there twice", key.id));
        }
        keys.push_back(std::move(key));
    }
    return keys;
}

}  // namespace annals::core
