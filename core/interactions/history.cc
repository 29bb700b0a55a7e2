#include "core/interactions/history.h"

#include "core/interactions/answer.h"
#include "core/interactions/history_page.h"
#include "core/interactions/history_parameters.h"
#include "core/interactions/shown_history.h"
#include "core/interactions/turns.h"
#include "core/scoped_view.h"
#include "storage/history_walk.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {

namespace {

using storage::HistoryOrder;
using storage::VersionInfo;

// How many versions of several resources are examined for a page and its total before other requests get their turn.
constexpr std::uint64_t kVersionsPerTurn = 16'384;

// How many versions of one resource are examined with restricted scopes.
constexpr std::uint64_t kHeldVersionsMax = 4096;

Error too_many_versions() {
    return {Errc::too_costly,
            fmt::format("The resource has more than {} versions: too many to select those that the "
                        "scopes permit",
                        kHeldVersionsMax)};
}

HistoryOrder reversed(HistoryOrder order) {
    switch (order) {
        case HistoryOrder::newest_first:
            return HistoryOrder::oldest_first;
        case HistoryOrder::oldest_first:
            return HistoryOrder::newest_first;
        case HistoryOrder::last_updated:
            return HistoryOrder::last_updated_reverse;
        case HistoryOrder::last_updated_reverse:
            return HistoryOrder::last_updated;
    }
    return HistoryOrder::newest_first;
}

// The links of one page.
class Links {
  public:
    Links(const Request& request, const Target& target, const HistoryParameters& parameters)
        : target_(target), query_(parameters.own_query) {
        root_ = fmt::format("{}/_history", request.base_url);
        if (target.level == Level::type_history) {
            root_ =
                fmt::format("{}/{}/_history", request.base_url, resource_type_name(target.type));
        } else if (target.level == Level::instance_history) {
            root_ = fmt::format("{}/{}/{}/_history", request.base_url,
                                resource_type_name(target.type), target.id);
        }
    }

    void add(std::string_view relation, std::string_view extra = {}) {
        std::string url = root_;
        if (!query_.empty() || !extra.empty()) {
            url += '?';
            url += query_;
            url += query_.empty() || extra.empty() ? "" : "&";
            url += extra;
        }
        links_.emplace_back(relation, std::move(url));
    }

    void add(std::string_view relation, const HistoryCursor& cursor) {
        add(relation, "_cursor=" + write_cursor(cursor, target_));
    }

    std::vector<BundleLink> take() { return std::move(links_); }

  private:
    const Target& target_;
    std::string root_;
    std::string query_;
    std::vector<BundleLink> links_;
};

void add_self(Links& links, const HistoryParameters& parameters) {
    if (parameters.continued) {
        links.add("self", parameters.cursor);
    } else if (parameters.offset > 0) {
        links.add("self", fmt::format("_offset={}", parameters.offset));
    } else {
        links.add("self");
    }
}

// Errors: as read_history_parameters(); also invalid for a cursor beyond the end of the store, which must have been
// restored to an earlier point or replaced: the versions that will be there are not those that the cursor refers to.
Result<HistoryParameters> read_parameters(const Service& service, const Request& request,
                                          const Target& target) {
    ANNALS_TRY(HistoryParameters parameters,
               read_history_parameters(service.config(), request, target));
    const HistoryCursor& cursor = parameters.cursor;
    const Position edge = cursor.edge ? cursor.edge->position : Position();
    const Position newest = service.store().last_position();
    if (std::max(edge, cursor.bound) > newest) {
        return Error{Errc::invalid,
                     fmt::format("_cursor is at position {}, but the store ends at {}: it was "
                                 "restored to an earlier point, or is a different store",
                                 std::max(edge, cursor.bound).value, newest.value)};
    }
    return parameters;
}

// Up to where a read sees the store, 0: all of it. A chain of pages shows the store as of the first page's request, except in the
// order in which later versions come last anyway: that one can be followed forever.
Position bound_of(const HistoryParameters& parameters, Position newest) {
    const HistoryCursor& cursor = parameters.cursor;
    const bool goes_on = cursor.order == HistoryOrder::oldest_first && !cursor.at;
    return parameters.continued || goes_on ? cursor.bound : newest;
}

// A page of history: the query to the store, and the answer made of its result.
class Page {
  public:
    Page(const Service& service, const Request& request, const Target& target,
         const HistoryParameters& parameters)
        : service_(service), request_(request), target_(target), parameters_(parameters) {
        const HistoryCursor& cursor = parameters.cursor;
        query_.bound =
            bound_of(parameters, request.seen_at.value_or(service.store().last_position()));
        if (target.level != Level::system_history) {
            query_.type = target.type;
        }
        if (target.level == Level::instance_history) {
            query_.id = target.id;
        }
        query_.order = cursor.backwards ? reversed(cursor.order) : cursor.order;
        query_.since = cursor.since;
        query_.after = cursor.edge;
        query_.skip = parameters.offset;
        query_.count = static_cast<std::size_t>(parameters.count);
        if (cursor.counted) {
            query_.total = cursor.total;
        }
    }

    const storage::HistoryQuery& query() const noexcept { return query_; }

    // `counted`: the total took a scan of all versions and need not be computed again.
    Response answer(storage::HistoryPage page, bool counted) const {
        const HistoryCursor& cursor = parameters_.cursor;
        if (cursor.backwards) {
            std::reverse(page.versions.begin(), page.versions.end());
        }
        HistoryPageContent content;
        content.total = page.total;
        Links links(request_, target_, parameters_);
        add_self(links, parameters_);
        const bool is_outside = page.versions.empty() && page.total > 0 && parameters_.count > 0 &&
                                (cursor.edge || parameters_.offset > 0);
        if (is_outside) {
            // Behind the end because of its offset, or because the versions here were erased; or before the beginning.
            links.add("first");
            HistoryCursor back = cursor;
            back.backwards = parameters_.offset > 0 || !cursor.backwards;
            back.edge.reset();
            links.add(back.backwards ? "previous" : "next", back);
        }
        if (!page.versions.empty()) {
            const bool begins_inside =
                cursor.backwards ? page.more : cursor.edge.has_value() || parameters_.offset > 0;
            const bool ends_inside = cursor.backwards ? cursor.edge.has_value() : page.more;
            HistoryCursor there = cursor;
            there.bound = query_.bound;
            there.total = page.total;
            there.counted = counted && there.bound.value != 0;
            if (begins_inside) {
                links.add("first");
                there.backwards = true;
                there.edge = page.versions.front();
                links.add("previous", there);
            }
            if (ends_inside) {
                there.backwards = false;
                there.edge = page.versions.back();
                links.add("next", there);
                there.backwards = true;
                there.edge.reset();
                links.add("last", there);
            }
        }
        content.links = links.take();
        content.versions = std::move(page.versions);
        return answer_history(service_, request_.base_url, std::move(content));
    }

  private:
    const Service& service_;
    const Request& request_;
    const Target& target_;
    const HistoryParameters& parameters_;
    storage::HistoryQuery query_;
};

// Whether any version of a resource up to `bound` is shown; `newest` is the newest of them. Errors: too_costly, timeout.
asio::awaitable<Result<bool>> shows_any(const Service& service, const Request& request,
                                        const ScopedView& view, const Target& target,
                                        Position bound, const VersionInfo& newest, Turns& turns) {
    if (view.is_whole()) {
        co_return true;
    }
    storage::HistoryQuery query;
    query.type = target.type;
    query.id = target.id;
    query.bound = bound;
    if (service.store().history(query).total > kHeldVersionsMax) {
        co_await fetch_version(service, request, target.id, newest);
        // The error must not reveal a resource that isn't shown.
        co_return view.shows(newest) ? Result<bool>(too_many_versions()) : Result<bool>(false);
    }
    ShownHistory shown(service.store(), view, query);
    Result<void> done = co_await turns.finish(shown);
    if (!done) {
        co_return std::move(done.error());
    }
    co_return shown.page().total > 0;
}

// Whether nothing is shown of a resource of which a version was: it was erased while its history was read.
bool is_gone(const Service& service, const Target& target, const HistoryParameters& parameters,
             Position bound, std::uint64_t total) {
    if (total > 0) {
        return false;
    }
    const bool may_show_none =
        parameters.cursor.since || parameters.cursor.at || parameters.continued;
    return !may_show_none || !service.store().current(target.type, target.id, bound);
}

// The version that was current at `_at`, if the view shows it.
asio::awaitable<Response> answer_at(const Service& service, const Request& request,
                                    const Target& target, const HistoryParameters& parameters,
                                    const ScopedView& view, Position bound) {
    HistoryPageContent content;
    Links links(request, target, parameters);
    add_self(links, parameters);
    content.links = links.take();
    const auto info = service.store().current_at(target.type, target.id, *parameters.cursor.at,
                                                 request.seen_at.value_or(Position{}));
    if (info) {
        // Its bytes, and what decides whether it is shown.
        co_await fetch_version(service, request, target.id, *info);
    }
    if (info && view.shows(*info)) {
        content.total = 1;
        if (parameters.count > 0 && parameters.offset == 0) {
            content.versions.push_back(*info);
        }
    }
    if (is_gone(service, target, parameters, bound, content.total)) {
        co_return no_such_resource(target.type, target.id);
    }
    co_return answer_history(service, request.base_url, std::move(content));
}

}  // namespace

asio::awaitable<Response> instance_history(const Service& service, const Request& request,
                                           const Target& target) {
    const Result<HistoryParameters> parameters = read_parameters(service, request, target);
    if (!parameters) {
        co_return parameters.error();
    }
    const ScopedView view(service, request, kMayRead, "history");
    Turns turns(*request.loop, service.config().limits.request_timeout);
    const Position bound = parameters->continued
                               ? Position{}
                               : bound_of(*parameters, request.seen_at.value_or(Position{}));
    const auto newest = service.store().current(target.type, target.id, bound);
    Result<bool> known = false;
    if (newest) {
        known = co_await shows_any(service, request, view, target, bound, *newest, turns);
    }
    if (!known) {
        co_return known.error();
    }
    if (!*known) {
        co_return no_such_resource(target.type, target.id);
    }
    if (parameters->cursor.at) {
        co_return co_await answer_at(service, request, target, *parameters, view, bound);
    }
    const Page page(service, request, target, *parameters);
    if (view.is_whole()) {
        storage::HistoryPage found = service.store().history(page.query());
        if (is_gone(service, target, *parameters, bound, found.total)) {
            co_return no_such_resource(target.type, target.id);
        }
        co_await request.loop->fetched(found.versions);
        co_return page.answer(std::move(found), false);
    }
    ShownHistory shown(service.store(), view, page.query());
    const Result<void> done = co_await turns.finish(shown);
    if (!done) {
        co_return done.error();
    }
    if (is_gone(service, target, *parameters, bound, shown.page().total)) {
        co_return no_such_resource(target.type, target.id);
    }
    co_await request.loop->fetched(shown.page().versions);
    co_return page.answer(std::move(shown.page()), true);
}

asio::awaitable<Response> history_of_many(const Service& service, const Request& request,
                                          const Target& target) {
    Result<HistoryParameters> parameters = read_parameters(service, request, target);
    if (!parameters) {
        co_return parameters.error();
    }
    const Page page(service, request, target, *parameters);
    const ScopedView view(service, request, kMaySearch, "history");
    Turns turns(*request.loop, service.config().limits.request_timeout);
    if (view.is_whole() && !parameters->cursor.at) {
        storage::HistoryWalk walk = service.store().walk_history(page.query());
        while (!walk.advance(kVersionsPerTurn)) {
            const Result<void> in_time = co_await turns.next();
            if (!in_time) {
                co_return in_time.error();
            }
        }
        co_await request.loop->fetched(walk.page().versions);
        const bool counted = page.query().since.has_value();
        co_return page.answer(std::move(walk.page()), counted);
    }
    ShownHistory shown(service.store(), view, page.query(), parameters->cursor.at);
    const Result<void> done = co_await turns.finish(shown);
    if (!done) {
        co_return done.error();
    }
    co_await request.loop->fetched(shown.page().versions);
    co_return page.answer(std::move(shown.page()), true);
}

}  // namespace annals::core
