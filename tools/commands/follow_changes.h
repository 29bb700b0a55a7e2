// Replication by the change feed of another Annals: commit by commit, from the position that was reached.
//
// Layer:   tools (replicate).
// Spec:    docs/replication.md, docs/api/changes.md.
// Threads: one; the next page is read by another while one is being applied.

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

/// What the feed gave at once. Lifetime: entries point into `body`; it may be moved.
struct ChangePage {
    std::unique_ptr<std::string> body;
    std::vector<std::string_view> entries;  ///< of a history Bundle, oldest first
    std::vector<std::uint64_t> commits;     ///< of each entry: where its commit ends
    std::uint64_t position = 0;  ///< what the page reaches: its last version, if it has any
    std::uint64_t newest = 0;    ///< of the server
};

/// Takes an answer of the feed apart; of one that was cut off the whole lines. Errors: processing (it is none).
Result<ChangePage> read_change_page(HttpReply reply);

/// Whether `server` is an Annals whose change feed we may read. Errors: io, timeout.
Result<bool> has_change_feed(const ServerUrl& server, const Patience& patience);

/// ReplicateState::target for a position of the feed, and back.
std::string change_target(std::uint64_t position);
std::optional<std::uint64_t> position_of(std::string_view target);

struct FollowOptions {
    std::string state_file;
    std::uint64_t page_size = 1000;
    std::uint64_t page_bytes_max = 64 << 20;  ///< as HistoryReader has it
    bool follow = false;                      ///< go on with what is written later
    bool quiet = false;
    Patience patience;
};

/// Submits what the feed of `from` has after state.target, until there is no more or, with `follow`, until it is told to
/// stop. The state moves on when what it speaks of is durable. Errors: as HistorySubmitter::submit(), and processing (also for a
/// source that ends before where it was read up to).
Result<void> follow_changes(const ServerUrl& from, HistorySubmitter& submitter,
                            const FollowOptions& options, ReplicateState& state,
                            ReplicateCounts& counts);

}  // namespace annals::tools
