#include "core/search/past_runs.h"

#include "core/search/extract.h"
#include "core/search/terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

namespace annals::core::search {

namespace {

/// How many resources are looked up at a time, and documents per run.
constexpr std::uint32_t kResourcesAtOnce = 4096;
constexpr std::size_t kDocumentsOfRun = 4096;

/// Bodies fetched at a time.
constexpr std::size_t kBodiesFetched = 256;

constexpr Instant kEndOfTime{std::numeric_limits<std::int64_t>::max()};

}  // namespace

PastRuns::PastRuns(const storage::Store& store, std::shared_ptr<const ParameterSet> parameters,
                   std::string base_url, TypeId type, Position at, std::size_t documents_max)
    : store_(store),
      parameters_(std::move(parameters)),
      base_url_(std::move(base_url)),
      type_(type),
      at_(at),
      documents_max_(documents_max),
      resource_count_(at.value == 0 ? 0 : store.resource_count()),  // for the store, 0 means now
      runs_(std::make_shared<storage::SearchRuns>()) {
}

Result<bool> PastRuns::advance(const Pace& pace) {
    if (!found_) {
        ANNALS_TRY(found_, find_versions(pace));
        if (!found_) {
            return false;
        }
        std::ranges::sort(versions_, {}, &storage::VersionInfo::position);
    }
    return index_versions(pace);
}

Result<bool> PastRuns::find_versions(const Pace& pace) {
    while (next_resource_ < resource_count_) {
        const std::vector<storage::VersionInfo> found =
            store_.current_at(type_, kEndOfTime, at_, next_resource_, kResourcesAtOnce);
        versions_.insert(versions_.end(), found.begin(), found.end());
        if (versions_.size() > documents_max_) {
            return Error{Errc::too_costly,
                         fmt::format("The search index of {} does not reach back that far, and "
                                     "more than {} of them would have to be read",
                                     resource_type_name(type_), documents_max_)};
        }
        if (pace.is_over() && next_resource_ < resource_count_) {
            return false;
        }
    }
    return true;
}

bool PastRuns::index_versions(const Pace& pace) {
    BodyReader reader(store_);
    Extractor& extractor = thread_extractor(parameters_, store_.search_seed(), base_url_);
    while (next_version_ < versions_.size()) {
        if (next_version_ == asked_about_ && must_fetch(pace)) {
            return false;
        }
        const storage::VersionInfo& info = versions_[next_version_++];
        const json::Value body = reader.read(info.position);
        if (body) {
            auto entries = std::make_unique<storage::SearchEntries>();
            extractor.extract_for_run(type_, body, *entries);
            const std::uint64_t key = store_.search_key(type_, reader.id());
            entries->terms.push_back(identity(key));
            entries->intervals.push_back(
                {column_of("_lastUpdated"), info.instant.us, info.instant.us});
            documents_.push_back({info.position, key, entries.get()});
            entries_.push_back(std::move(entries));
        }
        if (documents_.size() == kDocumentsOfRun) {
            finish_run();
        }
        if (pace.is_over() && next_version_ < versions_.size()) {
            return false;
        }
    }
    finish_run();
    return true;
}

/// Whether the next bodies are only on the device, which ends the turn.
bool PastRuns::must_fetch(const Pace& pace) {
    if (!pace.defers()) {
        return false;
    }
    const auto next = std::span(versions_).subspan(asked_about_);
    const auto some = next.first(std::min(next.size(), kBodiesFetched));
    asked_about_ += some.size();
    return pace.defer(store_.unread(some));
}

void PastRuns::finish_run() {
    if (!documents_.empty()) {
        runs_->runs.push_back(storage::SearchRun::build(documents_));
    }
    documents_.clear();
    entries_.clear();
}

}  // namespace annals::core::search
