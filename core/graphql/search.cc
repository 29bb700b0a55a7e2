#include "core/graphql/search.h"

#include "core/base/base64.h"
#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/definitions.h"
#include "core/graphql/fhirpath.h"
#include "core/interactions/as_of.h"
#include "core/search/snapshot_resources.h"
#include "core/search/sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace annals::core::graphql {

namespace {

constexpr char kSeparator = '~';

std::string query_of(const std::vector<search::QueryPair>& criteria) {
    std::string out;
    for (const auto& [name, value] : criteria) {
        out += fmt::format("{}{}={}", out.empty() ? "" : "&", percent_encode(name),
                           percent_encode(value));
    }
    return out;
}

Error foreign_cursor() {
    return {Errc::invalid, "The cursor does not belong to this search"};
}

}  // namespace

struct Searcher::Asked {
    TypeId type;
    std::vector<search::QueryPair> criteria{};
    std::optional<search::Cursor> cursor{};
    std::uint64_t offset = 0;  ///< of the place that the cursor points to
    Instant now = annals::now();
    std::optional<search::Snapshot> of_cursor{};
    search::Snapshot* snapshot = nullptr;
    search::Query query{};
};

std::uint32_t Searcher::digest(const Asked& asked) const {
    std::uint64_t hash = hash64(resource_type_name(asked.type), hash64(query_of(asked.criteria)));
    hash = search::mix_sort(hash, asked.query.sort);
    if (!view_.is_whole()) {
        hash = hash64(request_.principal->identity(), hash);
    }
    return static_cast<std::uint32_t>(hash);
}

/// The cursor contains the search, so the client need not repeat it.
std::string Searcher::cursor_text(const Asked& asked, const search::Cursor& cursor,
                                  std::uint64_t offset) const {
    std::string out;
    append_base64(fmt::format("{}{}{}{}{}", offset, kSeparator, search::write_cursor(cursor),
                              kSeparator, query_of(asked.criteria)),
                  out);
    return out;
}

Result<void> Searcher::take_cursor(std::string_view text, Asked& asked) const {
    const Error malformed = foreign_cursor();
    const std::optional<std::string> decoded =
        text.size() > kDocumentBytesMax ? std::nullopt : decode_base64(text);
    if (!decoded) {
        return malformed;
    }
    const std::string_view bytes = *decoded;
    const std::size_t first = bytes.find(kSeparator);
    const std::size_t second =
        first == std::string::npos ? first : bytes.find(kSeparator, first + 1);
    if (second == std::string::npos) {
        return malformed;
    }
    const auto offset = parse_number(bytes.substr(0, first));
    const auto cursor = search::read_cursor(bytes.substr(first + 1, second - first - 1));
    auto criteria = search::decode_pairs(bytes.substr(second + 1));
    if (!offset || !cursor || !criteria || cursor->snapshot > service_.store().last_position()) {
        return malformed;
    }
    const bool known = std::ranges::all_of(*criteria, [&](const search::QueryPair& pair) {
        return parameter_name(*parameters_, asked.type, pair.first) == pair.first;
    });
    // The order of arguments doesn't matter.
    const bool same =
        asked.criteria.empty() || std::ranges::is_permutation(asked.criteria, *criteria);
    if (!known || !same) {
        return malformed;
    }
    asked.criteria = *std::move(criteria);
    asked.offset = *offset;
    asked.cursor = *cursor;
    asked.now = cursor->now;
    return {};
}

Result<void> Searcher::read_query(Asked& asked, bool counted, QueryNeeds& needs) const {
    const search::SnapshotResources stored(*asked.snapshot, service_.definitions().carried(),
                                           needs.unread(), needs.put_off());
    const search::QueryContext context{.stored = stored,
                                       .view = view_,
                                       .parameters = parameters_,
                                       .base_url = std::string(request_.base_url),
                                       .now = asked.now,
                                       .strict = true};
    ANNALS_TRY(asked.query, search::parse_query(context, {asked.type}, asked.criteria));
    if (asked.cursor && asked.cursor->query != digest(asked)) {
        return foreign_cursor();
    }
    ANNALS_TRY_VOID(require_search(service_, request_, asked.query.others, Extent::part));
    if (counted && asked.query.total == search::TotalMode::unasked) {
        asked.query.total = search::TotalMode::accurate;
    }
    return {};
}

asio::awaitable<Result<SearchPage>> Searcher::find(Asked& asked, std::uint64_t count,
                                                   bool counted) {
    Result<void> read = require_search(service_, request_, asked.type, Extent::part);
    if (read) {
        read = co_await prepare_and_look(
            service_, *request_.loop,
            [&](QueryNeeds& needs) { return read_query(asked, counted, needs); }, turns_.end());
    }
    // A cursor of another snapshot only works as long as the index still has that.
    if (read && asked.snapshot == &snapshot_) {
        std::vector<TypeId> types = search::related_types(asked.query.types.front().plan);
        types.push_back(asked.type);
        read = co_await reach_back(service_, parameters_, types, snapshot_, turns_);
    }
    if (!read) {
        co_return std::move(read.error());
    }
    Result<SearchPage> page = co_await find_page(*asked.snapshot, asked.query, asked.cursor,
                                                 static_cast<std::size_t>(count), turns_);
    co_return page;
}

asio::awaitable<Result<void>> Searcher::keep_passing(const SearchCall& call, FoundPage& page) {
    if (!call.filter) {
        co_return Result<void>();
    }
    search::BodyReader reader(service_.store());
    std::vector<storage::VersionInfo> passing;
    for (std::size_t i = 0; i < page.matches.size(); ++i) {
        if (i % kFetchedAtOnce == 0) {
            co_await turns_.fetched_from(page.matches, i);
        }
        if (const json::Value body = reader.read(page.matches[i].position)) {
            const Result<bool> passes =
                passes_filter(*call.filter, fhirpath::Item::resource(body), body, i);
            if (!passes) {
                co_return passes.error();
            }
            if (*passes) {
                passing.push_back(page.matches[i]);
            }
        }
        if (turns_.pace().is_over()) {
            Result<void> in_time = co_await turns_.next();
            if (!in_time) {
                co_return std::move(in_time.error());
            }
        }
    }
    page.matches = std::move(passing);
    co_return Result<void>();
}

asio::awaitable<Result<FoundPage>> Searcher::list(TypeId type, const SearchCall& call,
                                                  std::string focus) {
    const std::uint64_t most = service_.config().max_page_size;
    Asked asked{.type = type, .criteria = call.criteria, .snapshot = &snapshot_};
    if (call.reference) {
        asked.criteria.emplace_back(*call.reference, std::move(focus));
    }
    const bool cut = call.count && *call.count <= most && !call.filter;
    Result<SearchPage> found = co_await find(asked, cut ? *call.count : most, false);
    if (!found) {
        co_return std::move(found.error());
    }
    if (!cut && found->ends_inside) {
        co_return Error{Errc::too_costly,
                        fmt::format("More than {} resources match; use {}Connection for pages",
                                    most, resource_type_name(type))};
    }
    FoundPage page;
    page.matches = std::move(found->matches);
    Result<void> kept = co_await keep_passing(call, page);
    if (!kept) {
        co_return std::move(kept.error());
    }
    if (call.count && page.matches.size() > *call.count) {
        page.matches.resize(static_cast<std::size_t>(*call.count));
    }
    co_return page;
}

void Searcher::add_cursors(const Asked& asked, const SearchPage& found, FoundPage& page) const {
    search::Cursor there;
    there.snapshot = asked.snapshot->position();
    there.total = found.total;
    there.query = digest(asked);
    there.now = asked.now;
    there.by_instant = found.by_instant;
    if (page.size == 0) {
        return;
    }
    page.first = cursor_text(asked, there, 0);
    if (const auto previous = found.previous_edge(asked.cursor)) {
        there.backwards = true;
        there.edge = *previous;
        page.previous = cursor_text(asked, there, page.offset);
    }
    if (const auto next = found.next_edge(asked.cursor)) {
        there.backwards = false;
        there.edge = *next;
        const bool anew = *next == Position();  // with the first match
        page.next = cursor_text(asked, there, anew ? 0 : page.offset + found.matches.size());
    }
    if (found.total) {
        there.backwards = true;
        there.edge = {};
        page.last = cursor_text(asked, there, *found.total);
    }
}

asio::awaitable<Result<FoundPage>> Searcher::page(TypeId type, const SearchCall& call,
                                                  std::string focus, bool counted) {
    Asked asked{.type = type, .criteria = call.criteria, .snapshot = &snapshot_};
    if (call.reference) {
        asked.criteria.emplace_back(*call.reference, std::move(focus));
    }
    if (call.cursor) {
        Result<void> taken = take_cursor(*call.cursor, asked);
        if (!taken) {
            co_return std::move(taken.error());
        }
        if (asked.cursor->snapshot != snapshot_.position()) {
            asked.snapshot = &asked.of_cursor.emplace(service_.store(), asked.cursor->snapshot);
        }
    }
    FoundPage page;
    page.size = service_.config().search_page_size;
    for (const auto& [name, value] : asked.criteria) {
        if (name == "_count") {
            page.size = read_count(value).value_or(page.size);
        }
    }
    page.size = std::min(page.size, service_.config().max_page_size);
    Result<SearchPage> found = co_await find(asked, page.size, counted);
    if (!found) {
        co_return std::move(found.error());
    }
    const std::uint64_t before =
        asked.cursor && asked.cursor->backwards ? found->matches.size() : 0;
    page.offset = asked.offset - std::min(asked.offset, before);
    page.total = found->total;
    add_cursors(asked, *found, page);
    page.matches = std::move(found->matches);
    Result<void> kept = co_await keep_passing(call, page);
    if (!kept) {
        co_return std::move(kept.error());
    }
    co_return page;
}

}  // namespace annals::core::graphql
