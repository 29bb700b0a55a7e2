// ReplicateState: how far a replication has been acknowledged, kept in a small file.
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

/// Where to go on. Everything before `after` on the page `target` is in the other server.
struct ReplicateState {
    std::string from;
    std::string to;
    std::string target;  ///< the page to ask for; empty: from the beginning
    std::optional<std::uint64_t>
        after;  ///< mark of the last entry of that page that was acknowledged

    bool operator==(const ReplicateState&) const = default;
};

/// Keeps `path` to this process as long as the result lives: two that write it would take each other's drafts. What is locked is
/// a file beside it, `path`.lock, which stays. Errors: usage (another process has it), not_found, no_store, io.
Result<std::unique_ptr<storage::File>> lock_state(const std::string& path);

/// Reads `path`; none if it is not there.
/// Errors: usage (it is no state file, or one of another pair of servers).
Result<std::optional<ReplicateState>> read_state(const std::string& path, const std::string& from,
                                                 const std::string& to);

/// Whether write_state() could make a file there. Errors: no_store, io.
Result<void> check_state_place(const std::string& path);

/// Replaces `path` atomically. Errors: no_store, io.
Result<void> write_state(const std::string& path, const ReplicateState& state);

/// The value of `_cursor` in a target; empty if it has none.
std::string cursor_of(const std::string& target);

}  // namespace annals::tools
