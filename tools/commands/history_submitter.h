// HistorySubmitter: submits history entries to a server, and counts what became of them.
//
// Layer:   tools (replicate).
// Threads: one at a time.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"
#include "tools/commands/bundle_answers.h"
#include "tools/commands/http_client.h"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::tools {

/// What became of entries.
struct ReplicateCounts {
    std::uint64_t sent = 0;
    /// There already, if only since the same bundle was submitted before.
    std::uint64_t ignored = 0;
    std::uint64_t missing = 0;  ///< also ignored, but not there
    std::uint64_t conflicts = 0;
    std::uint64_t refused = 0;

    std::uint64_t stored() const noexcept { return sent - ignored - missing - conflicts - refused; }
};

/// Submits entries to the target server.
class HistorySubmitter {
  public:
    HistorySubmitter(ServerUrl server, Patience patience)
        : client_(std::move(server)), patience_(std::move(patience)) {}

    /// Returns when all entries are durable there, ignored or refused. `reached`: the source's position up to which the
    /// target then has everything; 0: unknown.
    /// Errors: io, timeout, processing (the whole request was refused).
    Result<void> submit(std::span<const std::string_view> entries, ReplicateCounts& counts,
                        std::uint64_t reached = 0);

    /// Reports the source's position, without entries. A server that doesn't understand this may refuse it.
    void tell(std::uint64_t reached);

  private:
    Result<void> submit_bundle(std::span<const std::string_view> entries, ReplicateCounts& counts,
                               std::uint64_t reached);
    HttpRequest request_of_body(std::uint64_t reached) const;
    Result<void> count_answers(std::span<const std::string_view> entries,
                               const std::vector<EntryAnswer>& answers, ReplicateCounts& counts);

    HttpClient client_;
    Patience patience_;
    json::Parser parser_{kJsonWrappedDepthMax};
    std::string body_;
    std::size_t entries_max_ = std::numeric_limits<std::size_t>::max();  ///< learned from refusals
    std::size_t refused_bytes_ = 0;  ///< size of the last Bundle that was too much at once
};

}  // namespace annals::tools
