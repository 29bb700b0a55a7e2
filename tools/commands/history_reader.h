// HistoryReader: reads another server's system history, oldest first, page by page.
//
// Layer:   tools.
// Spec:    FHIR R4 http.html#history; docs/api/history.md, `_sort` and `_cursor`.
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
    std::string target;  ///< of this page: asking again returns it, perhaps with more at its end
    std::string next;    ///< of the next page; empty if nothing follows yet
    std::optional<std::uint64_t> total;
    json::Document document;
    std::vector<std::string_view> entries;  ///< each one's JSON, minified; without remarks
};

/// Whether an entry is not a version but a remark of the server: that it lowered `_count`, say.
bool is_remark(json::Value entry);

/// Identifies a history entry when a page is read again.
std::uint64_t entry_mark(std::string_view entry) noexcept;

class HistoryReader {
  public:
    /// Pages are kept in memory. One of more than `page_bytes_max` is requested again with half the `_count`, down to
    /// one version, which may be larger. After small pages, `_count` is doubled again, up to its original value.
    HistoryReader(ServerUrl server, Patience patience, std::uint64_t page_bytes_max = 64 << 20,
                  std::uint64_t version_bytes_max = 1 << 30);

    /// The target of the first page: after `since` (a cursor, an instant, or empty), in commit
    /// order if the server supports `_sort=_position`, else by `_sort=_lastUpdated`. If it supports that, read() refuses
    /// a cursor of another order.
    ///
    /// Errors: processing (the server uses another order, or no entry of its first page is usable), and as read().
    Result<std::string> first_target(std::string_view since, std::size_t page_size);

    /// Reads one page; its `target` is the one that was requested last.
    /// Errors: io, timeout (after patience), body_too_large (of a single version), invalid (400: the server doesn't understand the target,
    ///         or the page is newest first), processing (the reply is not a history page, an entry doesn't say which version it is, or the
    ///         next page is this one or was read before). The detail includes the outcome's diagnostics.
    Result<HistoryPage> read(std::string target);

    /// The number of versions in the server's history; none if it does not say or refuses `_count=0`. Cheap: no entries.
    /// Errors: io, timeout (after patience), body_too_large, processing (the reply is not a history page).
    Result<std::optional<std::uint64_t>> total();

    /// The entry_mark() of the newest version; none if the history is empty or the server refuses such a page. For servers
    /// without a total. Errors: as total().
    Result<std::optional<std::uint64_t>> newest();

  private:
    /// The reply to `target`, whose `_count` is lowered if the reply is too large, and its parsed document. An empty reply, or
    /// one that begins with an object but doesn't parse, is requested again, as patience allows.
    Result<HttpReply> ask(std::string& target, Result<json::Document>& document);

    /// ask(), of which only a history is accepted. Errors: invalid (400), processing (anything else that is none), and as ask().
    Result<HttpReply> ask_history(std::string& target, json::Document& history);

    /// The first page in the server's own order, which it may return whole, and whose links are not followed; none if it
    /// refuses that (400).
    Result<std::optional<json::Document>> small_page(int count);

    /// Whether the server that returned `bundle` for `_sort=_position` knows that order.
    Result<bool> is_by_position(json::Value bundle);

    Result<std::string> cursor_target(std::string_view cursor, std::size_t page_size);

    /// The target of the page after the one at `target`; empty: none. `asked`: the target requested first.
    /// Errors: processing (the link is not a URL, or leads back to an earlier page).
    Result<std::string> next_of(json::Value bundle, const std::string& asked,
                                const std::string& target);

    HttpClient client_;
    Patience patience_;
    std::uint64_t page_bytes_max_;
    /// Of the pages that were read, by the hashes of their targets: increasing in the order read.
    std::unordered_map<std::uint64_t, std::size_t> places_;
    json::Parser parser_{kJsonWrappedDepthMax};
    std::uint64_t version_bytes_max_;
    int halvings_ = 0;  ///< of `_count`, not undone yet
};

}  // namespace annals::tools
