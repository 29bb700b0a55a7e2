#include "core/interactions/search_contained.h"

#include "core/base/all_resource_types.h"
#include "core/search/terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace annals::core {

using search::Plan;
using search::Query;

ContainedSearch::ContainedSearch(const storage::Store& store,
                                 std::shared_ptr<const search::ParameterSet> parameters,
                                 std::string base_url)
    : store_(store), extractor_(std::move(parameters), store.search_seed(), std::move(base_url)) {
}

// What occurs in the JSON of every resource of `type` that contains a match.
std::string ContainedSearch::mentioned_by_containers(TypeId type) const {
    // Any resource mentions its own type.
    return asked_.size() == 1 && asked_.front().of.type != type
               ? fmt::format(R"("resourceType":"{}")", resource_type_name(asked_.front().of.type))
               : R"("contained":)";
}

void ContainedSearch::widen(Query& query) {
    for (Query::TypePlan& one : query.types) {
        asked_.push_back({std::move(one), nullptr, {}});
    }
    containing_ = query.containing;
    query.types.clear();
    for (const TypeId type : kAllResourceTypes) {
        std::vector<Plan> parts;
        parts.push_back(search::verified(
            search::everything(), [this](json::Value resource) { return contains_match(resource); },
            mentioned_by_containers(type)));
        const auto own =
            std::ranges::find(asked_, type, [](const Asked& one) { return one.of.type; });
        if (own != asked_.end() && containing_) {
            parts.push_back(own->of.plan);
        }
        query.types.push_back({type, search::any_of(std::move(parts))});
    }
}

asio::awaitable<Result<void>> ContainedSearch::resolve_chains(search::Snapshot& snapshot,
                                                              Turns& turns) {
    for (Asked& one : asked_) {
        one.execution = std::make_unique<search::Execution>(snapshot, one.of.type, one.of.plan);
        one.execution->want({.limit = 0});
        Result<void> done = co_await turns.finish(*one.execution);
        if (!done) {
            co_return std::move(done.error());
        }
        one.related = search::related_by(one.execution->resolution());
    }
    co_return Result<void>();
}

bool ContainedSearch::matches(json::Value contained, search::Container& container) {
    const json::Value name = contained["resourceType"];
    for (const Asked& one : asked_) {
        if (!name.equals(resource_type_name(one.of.type))) {
            continue;
        }
        extractor_.extract(one.of.type, contained, entries_, &container);
        const search::Term own =
            search::identity(store_.search_key(one.of.type, contained["id"].string()));
        entries_.terms.insert(std::ranges::upper_bound(entries_.terms, own), own);
        return search::matches(one.of.plan, entries_, contained, one.related, &container);
    }
    return false;
}

bool ContainedSearch::contains_match(json::Value resource) {
    search::Container container(resource);
    for (const json::Value contained : container.contained().elements()) {
        if (matches(contained, container)) {
            return true;
        }
    }
    return false;
}

// The positions of those that match themselves.
asio::awaitable<Result<std::unordered_set<std::uint64_t>>> ContainedSearch::find_own(
    const std::vector<storage::VersionInfo>& containers, Turns& turns) {
    std::unordered_set<std::uint64_t> own;
    if (!containing_ || containers.empty()) {
        co_return own;
    }
    const auto [first, last] = std::ranges::minmax(containers, {}, &storage::VersionInfo::position);
    for (Asked& one : asked_) {
        one.execution->want({.after = Position{first.position.value - 1},
                             .before = Position{last.position.value + 1}});
        Result<void> done = co_await turns.finish(*one.execution);
        if (!done) {
            co_return std::move(done.error());
        }
        for (const search::Match& match : one.execution->matches()) {
            own.insert(match.position().value);
        }
    }
    co_return own;
}

// Takes what each has of a page, from the first one on or from the last one back.
asio::awaitable<Result<void>> ContainedSearch::each(
    search::Snapshot& snapshot, const std::vector<storage::VersionInfo>& containers, bool from_end,
    Take take, Turns& turns) {
    Result<std::unordered_set<std::uint64_t>> own = co_await find_own(containers, turns);
    if (!own) {
        co_return std::move(own.error());
    }
    search::BodyReader reader(snapshot);
    std::vector<json::Value> inner;
    for (std::size_t i = 0; i < containers.size(); ++i) {
        if (turns.pace().is_over()) {
            Result<void> in_time = co_await turns.next();
            if (!in_time) {
                co_return std::move(in_time.error());
            }
        }
        const storage::VersionInfo& info = containers[from_end ? containers.size() - 1 - i : i];
        search::Container container(reader.read(info.position));
        inner.clear();
        for (const json::Value contained : container.contained().elements()) {
            if (matches(contained, container)) {
                inner.push_back(contained);
            }
        }
        if (!take({info, reader.id(), own->contains(info.position.value), inner})) {
            break;
        }
    }
    co_return Result<void>();
}

asio::awaitable<Result<std::size_t>> ContainedSearch::take_out(
    search::Snapshot& snapshot, std::string_view base_url,
    const std::vector<storage::VersionInfo>& containers, bool from_end,
    SearchBundleContent& content, Turns& turns) {
    std::size_t taken = 0;
    std::size_t bytes = 0;
    const auto take = [&](const Found& found) {
        const auto add = [&](json::Value contained) {
            ContainedMatch& match = content.contained.emplace_back();
            match.full_url =
                fmt::format("{}/{}/{}#{}", base_url, resource_type_name(found.info.type), found.id,
                            contained["id"].string());
            match.resource = contained.raw();
            bytes += match.full_url.size() + match.resource.size();
        };
        if (from_end) {
            std::for_each(found.inner.rbegin(), found.inner.rend(), add);
        } else {
            std::ranges::for_each(found.inner, add);
        }
        if (found.is_match) {
            content.matches.push_back(found.info);
        }
        ++taken;
        return bytes <= kContainedPageBytes;
    };
    Result<void> done = co_await each(snapshot, containers, from_end, take, turns);
    if (!done) {
        co_return std::move(done.error());
    }
    if (from_end) {
        std::ranges::reverse(content.contained);
        std::ranges::reverse(content.matches);
    }
    co_return taken;
}

asio::awaitable<Result<std::uint64_t>> ContainedSearch::count(
    search::Snapshot& snapshot, const std::vector<storage::VersionInfo>& containers, Turns& turns) {
    std::uint64_t count = 0;
    const auto take = [&count](const Found& found) {
        count += found.inner.size() + (found.is_match ? 1 : 0);
        return true;
    };
    Result<void> done = co_await each(snapshot, containers, false, take, turns);
    if (!done) {
        co_return std::move(done.error());
    }
    co_return count;
}

}  // namespace annals::core
