#include "core/subscriptions/filter.h"

#include "core/definitions.h"
#include "core/search/canonical_links.h"
#include "core/search/execute.h"
#include "core/search/query.h"
#include "core/search/snapshot.h"
#include "core/search/snapshot_resources.h"

#include <algorithm>

namespace annals::core {

namespace {

/// How often a new snapshot is taken because the index no longer has the previous one.
constexpr int kSnapshotsMax = 10;

std::size_t terms_in(const search::Plan& plan) {
    std::size_t count = plan.terms.size() + 1;
    for (const search::Plan& part : plan.parts) {
        count += terms_in(part);
    }
    return count;
}

}  // namespace

Result<Filter> parse_filter(const Service& service, TypeId type, std::string_view query,
                            std::vector<Position>* unread, const search::View& view) {
    Filter filter{
        .type = type, .parameters = service.indexing().parameters(), .plan = search::everything()};
    ANNALS_TRY(const auto pairs, search::decode_pairs(query));
    if (pairs.empty()) {
        return filter;
    }
    search::Snapshot snapshot(service.store());
    const search::SnapshotResources stored(snapshot, service.definitions().carried(), unread);
    const search::QueryContext context{.stored = stored,
                                       .view = view,
                                       .parameters = filter.parameters,
                                       .base_url = service.config().base_url,
                                       .strict = true,
                                       .conditional = true};
    ANNALS_TRY(search::Query read, search::parse_query(context, {type}, pairs));
    filter.others = std::move(read.others);
    filter.plan = std::move(read.types.front().plan);
    if (terms_in(filter.plan) > kFilterTermsMax) {
        return Error{Errc::too_costly, "criteria: they expand to too many codes"};
    }
    return filter;
}

void Matcher::begin() {
    related_.clear();
    position_ = {};
    parser_.recycle(std::exchange(document_, json::Document()));
}

Result<bool> Matcher::matches(const storage::VersionInfo& info, const Filter& filter) {
    ANNALS_TRY_VOID(look_at(info));
    fault_.reset();
    const bool fits =
        search::matches(filter.plan, entries_, document_.root(),
                        [this](const search::Plan& part, const storage::SearchEntries& entries) {
                            return is_related(part, entries);
                        });
    if (fault_) {
        return *std::move(fault_);
    }
    return fits;
}

Result<void> Matcher::look_at(const storage::VersionInfo& info) {
    if (info.position == position_) {
        return {};
    }
    position_ = {};
    parser_.recycle(std::exchange(document_, json::Document()));
    const storage::Store& store = service_.store();
    ANNALS_TRY(const storage::StoredVersion stored, store.load(info));
    ANNALS_TRY(document_, parser_.parse(stored.body));
    service_.indexing().epoch()->extract(info.type, document_.root(), entries_);
    key_ = store.search_key(info.type, stored.id);
    entries_.terms.push_back(search::identity(key_));
    std::ranges::sort(entries_.terms);
    entries_.intervals.push_back(
        {search::column_of("_lastUpdated"), info.instant.us, info.instant.us});
    position_ = info.position;
    return {};
}

bool Matcher::is_related(const search::Plan& part, const storage::SearchEntries& entries) {
    auto found = related_.find(&part);
    if (found == related_.end()) {
        Result<search::KeySet> keys = resolve(part);
        for (int i = 0; !keys && keys.error().code == Errc::expired && i < kSnapshotsMax; ++i) {
            keys = resolve(part);
        }
        if (!keys) {
            fault_ = std::move(keys.error());
            return false;
        }
        found = related_.emplace(&part, *std::move(keys)).first;
    }
    const search::KeySet& keys = found->second;
    if (part.kind == search::Plan::Kind::has) {
        return keys.contains(key_) ||
               std::ranges::any_of(search::names_in(entries_),
                                   [&](std::uint64_t name) { return keys.contains(name); });
    }
    return std::any_of(entries.links.begin(), entries.links.end(),
                       [&](const storage::SearchEntries::Link& link) {
                           return link.column == part.column && keys.contains(link.target);
                       });
}

// Evaluates the target of a chain or _has.
Result<search::KeySet> Matcher::resolve(const search::Plan& part) const {
    search::Snapshot snapshot(service_.store());
    if (!snapshot.answers(part.type)) {
        return search::expired_snapshot();
    }
    search::KeySet keys;
    search::Execution execution(snapshot, part.type, part.parts.front());
    execution.want({});
    ANNALS_TRY_VOID(execution.advance(search::Pace()));
    for (const search::Match& match : execution.matches()) {
        search::add_linked(part, match, keys);
    }
    keys.seal(search::Pace());
    return keys;
}

}  // namespace annals::core
