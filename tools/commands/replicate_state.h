// ReplicateState: how far a replication has been acknowledged, in a small file.
//
// Layer:   tools.
// Format:  docs/replication.md, "The state file".
// Threads: one.

#pragma once

#include "core/base/result.h"
#include "storage/file_system.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace annals::tools {

/// Where to continue. Everything before `after` on the page `target` is in the other server.
struct ReplicateState {
    std::string from;
    std::string to;
    std::string target;                  ///< the page to request; empty: from the beginning
    std::optional<std::uint64_t> after;  ///< mark of the last acknowledged entry of that page

    bool operator==(const ReplicateState&) const = default;
};

/// Reserves `path` for this process as long as the result lives: two writers would overwrite each other's drafts. The lock is
/// a file beside it, `path`.lock, which stays. Errors: usage (another process has it), not_found, no_store, io.
Result<std::unique_ptr<storage::File>> lock_state(const std::string& path);

/// Reads `path`; none if it does not exist.
/// Errors: usage (it is not a state file, or belongs to another pair of servers).
Result<std::optional<ReplicateState>> read_state(const std::string& path, const std::string& from,
                                                 const std::string& to);

/// Whether write_state() could create its file. Errors: no_store, io.
Result<void> check_state_place(const std::string& path);

/// Replaces `path` atomically. Errors: no_store, io.
Result<void> write_state(const std::string& path, const ReplicateState& state);

/// The value of `_cursor` in a target; empty if it has none.
std::string cursor_of(const std::string& target);

}  // namespace annals::tools
