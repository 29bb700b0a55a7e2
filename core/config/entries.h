// Entries: reads a TOML file that consists of `[[name]]` tables only, each with a unique id.
//
// Layer:   core/config.
// Threads: plain functions.

#pragma once

#include "core/base/result.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

struct Entry {
    std::string id;
    std::string scopes;                        ///< separated by blanks
    std::map<std::string, std::string> texts;  ///< the other members that are present
};

/// Reads the `[[name]]` tables of `file`. Each has `id` and `scopes` (a list of strings), and may have the strings in
/// `members`.
///
/// Errors: usage: one line that names `setting`, the file and the fault.
Result<std::vector<Entry>> read_entries(std::string_view setting, const std::string& file,
                                        std::string_view name,
                                        std::span<const std::string_view> members);

/// An error that names the setting, the file and `why`.
Error entries_fault(std::string_view setting, const std::string& file, std::string_view why);

}  // namespace annals::core
