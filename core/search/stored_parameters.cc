#include "core/search/stored_parameters.h"

#include <algorithm>

namespace annals::core::search {

namespace {

constexpr std::size_t kPageSize = 1000;

TypeId own_type() {
    static const TypeId type = find_resource_type("SearchParameter").value();
    return type;
}

}  // namespace

StoredParameters::StoredParameters(const storage::Store& store, References references,
                                   std::shared_ptr<const TimeZone> zone)
    : store_(store), references_(references), zone_(std::move(zone)) {
}

std::uint64_t StoredParameters::stamp(const storage::Store& store) noexcept {
    // Neither ever decreases: a version increases one, an erasure the other.
    const storage::Totals totals = store.totals(own_type());
    return (totals.versions + totals.erased) * 0x9e3779b97f4a7c15 + totals.erased;
}

void StoredParameters::take(const storage::VersionInfo& info) {
    kept_.erase(info.resource);
    if (info.deletion || kept_.size() >= kResourcesMax) {
        return;
    }
    const Result<storage::StoredVersion> stored = store_.load(info);
    if (!stored) {
        return;  // erased meanwhile
    }
    json::Parser parser;
    Result<json::Document> document = parser.parse(stored->body);
    if (document) {
        kept_.emplace(info.resource, Kept{info.position, *std::move(document)});
    }
}

void StoredParameters::refresh() {
    storage::HistoryQuery query;
    query.type = own_type();
    query.order = storage::HistoryOrder::oldest_first;
    query.count = kPageSize;
    for (bool more = true; more;) {
        query.after = last_;
        const storage::HistoryPage page = store_.history(query);
        for (const storage::VersionInfo& info : page.versions) {
            take(info);
            last_ = info;
        }
        more = page.more && !page.versions.empty();
    }
    // Erased versions are not in the history.
    std::erase_if(kept_, [&](const auto& kept) { return !store_.at(kept.second.position); });
}

std::shared_ptr<const ParameterSet> StoredParameters::make(std::span<const std::string> unready,
                                                           std::vector<Error>* faults) const {
    if (kept_.empty() && references_ == References::as_searched && zone_ == nullptr) {
        return ParameterSet::standard();
    }
    // If two have the same name, the one written first is used.
    std::vector<const Kept*> ordered;
    for (const auto& [resource, kept] : kept_) {
        ordered.push_back(&kept);
    }
    std::ranges::sort(ordered, {}, &Kept::position);
    std::vector<json::Value> resources;
    for (const Kept* kept : ordered) {
        resources.push_back(kept->document.root());
    }
    return ParameterSet::with(resources, unready, faults, references_, zone_);
}

}  // namespace annals::core::search
