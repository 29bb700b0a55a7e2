#include "core/interactions/search.h"

#include "core/base/digest.h"
#include "core/definitions.h"
#include "core/interactions/as_of.h"
#include "core/interactions/first_page.h"
#include "core/interactions/negotiation.h"
#include "core/interactions/query_needs.h"
#include "core/interactions/search_bundle.h"
#include "core/interactions/search_contained.h"
#include "core/interactions/search_includes.h"
#include "core/interactions/search_page.h"
#include "core/interactions/search_types.h"
#include "core/interactions/search_url.h"
#include "core/scoped_view.h"
#include "core/search/result_parameters.h"
#include "core/search/snapshot_resources.h"
#include "core/search/sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace annals::core {

namespace {

using search::Cursor;
using search::Query;
using search::QueryPair;

// Parameters that determine the presentation, not what is found.
bool is_about_the_page(std::string_view name) {
    return search::is_about_the_answer(name) || name == "_count" || name == "_total" ||
           name.starts_with("_include") || name.starts_with("_revinclude");
}

// How many resources' contained ones are counted at a time.
constexpr std::size_t kCountedAtOnce = 1000;

// One search, from its parameters to its Bundle.
class Search {
  public:
    Search(const Service& service, const Request& request, const Target& target)
        : service_(service),
          request_(request),
          target_(target),
          view_(service, request, kMaySearch, "search"),
          parameters_(view_.parameters()),
          turns_(*request.loop, service.config().limits.request_timeout) {}

    // Whether the last answer was a first page, and not of a transaction's own state.
    bool is_first_page() const noexcept { return !cursor_ && !request_.seen_at; }

    asio::awaitable<Response> answer() {
        Result<void> read =
            co_await prepare_and_look(service_, *request_.loop, [this](QueryNeeds& needs) {
                cursor_.reset();
                return read_request(needs);
            });
        if (!read) {
            co_return std::move(read.error());
        }
        if (as_of_) {
            read = co_await reach_back(service_, parameters_, types_looked_at(query_, view_),
                                       *snapshot_, turns_);
        } else if (std::vector<TypeId> types = carried_types(query_); !types.empty()) {
            read = co_await carry(std::move(types));
        }
        if (read && contained_) {
            read = co_await contained_->resolve_chains(*snapshot_, turns_);
        }
        if (!read) {
            co_return std::move(read.error());
        }
        Result<SearchPage> page = SearchPage();
        if (count_ > 0 || !takes_out()) {
            page = co_await find_page(*snapshot_, query_, cursor_, count_, turns_);
        }
        if (!page) {
            co_return std::move(page.error());
        }
        co_await request_.loop->fetched(page->matches);  // Needed for includes.
        SearchBundleContent content;
        content.warnings = std::move(query_.warnings);
        content.carried = snapshot_->carried();
        if (takes_out()) {
            read = co_await take_out(*page, content);
        }
        if (read && !query_.includes.empty()) {
            read = co_await include(page->matches, content);
        }
        if (!read) {
            co_return std::move(read.error());
        }
        content.total = page->total;
        content.links = links(*page, content.warnings);
        if (!takes_out()) {
            content.matches = std::move(page->matches);
        }
        if (!content.included.empty()) {
            co_await request_.loop->fetched(content.included);
        }
        co_return answer_search(service_, request_.base_url, std::move(content));
    }

  private:
    // Adds the resources included with the page's matches to the content.
    asio::awaitable<Result<void>> include(const std::vector<storage::VersionInfo>& matches,
                                          SearchBundleContent& content) {
        const IncludeContext context{.service = service_,
                                     .snapshot = *snapshot_,
                                     .parameters = parameters_,
                                     .view = view_,
                                     .base_url = request_.base_url,
                                     .includes = query_.includes,
                                     .shows =
                                         [this](const storage::VersionInfo& info) {
                                             return require_search(service_, request_, info.type,
                                                                   Extent::part) &&
                                                    view_.shows(info);
                                         },
                                     .looks = !view_.is_whole(),
                                     .as_of = as_of_.has_value(),
                                     .turns = turns_};
        Result<Included> included = co_await find_included(context, matches);
        if (!included) {
            co_return std::move(included.error());
        }
        content.included = std::move(included->versions);
        if (included->cut_short) {
            content.warnings.push_back(fmt::format(
                "More than {} resources would be included; the rest is left out", kIncludedMax));
        }
        co_return Result<void>();
    }

    Result<void> read_request(QueryNeeds& needs) {
        ANNALS_TRY(std::vector<QueryPair> pairs, search::decode_pairs(request_.query));
        ANNALS_TRY_VOID(take_snapshot(pairs));
        const auto is_as_of = [](const QueryPair& pair) { return pair.first == "_asOf"; };
        std::vector<QueryPair> as_of;
        std::ranges::copy_if(pairs, std::back_inserter(as_of), is_as_of);
        std::erase_if(pairs, is_as_of);
        ANNALS_TRY(std::vector<TypeId> types, searched_types(target_));
        const search::SnapshotResources stored(*snapshot_, service_.definitions().carried(),
                                               needs.unread(), needs.put_off());
        search::QueryContext context{.stored = stored,
                                     .view = view_,
                                     .parameters = parameters_,
                                     .base_url = std::string(request_.base_url),
                                     .now = now_,
                                     .strict = read_preference(request_).strict,
                                     .shown_by_container = true};
        ANNALS_TRY(query_, search::parse_query(context, std::move(types), pairs));
        ANNALS_TRY_VOID(require_types(pairs));
        ANNALS_TRY_VOID(require_search(service_, request_, query_.others, Extent::part));
        ANNALS_TRY_VOID(enter_compartment(service_.store(), *parameters_, target_, query_));
        std::erase_if(query_.used, [](const QueryPair& pair) { return pair.first == "_cursor"; });
        query_.used.insert(query_.used.begin(), as_of.begin(), as_of.end());
        digest_ = digest();
        if (cursor_ && cursor_->query != digest_) {
            return search::malformed_cursor();
        }
        set_count();
        if (query_.contained) {
            search_contained();
        }
        return {};
    }

    // Reads the cursor, and sets what the search sees and when it was asked.
    Result<void> take_snapshot(std::span<const QueryPair> pairs) {
        const storage::Store& store = service_.store();
        ANNALS_TRY(as_of_, find_as_of(store, request_.query));
        for (const auto& [name, value] : pairs) {
            if (name == "_cursor") {
                if (value == kFirstPageCursor) {
                    continue;
                }
                ANNALS_TRY(cursor_, search::read_cursor(value));
            }
        }
        if (cursor_ && cursor_->snapshot > store.last_position()) {
            return search::malformed_cursor();
        }
        now_ = cursor_ ? cursor_->now : now();
        snapshot_.emplace(store, cursor_  ? cursor_->snapshot
                                 : as_of_ ? *as_of_
                                          : request_.seen_at.value_or(store.last_position()));
        return {};
    }

    // Makes the query search all types for contained resources.
    void search_contained() {
        contained_.emplace(service_.store(), parameters_, std::string(request_.base_url));
        contained_->widen(query_);
        if (takes_out()) {
            // The total counts something else than the page's matches.
            total_asked_ = std::exchange(query_.total, search::TotalMode::none);
        }
        for (Query::TypePlan& one : query_.types) {
            const bool permitted =
                require_search(service_, request_, one.type, Extent::part).has_value();
            one.plan =
                permitted ? seen_of(view_, one.type, std::move(one.plan)) : search::nothing();
        }
    }

    // For several types: requires permission for all, or for those that _type names. For a single type it has been checked.
    Result<void> require_types(std::span<const QueryPair> pairs) const {
        if (everybody_may_search(service_) || !finds_several_types(target_)) {
            return {};
        }
        Result<void> everywhere =
            require(service_, request_, kMaySearch, std::nullopt, Extent::part);
        const bool are_named = std::ranges::any_of(pairs, [](const QueryPair& pair) {
            return pair.first == "_type" && !pair.second.empty();
        });
        if (everywhere || !are_named) {
            return everywhere;
        }
        for (const Query::TypePlan& one : query_.types) {
            ANNALS_TRY_VOID(require_search(service_, request_, one.type, Extent::part));
        }
        return {};
    }

    // Whether contained resources are returned instead of their containers.
    bool takes_out() const noexcept { return contained_ && query_.contained_type; }

    // Puts the contained resources that match into the content, and their total into the page.
    asio::awaitable<Result<void>> take_out(SearchPage& page, SearchBundleContent& content) {
        const bool backwards = cursor_ && cursor_->backwards;
        Result<std::size_t> taken = co_await contained_->take_out(
            *snapshot_, request_.base_url, page.matches, backwards, content, turns_);
        if (!taken) {
            co_return std::move(taken.error());
        }
        // The rest is on the next page in the direction in which this one was found.
        if (*taken < page.matches.size()) {
            const auto end = page.matches.end();
            const auto count = static_cast<std::ptrdiff_t>(*taken);
            page.matches.erase(backwards ? page.matches.begin() : page.matches.begin() + count,
                               backwards ? end - count : end);
            (backwards ? page.begins_inside : page.ends_inside) = true;
        }
        Result<void> done =
            co_await find_contained_total(page, content.matches.size() + content.contained.size());
        co_return done;
    }

    // The total of contained resources: those of the page if there are no others, otherwise, if requested, those of all pages.
    asio::awaitable<Result<void>> find_contained_total(SearchPage& page, std::uint64_t of_page) {
        using search::TotalMode;
        if (cursor_ || total_asked_ == TotalMode::none) {
            page.total = cursor_ ? cursor_->total : std::nullopt;
            co_return Result<void>();
        }
        if (count_ > 0 && !page.ends_inside) {
            page.total = of_page;
            co_return Result<void>();
        }
        if (count_ > 0 && total_asked_ == TotalMode::unasked) {
            co_return Result<void>();
        }
        query_.sort.clear();
        std::uint64_t total = 0;
        // The order doesn't matter; that of commits is found fastest.
        std::optional<Cursor> at;
        at.emplace().by_instant = false;
        for (bool more = true; more;) {
            Result<SearchPage> next =
                co_await find_page(*snapshot_, query_, at, kCountedAtOnce, turns_);
            if (!next) {
                co_return std::move(next.error());
            }
            more = next->ends_inside && !next->matches.empty();
            if (more) {
                at->edge = next->matches.back().position;
            }
            co_await request_.loop->fetched(next->matches);
            Result<std::uint64_t> counted =
                co_await contained_->count(*snapshot_, next->matches, turns_);
            if (!counted) {
                co_return std::move(counted.error());
            }
            total += *counted;
        }
        page.total = total;
        co_return Result<void>();
    }

    // Makes the packages' resources of these types visible, as many as for the first page.
    asio::awaitable<Result<void>> carry(std::vector<TypeId> types) {
        const std::shared_ptr<const search::Carried> carried =
            service_.definitions().packages().carried();
        const std::size_t count = cursor_ ? cursor_->carried : carried->resources.size();
        if (count > carried->resources.size()) {
            co_return search::malformed_cursor();
        }
        if (count == 0) {
            co_return Result<void>();
        }
        std::erase_if(types, [&](TypeId type) { return !carried->types[type.value]; });
        for (const TypeId type : types) {
            snapshot_->carry(carried, count);
            search::CarriedRuns runs(service_.definitions().carried_index(), parameters_,
                                     service_.config().base_url, carried, type);
            Result<void> done = co_await turns_.finish(runs);
            if (!done) {
                co_return std::move(done.error());
            }
            snapshot_->use(type, runs.beside(snapshot_->runs(type)));
        }
        co_return Result<void>();
    }

    // A digest of what the cursor's search must have in common with this one.
    std::uint32_t digest() const {
        std::uint64_t hash = hash64(search_path(target_));
        for (const auto& [name, value] : query_.used) {
            if (!is_about_the_page(name)) {
                hash = hash64(value, hash64(name, hash));
            }
        }
        hash = search::mix_sort(hash, query_.sort);
        if (!view_.is_whole()) {
            hash = hash64(request_.principal->identity(), hash);
        }
        return static_cast<std::uint32_t>(hash);
    }

    void set_count() {
        const Config& config = service_.config();
        const std::uint64_t asked = query_.count.value_or(config.search_page_size);
        count_ = static_cast<std::size_t>(std::min(asked, config.max_page_size));
        for (auto& [name, value] : query_.used) {
            if (name == "_count") {
                value = std::to_string(count_);
            }
        }
    }

    // `warnings`: receives one if a page is too far away for a link.
    std::vector<BundleLink> links(const SearchPage& page,
                                  std::vector<std::string>& warnings) const {
        const std::string without = search_url(request_.base_url, target_, query_.used);
        const std::string first = with_cursor(without, {});
        const auto at = [&](const Cursor& cursor) {
            return with_cursor(without, search::write_cursor(cursor));
        };
        std::vector<BundleLink> links;
        links.emplace_back("self", cursor_ ? at(*cursor_) : first);
        if (count_ == 0) {
            return links;
        }
        Cursor there;
        there.snapshot = snapshot_->position();
        there.total = page.total;
        there.query = digest_;
        there.carried = snapshot_->carried_count();
        there.by_instant = page.by_instant;
        there.now = now_;
        const std::optional<Position> previous = page.previous_edge(cursor_);
        const std::optional<Position> next = page.next_edge(cursor_);
        const bool is_emptied = page.matches.empty() && cursor_ && cursor_->backwards;
        if (page.begins_inside || (is_emptied && next)) {
            links.emplace_back("first", first);
        }
        if (previous) {
            there.backwards = true;
            there.edge = *previous;
            links.emplace_back("previous", at(there));
        }
        if (next) {
            there.backwards = false;
            there.edge = *next;
            links.emplace_back("next", at(there));
            if (links.back().second.size() > kPageTargetBytesMax) {
                warnings.push_back(
                    fmt::format("The search is too long for links to its other pages; for the next "
                                "page, send the same POST with _cursor={}",
                                search::write_cursor(there)));
            }
            if (page.total) {
                there.backwards = true;
                there.edge = {};
                links.emplace_back("last", at(there));
            }
        }
        std::erase_if(links, [](const BundleLink& link) {
            return link.first != "self" && link.second.size() > kPageTargetBytesMax;
        });
        return links;
    }

    const Service& service_;
    const Request& request_;
    const Target& target_;
    ScopedView view_;
    std::shared_ptr<const search::ParameterSet> parameters_;
    Turns turns_;
    std::optional<Cursor> cursor_;
    std::optional<Position> as_of_;
    Instant now_;
    std::optional<search::Snapshot> snapshot_;
    Query query_;
    std::uint32_t digest_ = 0;
    std::size_t count_ = 0;
    std::optional<ContainedSearch> contained_;
    search::TotalMode total_asked_ = search::TotalMode::unasked;  // of contained resources
};

}  // namespace

asio::awaitable<Response> search_resources(const Service& service, const Request& request,
                                           const Target& target) {
    Search search(service, request, target);
    FirstPage first(service);
    for (;;) {
        Response response = co_await search.answer();
        if (!search.is_first_page() || !first.begin_again(response)) {
            co_return response;
        }
    }
}

}  // namespace annals::core
