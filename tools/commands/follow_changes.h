// Replication from the change feed of another Annals: commit by commit, starting after the last position reached.
//
// Layer:   tools (replicate).
// Spec:    docs/replication.md, docs/api/changes.md.
// Threads: one; another one reads the next page while one is being applied.

#pragma once

#include "core/base/result.h"
#include "tools/commands/history_submitter.h"
#include "tools/commands/http_client.h"
#include "tools/commands/replicate_state.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::tools {

/// One page of the feed. Lifetime: entries point into `body`; the page may be moved.
struct ChangePage {
    std::unique_ptr<std::string> body;
    std::vector<std::string_view> entries;  ///< of a history Bundle, oldest first
    std::vector<std::uint64_t> commits;     ///< for each entry, the end of its commit
    std::uint64_t position = 0;  ///< how far the page goes: its last version, if it has any
    std::uint64_t newest = 0;    ///< of the server
};

/// Parses a response of the feed; if it was cut off, its complete lines. Errors: processing (it isn't one).
Result<ChangePage> read_change_page(HttpReply reply);

/// Whether `server` is an Annals whose change feed we may read. Errors: io, timeout.
Result<bool> has_change_feed(const ServerUrl& server, const Patience& patience);

/// Converts a position of the feed to ReplicateState::target and back.
std::string change_target(std::uint64_t position);
std::optional<std::uint64_t> position_of(std::string_view target);

struct FollowOptions {
    std::string state_file;
    std::uint64_t page_size = 1000;
    std::uint64_t page_bytes_max = 64 << 20;  ///< see HistoryReader
    bool follow = false;                      ///< wait for later changes
    bool quiet = false;
    Patience patience;
};

/// Submits what the feed of `from` has after state.target, until there is no more or, with `follow`, until it is told to
/// stop. The state advances once what it covers is durable. Errors: as HistorySubmitter::submit(), and processing (also if the
/// source ends before the position already reached).
Result<void> follow_changes(const ServerUrl& from, HistorySubmitter& submitter,
                            const FollowOptions& options, ReplicateState& state,
                            ReplicateCounts& counts);

}  // namespace annals::tools
