// HistorySubmitter: puts history entries into a server, and counts what became of them.
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
    std::uint64_t ignored = 0;  ///< there already
    std::uint64_t missing = 0;  ///< ignored, too, but not there
    std::uint64_t conflicts = 0;
    std::uint64_t refused = 0;
};

/// Submits entries to the server that is to follow.
class HistorySubmitter {
  public:
    HistorySubmitter(ServerUrl server, Patience patience)
        : client_(std::move(server)), patience_(std::move(patience)) {}

    /// Returns when all entries are durable there, ignored or refused. `reached` is the position of the source up to which
    /// it has everything then; 0: not known.
    /// Errors: io, timeout, processing (the request was refused as a whole).
    Result<void> submit(std::span<const std::string_view> entries, ReplicateCounts& counts,
                        std::uint64_t reached = 0);

    /// Says where the source stands, without entries. A server that can't make anything of it may refuse.
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
    std::size_t entries_max_ = std::numeric_limits<std::size_t>::max();  ///< learnt from 413
    std::size_t refused_bytes_ = 0;  ///< of the Bundle that was answered so last
};

}  // namespace annals::tools
