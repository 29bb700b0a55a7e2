#include "core/search/carried.h"

#include "core/search/extract.h"
#include "core/search/terms.h"

namespace annals::core::search {

CarriedTypeRuns CarriedIndex::find(TypeId type,
                                   const std::shared_ptr<const ParameterSet>& parameters) const {
    const std::lock_guard lock(mutex_);
    const CarriedTypeRuns& kept = kept_[type.value];
    return kept.parameters == parameters ? kept : CarriedTypeRuns{parameters, 0, {}};
}

void CarriedIndex::keep(TypeId type, const CarriedTypeRuns& runs) {
    const std::lock_guard lock(mutex_);
    CarriedTypeRuns& kept = kept_[type.value];
    if (kept.parameters != runs.parameters || kept.through < runs.through) {
        kept = runs;
    }
}

CarriedRuns::CarriedRuns(CarriedIndex& index, std::shared_ptr<const ParameterSet> parameters,
                         std::string base_url, std::shared_ptr<const Carried> carried, TypeId type)
    : index_(index),
      base_url_(std::move(base_url)),
      carried_(std::move(carried)),
      type_(type),
      made_(index.find(type, parameters)) {
}

Result<bool> CarriedRuns::advance(const Pace& pace) {
    thread_local json::Parser parser;
    const storage::Store& store = index_.store();
    Extractor& extractor = thread_extractor(made_.parameters, store.search_seed(), base_url_);
    const std::size_t count = carried_->resources.size();
    while (made_.through < count) {
        const Carried::Resource& resource = carried_->resources[made_.through++];
        if (resource.type != type_) {
            continue;
        }
        Result<json::Document> document = parser.parse(resource.body);
        if (document) {
            auto entries = std::make_unique<storage::SearchEntries>();
            extractor.extract_for_run(type_, document->root(), *entries);
            const std::uint64_t key = store.search_key(type_, resource.id);
            entries->terms.push_back(identity(key));
            documents_.push_back(
                {Position{kCarriedFrom.value + made_.through - 1}, key, entries.get()});
            entries_.push_back(std::move(entries));
            parser.recycle(*std::move(document));
        }
        if (pace.is_over() && made_.through < count) {
            return false;
        }
    }
    finish_run();
    return true;
}

void CarriedRuns::finish_run() {
    if (!documents_.empty()) {
        made_.runs.push_back(storage::SearchRun::build(documents_));
    }
    documents_.clear();
    entries_.clear();
    index_.keep(type_, made_);
}

std::shared_ptr<const storage::SearchRuns> CarriedRuns::beside(
    const storage::SearchRuns& stored) const {
    auto all = std::make_shared<storage::SearchRuns>(stored);
    all->runs.insert(all->runs.end(), made_.runs.begin(), made_.runs.end());
    return all;
}

}  // namespace annals::core::search
