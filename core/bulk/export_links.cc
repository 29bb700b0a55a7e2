#include "core/bulk/export_links.h"

#include <algorithm>

namespace annals::core {

using Link = ExportScope::Link;

namespace {

bool has(const ExportScope& scope, Link link) {
    return std::ranges::any_of(scope.searched,
                               [&](const ExportScope::Searched& one) { return one.link == link; });
}

}  // namespace

ExportLinks::ExportLinks(const ExportScope& scope, const search::ParameterSet& parameters)
    : scope_(scope),
      parameters_(parameters),
      to_given_(has(scope, Link::to_given)),
      from_given_(has(scope, Link::from_given)) {
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
                referred_to_.add(links.targets[link]);
            }
        }
    }
}

search::Plan ExportLinks::plan(const ExportScope::Searched& one) {
    std::vector<search::Term> terms;
    if (one.link == Link::to_given) {
        terms = given_;
    } else {
        referred_to_.seal(search::Pace());
        for (const std::uint64_t key : referred_to_.keys()) {
            terms.push_back(search::identity(key));
        }
    }
    std::vector<search::Plan> parts;
    parts.push_back(search::carrying(std::move(terms)));
    parts.push_back(one.plan);
    return search::all_of(std::move(parts));
}

// The references of a type that may lead to what is given where something refers to it.
std::vector<search::Column> ExportLinks::columns(TypeId type) const {
    std::vector<search::Column> columns;
    for (const search::Parameter& parameter : parameters_.of(type)) {
        if (parameter.type != schema::SearchType::reference || !parameter.ready) {
            continue;
        }
        const std::vector<TypeId> targets = search::targets_of(parameter);
        if (std::ranges::any_of(scope_.searched, [&](const ExportScope::Searched& one) {
                return one.link == Link::from_given &&
                       std::ranges::find(targets, one.type) != targets.end();
            })) {
            columns.push_back(parameter.column);
        }
    }
    return columns;
}

}  // namespace annals::core
