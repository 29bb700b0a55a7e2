#include "core/interactions/search_contained.h"

#include "core/base/all_resource_types.h"
#include "core/search/terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

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

asio::awaitable<Result<void>> ContainedSearch::take_out(search::Snapshot& snapshot,
                                                        std::string_view base_url,
                                                        SearchBundleContent& content,
                                                        Turns& turns) {
    // The resources that match themselves.
    std::unordered_set<std::uint64_t> own;
    if (containing_ && !content.matches.empty()) {
        const auto [first, last] =
            std::ranges::minmax(content.matches, {}, &storage::VersionInfo::position);
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
    }
    search::BodyReader reader(snapshot);
    std::vector<storage::VersionInfo> kept;
    for (const storage::VersionInfo& info : content.matches) {
        if (turns.pace().is_over()) {
            Result<void> in_time = co_await turns.next();
            if (!in_time) {
                co_return std::move(in_time.error());
            }
        }
        search::Container container(reader.read(info.position));
        for (const json::Value contained : container.contained().elements()) {
            if (matches(contained, container)) {
                content.contained.push_back(
                    {fmt::format("{}/{}/{}#{}", base_url, resource_type_name(info.type),
                                 reader.id(), contained["id"].string()),
                     std::string(contained.raw())});
            }
        }
        if (own.contains(info.position.value)) {
            kept.push_back(info);
        }
    }
    content.matches = std::move(kept);
    co_return Result<void>();
}

}  // namespace annals::core
