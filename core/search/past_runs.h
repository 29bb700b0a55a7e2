// PastRuns: the index of a type at an earlier position, rebuilt from the bodies that were current then.
//
// For positions that the index no longer covers (SearchRuns::vacuumed_through).
//
// Layer:   core/search.
// Spec:    docs/api/as-of.md.
// Threads: belongs to one thread.

#pragma once

#include "core/search/pace.h"
#include "core/search/parameters.h"
#include "storage/search_index.h"
#include "storage/store.h"

#include <memory>
#include <string>
#include <vector>

namespace annals::core::search {

/// At most this many resources of a type are indexed while a request waits, and by a job.
inline constexpr std::size_t kPastDocumentsMax = 50'000;
inline constexpr std::size_t kPastDocumentsOfJobMax = 400'000;

/// Lifetime: `store` outlives this.
class PastRuns {
  public:
    PastRuns(const storage::Store& store, std::shared_ptr<const ParameterSet> parameters,
             std::string base_url, TypeId type, Position at,
             std::size_t documents_max = kPastDocumentsMax);

    /// Continues until the turn is over (false) or the runs are complete (true). Errors: too_costly.
    Result<bool> advance(const Pace& pace);

    /// Requires: advance() has returned true.
    std::shared_ptr<const storage::SearchRuns> runs() const { return runs_; }

  private:
    Result<bool> find_versions(const Pace& pace);
    bool index_versions(const Pace& pace);
    bool must_fetch(const Pace& pace);
    void finish_run();

    const storage::Store& store_;
    std::shared_ptr<const ParameterSet> parameters_;
    std::string base_url_;
    TypeId type_;
    Position at_;
    std::size_t documents_max_;
    std::uint32_t next_resource_ = 0;
    std::uint32_t resource_count_;
    std::vector<storage::VersionInfo> versions_;
    bool found_ = false;
    std::size_t next_version_ = 0;
    std::size_t asked_about_ = 0;  // so many versions have been checked for unread bodies
    std::vector<std::unique_ptr<storage::SearchEntries>> entries_;  // of the run being built
    std::vector<storage::IndexedDocument> documents_;
    std::shared_ptr<storage::SearchRuns> runs_;
};

}  // namespace annals::core::search
