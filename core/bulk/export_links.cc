#include "core/bulk/export_links.h"

#include "core/base/sort_unique.h"

#include <algorithm>

namespace annals::core {

namespace {

bool has(const ExportScope& scope, ExportScope::Link link) {
    return std::ranges::any_of(scope.searched,
                               [&](const ExportScope::Searched& one) { return one.link == link; });
}

}  // namespace

ExportLinks::ExportLinks(const ExportScope& scope, const search::ParameterSet& parameters)
    : scope_(scope),
      parameters_(parameters),
      to_given_(has(scope, ExportScope::Link::to_given)),
      from_given_(has(scope, ExportScope::Link::from_given)) {
}

void ExportLinks::take(std::span<const search::Match> matches) {
    if (matches.empty()) {
        return;
    }
    const std::vector<search::Column> references = columns(matches.front().type);
    const search::Column target = search::column_of("target");
    for (const search::Match& match : matches) {
        if (is_full()) {
            return;
        }
        if (to_given_) {
            given_.push_back(search::reference(target, match.key()));
        }
        for (const search::Column column : references) {
            const storage::LinkColumn links = match.run->links(column);
            for (const std::uint32_t link : links.of(match.document)) {
                referred_to_.push_back(search::identity(links.targets[link]));
            }
        }
        if (referred_to_.size() >= crowded_) {
            make_unique();
        }
    }
}

void ExportLinks::make_unique() {
    sort_unique(referred_to_);
    crowded_ = std::max(kCrowded, referred_to_.size() * 2);
}

search::Plan ExportLinks::plan(const ExportScope::Searched& one) {
    return search::all_of(
        search::carrying(one.link == ExportScope::Link::to_given ? given_ : referred_to_),
        scope_.plan(one));
}

// The references of a type to those types that are exported where something refers to them.
std::vector<search::Column> ExportLinks::columns(TypeId type) const {
    std::vector<search::Column> columns;
    for (const search::Parameter& parameter : parameters_.of(type)) {
        if (parameter.type != schema::SearchType::reference || !parameter.ready) {
            continue;
        }
        const std::vector<TypeId> targets = search::targets_of(parameter);
        if (std::ranges::any_of(scope_.searched, [&](const ExportScope::Searched& one) {
                return one.link == ExportScope::Link::from_given &&
                       std::ranges::find(targets, one.type) != targets.end();
            })) {
            columns.push_back(parameter.column);
        }
    }
    return columns;
}

}  // namespace annals::core
