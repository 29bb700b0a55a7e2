#include "core/interactions/search_contained.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {

using search::Plan;
using search::Query;

ContainedSearch::ContainedSearch(std::uint64_t seed,
                                 std::shared_ptr<const search::ParameterSet> parameters,
                                 std::string base_url)
    : extractor_(std::move(parameters), seed, std::move(base_url)) {
}

void ContainedSearch::widen(Query& query) {
    asked_ = std::move(query.types);
    containing_ = query.containing;
    query.types.clear();
    for (std::uint16_t number = 0; number < kResourceTypeCount; ++number) {
        const TypeId type{number};
        std::vector<Plan> parts;
        parts.push_back(search::verified(search::everything(), [this](json::Value resource) {
            return contains_match(resource);
        }));
        const auto own = std::find_if(asked_.begin(), asked_.end(),
                                      [&](const Query::TypePlan& one) { return one.type == type; });
        if (own != asked_.end() && containing_) {
            parts.push_back(own->plan);
        }
        query.types.push_back({type, search::any_of(std::move(parts))});
    }
}

bool ContainedSearch::matches(json::Value contained) {
    const json::Value name = contained["resourceType"];
    for (const Query::TypePlan& one : asked_) {
        if (!name.equals(resource_type_name(one.type))) {
            continue;
        }
        entries_.clear();
        extractor_.extract(one.type, contained, entries_);
        return search::matches(one.plan, entries_, contained);
    }
    return false;
}

bool ContainedSearch::contains_match(json::Value resource) {
    for (const json::Value contained : resource["contained"].elements()) {
        if (matches(contained)) {
            return true;
        }
    }
    return false;
}

void ContainedSearch::take_out(search::Snapshot& snapshot, std::string_view base_url,
                               SearchBundleContent& content) {
    search::BodyReader reader(snapshot);
    std::erase_if(content.matches, [&](const storage::VersionInfo& info) {
        const json::Value body = reader.read(info.position);
        bool any = false;
        for (const json::Value contained : body["contained"].elements()) {
            if (matches(contained)) {
                any = true;
                content.contained.push_back(
                    {fmt::format("{}/{}/{}#{}", base_url, resource_type_name(info.type),
                                 reader.id(), contained["id"].string()),
                     std::string(contained.raw())});
            }
        }
        // What matches itself stays, be it that it contains matches, too.
        return any && !(containing_ && matches(body));
    });
}

}  // namespace annals::core
