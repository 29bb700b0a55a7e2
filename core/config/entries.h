// Entries: what a TOML file of `[[name]]` tables and nothing else says, each table with an id of its own.
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
    std::map<std::string, std::string> texts;  ///< the other members that are there
};

/// Reads the `[[name]]` tables of `file`: each has `id` and `scopes` (a list of texts), besides texts of `members`.
///
/// Errors: usage: one line that names `setting`, the file and what is wrong.
Result<std::vector<Entry>> read_entries(std::string_view setting, const std::string& file,
                                        std::string_view name,
                                        std::span<const std::string_view> members);

/// `why` with the setting and the file before it.
Error entries_fault(std::string_view setting, const std::string& file, std::string_view why);

}  // namespace annals::core
