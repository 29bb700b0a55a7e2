// HistoryReader: another server's system history, oldest first, page by page.
//
// Layer:   tools.
// Spec:    FHIR R4 http.html#history; spec.md's `_sort` and `_cursor`.
// Threads: one at a time.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"
#include "tools/commands/http_client.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace annals::tools {

/// One page. Lifetime: the entries point into `document`.
struct HistoryPage {
    std::string
        target;  ///< what was asked for: asking again gives this page, perhaps grown at its end
    std::string next;  ///< what to ask for next; empty if nothing follows yet
    std::optional<std::uint64_t> total;
    json::Document document;
    std::vector<std::string_view> entries;  ///< each as it stands, minified; no remarks
};

/// Whether an entry is no version but what a server has to say beside them: that it lowered `_count`, say.
bool is_remark(json::Value entry);

/// What a history entry is recognised by when a page is read again.
std::uint64_t entry_mark(std::string_view entry) noexcept;

class HistoryReader {
  public:
    /// A page of more than `page_bytes_max`, which is in memory as a whole, is asked for again with half the `_count`, down to
    /// one version, which may have more. What follows small pages is asked for with twice as much, up to what it was.
    HistoryReader(ServerUrl server, Patience patience, std::uint64_t page_bytes_max = 64 << 20,
                  std::uint64_t version_bytes_max = 1 << 30);

    /// The target that history begins with: after `since` (a cursor, an instant, or empty), in commit
    /// order where the server knows `_sort=_position`, else by `_sort=_lastUpdated`. Where it knows that, read() refuses
    /// a cursor of another order.
    ///
    /// Errors: processing (the server keeps to another order, or no entry of its first page can be used), and as read().
    Result<std::string> first_target(std::string_view since, std::size_t page_size);

    /// Reads one page; its `target` is what was asked for in the end.
    /// Errors: io, timeout (after patience), body_too_large (a single version is), invalid (400: it can't make anything of the target), processing (an
    ///         answer that is no history page, or an entry doesn't say which version it is, or its next page is itself or was read before it). The detail
    ///         has the outcome's diagnostics.
    Result<HistoryPage> read(std::string target);

    /// How many versions the server's history has; none if it does not say, or takes no `_count=0`. Cheap: asks for no entry.
    /// Errors: as read().
    Result<std::optional<std::uint64_t>> total();

  private:
    /// The answer to `target`, which asks for less than before where that was too much, and what it parses to. One that begins
    /// with an object and doesn't parse is asked for again, as patience allows.
    Result<HttpReply> ask(std::string& target, Result<json::Document>& document);

    /// Whether the server that gave `bundle` for `_sort=_position` knows that order.
    Result<bool> is_by_position(json::Value bundle);

    Result<std::string> cursor_target(std::string_view cursor, std::size_t page_size);

    /// What the page at `target` says to ask for next; empty: nothing. `asked`: what was asked for first.
    /// Errors: processing (it is no URL, or leads round).
    Result<std::string> next_of(json::Value bundle, const std::string& asked,
                                const std::string& target);

    HttpClient client_;
    Patience patience_;
    std::uint64_t page_bytes_max_;
    std::unordered_map<std::uint64_t, std::size_t>
        places_;  ///< of the pages that were read, by their targets' hashes: ascending as they came
    json::Parser parser_{kJsonWrappedDepthMax};
    std::uint64_t version_bytes_max_;
    int halvings_ = 0;  ///< of the `_count` that were not taken back yet
};

}  // namespace annals::tools
