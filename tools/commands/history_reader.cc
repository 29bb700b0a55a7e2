#include "tools/commands/history_reader.h"

#include "core/base/digest.h"
#include "core/base/instant.h"
#include "core/interactions/history_bundle_entry.h"
#include "core/target.h"
#include "tools/commands/bundle_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace annals::tools {

namespace {

constexpr std::string_view kLacksVersion = "an entry does not state its version";
constexpr std::string_view kNewestFirst =
    "it ignores _sort and returns the newest versions first; its pages can be saved and imported "
    "with 'annals import'";

std::string link_url(json::Value bundle, std::string_view relation) {
    for (const json::Value link : bundle["link"].elements()) {
        if (link["relation"].equals(relation)) {
            return link["url"].string();
        }
    }
    return {};
}

constexpr std::string_view kCount = "_count=";

/// How many entries `target` requests; 0: not specified.
std::uint64_t count_of(std::string_view target) {
    const std::size_t at = target.find(kCount);
    std::uint64_t count = 0;
    if (at != std::string_view::npos) {
        std::from_chars(target.data() + at + kCount.size(), target.data() + target.size(), count);
    }
    return count;
}

/// Sets the number of entries that `target` requests; it must have one.
void set_count(std::string& target, std::uint64_t count) {
    const std::size_t at = target.find(kCount) + kCount.size();
    const std::size_t end = target.find_first_not_of("0123456789", at);
    target.replace(at, end == std::string::npos ? end : end - at, fmt::format("{}", count));
}

/// The target on `server` of the page at `link`. Behind a proxy, or due to its `base_url`, the server may know its root by
/// another path.
std::string target_of_page(std::string_view link, std::string_view asked, const ServerUrl& server) {
    constexpr std::string_view kHistory = "/_history";
    std::string target = request_target(link, asked);
    const std::string_view path = std::string_view(target).substr(0, target.find('?'));
    if (path.ends_with(kHistory)) {
        target.replace(0, path.size() - kHistory.size(), server.base_path);
    }
    return target;
}

bool says_order(json::Value bundle, std::string_view order) {
    return link_url(bundle, "self").find("_sort=" + std::string(order)) != std::string::npos;
}

/// The order of a page's entries.
struct Order {
    bool ascends = false;      ///< an instant is later than the one before
    bool descends = false;     ///< or earlier
    bool newer_first = false;  ///< a version comes before an older one of the same resource
};

Order order_of(json::Value bundle) {
    Order order;
    std::optional<Instant> previous;
    std::map<std::pair<TypeId, std::string>, VersionNumber> newest;
    core::HistoryEntry read;
    for (const json::Value entry : bundle["entry"].elements()) {
        if (core::read_history_entry(entry, read) && read.version) {
            VersionNumber& before = newest[{read.type, read.id}];
            order.newer_first |= *read.version < before;
            before = *read.version;
        }
        const auto instant = parse_instant(entry["resource"]["meta"]["lastUpdated"].string());
        if (!instant) {
            continue;
        }
        order.ascends |= previous && *instant > *previous;
        order.descends |= previous && *instant < *previous;
        previous = *instant;
    }
    return order;
}

/// Some servers ignore a `_sort` that they don't know and answer newest first, and some of these repeat in the self link
/// what was requested instead of what they did. The instants show it or, if these are equal, the versions. (If a clock was
/// set back, version numbers may run against the instants.)
bool is_by_instant(json::Value bundle) {
    if (bundle["entry"].size() < 2) {
        return says_order(bundle, "_lastUpdated");
    }
    const Order order = order_of(bundle);
    return !order.descends && (order.ascends || !order.newer_first);
}

/// Whether no part of a page is in the requested order by instants.
bool gives_newest_first(json::Value bundle) {
    const Order order = order_of(bundle);
    return !order.ascends && (order.descends || order.newer_first);
}

std::optional<std::uint64_t> total_of(json::Value bundle) {
    const std::string_view text = bundle["total"].raw();
    if (text.empty()) {
        return std::nullopt;
    }
    std::uint64_t total = 0;
    std::from_chars(text.data(), text.data() + text.size(), total);
    return total;
}

/// Whether an entry doesn't say which version it is: sent twice, it would become two, and a deletion would delete what was
/// written after it.
bool lacks_version(json::Value bundle) {
    core::HistoryEntry read;
    for (const json::Value entry : bundle["entry"].elements()) {
        if (core::read_history_entry(entry, read) && !read.version) {
            return true;
        }
    }
    return false;
}

/// Why none of the versions is usable; empty if one is, or there are none.
std::string why_unusable(json::Value bundle) {
    core::HistoryEntry read;
    std::string why;
    for (const json::Value entry : bundle["entry"].elements()) {
        if (is_remark(entry)) {
            continue;
        }
        const auto usable = core::read_history_entry(entry, read);
        if (usable) {
            return {};
        }
        why = "none of the entries can be used: " + usable.error().detail;
    }
    return why;
}

}  // namespace

bool is_remark(json::Value entry) {
    return entry["search"]["mode"].equals("outcome");
}

std::uint64_t entry_mark(std::string_view entry) noexcept {
    return hash64(entry);
}

HistoryReader::HistoryReader(ServerUrl server, Patience patience, std::uint64_t page_bytes_max,
                             std::uint64_t version_bytes_max)
    : client_(std::move(server)),
      patience_(std::move(patience)),
      page_bytes_max_(page_bytes_max),
      version_bytes_max_(version_bytes_max) {
}

Result<std::string> HistoryReader::first_target(std::string_view since, std::size_t page_size) {
    std::string from;
    if (parse_date_time(since)) {
        from = "&_since=" + core::percent_encode(since);
    } else if (!since.empty()) {
        return cursor_target(since, page_size);
    }
    std::string refusal;
    for (const std::string_view order : {"_position", "_lastUpdated"}) {
        halvings_ = 0;  // those of an order that was ignored don't count
        std::string target = fmt::format("{}/_history?_sort={}&_count={}{}",
                                         client_.server().base_path, order, page_size, from);
        Result<json::Document> document = json::Document();
        ANNALS_TRY(const HttpReply reply, ask(target, document));
        if (reply.status == 200) {
            if (!document || !document->root()["type"].equals("history")) {
                refusal = "the response is not a history Bundle";
                break;
            }
            ANNALS_TRY(const bool kept, order == "_position"
                                            ? is_by_position(document->root())
                                            : Result<bool>(is_by_instant(document->root())));
            if (!kept) {
                refusal = kNewestFirst;
            } else if (lacks_version(document->root())) {
                refusal = kLacksVersion;
            } else if (order != "_position") {  // one of our own entries may be damaged
                refusal = why_unusable(document->root());
            } else {
                refusal.clear();
            }
            if (refusal.empty()) {
                return target;
            }
        } else {
            refusal = fmt::format("status {}: {}", reply.status, outcome_text(parser_, reply.body));
            if (reply.status / 100 != 4 && reply.status != 501) {
                break;
            }
        }
    }
    return Error{
        Errc::processing,
        fmt::format("{} does not return its system history version by version and oldest first: {}",
                    client_.server().text(), refusal)};
}

Result<bool> HistoryReader::is_by_position(json::Value bundle) {
    if (!says_order(bundle, "_position")) {
        return false;
    }
    // Instants don't prove commit order, since a store keeps those of other servers. A server that accepts an unknown order has
    // ignored this one, too.
    HttpRequest request;
    request.target =
        fmt::format("{}/_history?_sort=_no_such_order&_count=0", client_.server().base_path);
    ANNALS_TRY(const HttpReply reply, client_.send_patiently(request, patience_));
    return reply.status / 100 == 4;
}

Result<std::string> HistoryReader::cursor_target(std::string_view cursor, std::size_t page_size) {
    // A cursor includes its order. If commit order is requested with it, servers that know this order refuse cursors of
    // another one, which would miss versions; others are sent nothing that they don't know.
    HttpRequest request;
    request.target =
        fmt::format("{}/_history?_sort=_position&_count=1", client_.server().base_path);
    ANNALS_TRY(const HttpReply reply, client_.send_patiently(request, patience_));
    bool by_position = false;
    if (reply.status == 200) {
        ANNALS_TRY(const json::Document document, parser_.parse(reply.body));
        ANNALS_TRY(by_position, is_by_position(document.root()));
    }
    return fmt::format("{}/_history?{}_count={}&_cursor={}", client_.server().base_path,
                       by_position ? "_sort=_position&" : "", page_size,
                       core::percent_encode(cursor));
}

Result<std::optional<std::uint64_t>> HistoryReader::total() {
    ANNALS_TRY(const auto page, small_page(0));
    return page ? total_of(page->root()) : std::nullopt;
}

Result<std::optional<std::uint64_t>> HistoryReader::newest() {
    ANNALS_TRY(const auto page, small_page(1));
    if (page) {
        for (const json::Value entry : page->root()["entry"].elements()) {
            if (!is_remark(entry)) {
                return std::optional(entry_mark(entry.raw()));
            }
        }
    }
    return std::optional<std::uint64_t>();
}

Result<std::optional<json::Document>> HistoryReader::small_page(int count) {
    std::string target = fmt::format("{}/_history?_count={}", client_.server().base_path, count);
    json::Document history;
    const auto reply = ask_history(target, history);
    if (!reply && reply.error().code != Errc::invalid) {
        return reply.error();
    }
    return reply ? std::optional(std::move(history)) : std::nullopt;
}

Result<HttpReply> HistoryReader::ask(std::string& target, Result<json::Document>& document) {
    HttpRequest request;
    request.is_cut_off = [&](const HttpReply& reply) {
        document = parser_.parse(reply.body);
        return !document && (reply.body.empty() || reply.body.starts_with('{'));
    };
    while (true) {
        const std::uint64_t count = count_of(target);
        request.target = target;
        request.reply_bytes_max = count > 1 ? page_bytes_max_ : version_bytes_max_;
        auto reply = client_.send_patiently(request, patience_);
        if (reply || reply.error().code != Errc::body_too_large || count < 2) {
            return reply;
        }
        set_count(target, count / 2);
        ++halvings_;
    }
}

Result<HttpReply> HistoryReader::ask_history(std::string& target, json::Document& history) {
    Result<json::Document> document = json::Document();
    ANNALS_TRY(HttpReply reply, ask(target, document));
    const auto refusal = [&](Errc code, const std::string& why) {
        return Error{code,
                     fmt::format("{}: GET {}: {}", client_.server().authority(), target, why)};
    };
    if (reply.status != 200) {
        return refusal(
            reply.status == 400 ? Errc::invalid : Errc::processing,
            fmt::format("status {}: {}", reply.status, outcome_text(parser_, reply.body)));
    }
    if (!document) {
        return refusal(Errc::processing, document.error().detail);
    }
    history = std::move(*document);
    if (!history.root()["type"].equals("history")) {
        return refusal(Errc::processing, "the response is not a history Bundle");
    }
    return reply;
}

Result<std::string> HistoryReader::next_of(json::Value bundle, const std::string& asked,
                                           const std::string& target) {
    const std::size_t place = places_.try_emplace(hash64(asked), places_.size()).first->second;
    places_.try_emplace(hash64(target),
                        place);  // the target with fewer versions, if those were too many
    const std::string link = link_url(bundle, "next");
    if (link.empty()) {
        return std::string();
    }
    std::string next = target_of_page(link, target, client_.server());
    const bool usable = std::none_of(next.begin(), next.end(), [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
    });
    const auto known = places_.find(hash64(next));
    std::string why;
    if (!usable) {
        why = "is not a URL";
    } else if (next == target || next == asked) {
        why = "leads to this page itself";
    } else if (known != places_.end() && known->second <= place) {
        why = fmt::format("leads back to a page that was read before: {}", next);
    } else {
        return next;
    }
    return Error{Errc::processing, fmt::format("{}: GET {}: the link to the next page {}",
                                               client_.server().authority(), target, why)};
}

Result<HistoryPage> HistoryReader::read(std::string target) {
    const std::string asked = target;
    HistoryPage page;
    ANNALS_TRY(const HttpReply reply, ask_history(target, page.document));
    page.target = target;
    const json::Value bundle = page.document.root();
    // If the history was empty at first, its order may show only now; or a server does not know the cursor of --since. In
    // commit order, instants may descend.
    const bool newest_first =
        target.find("_sort=_position") == std::string::npos && gives_newest_first(bundle);
    if (newest_first || lacks_version(bundle)) {
        return Error{newest_first ? Errc::invalid : Errc::processing,
                     fmt::format("{}: GET {}: {}", client_.server().authority(), target,
                                 newest_first ? kNewestFirst : kLacksVersion)};
    }
    ANNALS_TRY(page.next, next_of(bundle, asked, target));
    page.total = total_of(bundle);
    // A page's number counts pages of this size: with a larger one, versions before that page would be skipped.
    const bool by_number = page.next.find("page=") != std::string::npos;
    if (const std::uint64_t count = count_of(page.next);
        halvings_ > 0 && count > 0 && !by_number && reply.body.size() < page_bytes_max_ / 4) {
        set_count(page.next, count * 2);
        --halvings_;
    }
    const json::Value entries = bundle["entry"];
    page.entries.reserve(entries.size());
    for (const json::Value entry : entries.elements()) {
        if (!is_remark(entry)) {
            page.entries.push_back(entry.raw());
        }
    }
    return page;
}

}  // namespace annals::tools
