#include "core/config/entries.h"

#include "core/config/config_checks.h"
#include "core/config/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

namespace annals::core {

namespace {

/// The fault in `table`; none if it is valid.
std::optional<std::string> read_entry(const toml::table& table, std::string_view name,
                                      std::span<const std::string_view> members, Entry& entry) {
    entry.id = table["id"].value_or(std::string());
    if (entry.id.empty()) {
        return fmt::format("a {} has no id", name);
    }
    const toml::array* const scopes = table["scopes"].as_array();
    if (scopes == nullptr ||
        (!scopes->empty() && !scopes->is_homogeneous(toml::node_type::string))) {
        return fmt::format("scopes of the {} '{}' must be a list of strings", name,
                           one_line(entry.id));
    }
    for (const toml::node& scope : *scopes) {
        entry.scopes += scope.value_or(std::string()) + ' ';
    }
    for (const auto& [member, value] : table) {
        if (member == "id" || member == "scopes") {
            continue;
        }
        if (std::find(members.begin(), members.end(), member.str()) == members.end()) {
            return fmt::format("the {} '{}' has an unknown member '{}'", name, one_line(entry.id),
                               one_line(member.str()));
        }
        if (!value.is_string()) {
            return fmt::format("{} of the {} '{}' must be a string", member.str(), name,
                               one_line(entry.id));
        }
        entry.texts.emplace(member.str(), value.value_or(std::string()));
    }
    return {};
}

}  // namespace

Error entries_fault(std::string_view setting, const std::string& file, std::string_view why) {
    return usage(fmt::format("{}: {}: {}", setting, file, why));
}

Result<std::vector<Entry>> read_entries(std::string_view setting, const std::string& file,
                                        std::string_view name,
                                        std::span<const std::string_view> members) {
    std::error_code ignored;
    // The file is read again when it changes; a pipe can be read only once.
    if (std::filesystem::is_fifo(file, ignored)) {
        return entries_fault(setting, file, "it is a pipe");
    }
    const Result<toml::table> parsed = read_toml(file);
    if (!parsed) {
        return entries_fault(setting, file, parsed.error().detail);
    }
    const std::string no_list = fmt::format("it must have [[{}]] entries and nothing else", name);
    const toml::table& root = *parsed;
    const toml::array* const list = root[name].as_array();
    if (list == nullptr || root.size() != 1) {
        return entries_fault(setting, file, no_list);
    }
    std::vector<Entry> entries;
    std::set<std::string> seen;
    for (const toml::node& node : *list) {
        const toml::table* const table = node.as_table();
        if (table == nullptr) {
            return entries_fault(setting, file, no_list);
        }
        Entry entry;
        if (const auto fault = read_entry(*table, name, members, entry)) {
            return entries_fault(setting, file, *fault);
        }
        if (!seen.insert(entry.id).second) {
            return entries_fault(
                setting, file, fmt::format("the {} '{}' appears twice", name, one_line(entry.id)));
        }
        entries.push_back(std::move(entry));
    }
    return entries;
}

}  // namespace annals::core
