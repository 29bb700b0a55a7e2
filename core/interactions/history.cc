#include "core/interactions/history.h"

#include "core/interactions/answer.h"
#include "core/interactions/history_page.h"
#include "core/interactions/history_parameters.h"
#include "core/outcome.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {

namespace {

using storage::HistoryOrder;
using storage::VersionInfo;

// How many resources `_at` looks at before other requests get their turn.
constexpr std::uint32_t kResourcesPerTurn = 4096;

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

    std::vector<std::pair<std::string_view, std::string>> take() { return std::move(links_); }

  private:
    const Target& target_;
    std::string root_;
    std::string query_;
    std::vector<std::pair<std::string_view, std::string>> links_;
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

// A page of the versions that the parameters name.
Response answer_page(const Service& service, const Request& request, const Target& target,
                     const HistoryParameters& parameters) {
    const HistoryCursor& cursor = parameters.cursor;
    // A chain of pages shows the store as it was when its first page was asked for, but for the one order in
    // which what is written later comes last anyway: there a follower goes on for ever.
    Position bound = cursor.bound;
    if (!parameters.continued && cursor.order != HistoryOrder::oldest_first) {
        bound = service.store().last_position();
    }

    storage::HistoryQuery query;
    if (target.level != Level::system_history) {
        query.type = target.type;
    }
    if (target.level == Level::instance_history) {
        query.id = target.id;
    }
    query.order = cursor.backwards ? reversed(cursor.order) : cursor.order;
    query.since = cursor.since;
    query.bound = bound;
    query.after = cursor.edge;
    query.skip = parameters.offset;
    query.count = static_cast<std::size_t>(parameters.count);
    storage::HistoryPage page = service.store().history(query);
    if (cursor.backwards) {
        std::reverse(page.versions.begin(), page.versions.end());
    }

    HistoryPageContent content;
    content.total = page.total;
    Links links(request, target, parameters);
    add_self(links, parameters);
    if (!page.versions.empty()) {
        const bool begins_inside =
            cursor.backwards ? page.more : cursor.edge.has_value() || parameters.offset > 0;
        const bool ends_inside = cursor.backwards ? cursor.edge.has_value() : page.more;
        HistoryCursor there = cursor;
        there.bound = bound;
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
    return answer_history(service, request.base_url, std::move(content));
}

// Of each resource that was live at the cursor's instant, the version that was current then.
asio::awaitable<Response> answer_at(const Service& service, const Request& request,
                                    const Target& target, HistoryParameters parameters) {
    const storage::Store& store = service.store();
    HistoryCursor& cursor = parameters.cursor;
    const bool counts = !parameters.continued;
    if (counts) {
        cursor.bound = store.last_position();
    }
    const HistoryCursor own = cursor;

    // Numbers of resources change when a store without erased ones is opened again; the edge tells.
    std::uint32_t from = cursor.resource;
    if (cursor.edge) {
        if (const auto edge = store.at(cursor.edge->position)) {
            from = edge->resource + 1;
        }
    }
    const std::optional<TypeId> type =
        target.level == Level::type_history ? std::optional(target.type) : std::nullopt;
    std::vector<VersionInfo> versions;
    while (from < store.resource_count() && (counts || versions.size() <= parameters.count)) {
        const std::vector<VersionInfo> found =
            store.current_at(type, *cursor.at, cursor.bound, from, kResourcesPerTurn);
        if (counts) {
            cursor.total += found.size();
        }
        const std::size_t wanted = static_cast<std::size_t>(parameters.count) + 1 - versions.size();
        versions.insert(
            versions.end(), found.begin(),
            found.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, found.size())));
        co_await request.loop->yield();
    }

    HistoryPageContent content;
    content.total = cursor.total;
    Links links(request, target, parameters);
    if (parameters.continued) {
        links.add("self", own);
        links.add("first");
    } else {
        links.add("self");
    }
    if (versions.size() > parameters.count) {
        versions.pop_back();
        if (!versions.empty()) {
            cursor.edge = versions.back();
            cursor.resource = versions.back().resource + 1;
            links.add("next", cursor);
        }
    }
    content.links = links.take();
    content.versions = std::move(versions);
    co_return answer_history(service, request.base_url, std::move(content));
}

asio::awaitable<Response> answer_many(const Service& service, const Request& request,
                                      const Target& target) {
    Result<HistoryParameters> parameters =
        read_history_parameters(service.config(), request, target);
    if (!parameters) {
        co_return outcome_response(parameters.error(), request);
    }
    if (!parameters->cursor.at) {
        co_return answer_page(service, request, target, *parameters);
    }
    Response response = co_await answer_at(service, request, target, *std::move(parameters));
    co_return response;
}

}  // namespace

Response instance_history(const Service& service, const Request& request, const Target& target) {
    const Result<HistoryParameters> parameters =
        read_history_parameters(service.config(), request, target);
    if (!parameters) {
        return outcome_response(parameters.error(), request);
    }
    if (!service.store().current(target.type, target.id)) {
        return answer_absent(request, target.type, target.id);
    }
    if (!parameters->cursor.at) {
        return answer_page(service, request, target, *parameters);
    }

    HistoryPageContent content;
    Links links(request, target, *parameters);
    add_self(links, *parameters);
    content.links = links.take();
    if (const auto info =
            service.store().current_at(target.type, target.id, *parameters->cursor.at)) {
        content.total = 1;
        if (parameters->count > 0 && parameters->offset == 0) {
            content.versions.push_back(*info);
        }
    }
    return answer_history(service, request.base_url, std::move(content));
}

asio::awaitable<Response> type_history(const Service& service, const Request& request,
                                       const Target& target) {
    Response response = co_await answer_many(service, request, target);
    co_return response;
}

asio::awaitable<Response> system_history(const Service& service, const Request& request,
                                         const Target& target) {
    Response response = co_await answer_many(service, request, target);
    co_return response;
}

}  // namespace annals::core
