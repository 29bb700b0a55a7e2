// PastRuns: what could be found of a type at an earlier position, made anew of the bodies that were current then.
//
// For a position that the index has thrown away (SearchRuns::vacuumed_through).
//
// Layer:   core/search.
// Spec:    docs/api/as-of.md.
// Threads: belongs to one thread.

#pragma once

#include "core/search/execute.h"
#include "core/search/parameters.h"
#include "storage/search_index.h"
#include "storage/store.h"

#include <memory>
#include <string>
#include <vector>

namespace annals::core::search {

/// At most so many resources of a type are looked at while somebody waits, and by a thread of its own.
inline constexpr std::size_t kPastDocumentsMax = 50'000;
inline constexpr std::size_t kPastDocumentsOfJobMax = 400'000;

/// Lifetime: `store` outlives this.
class PastRuns {
  public:
    PastRuns(const storage::Store& store, std::shared_ptr<const ParameterSet> parameters,
             std::string base_url, TypeId type, Position at,
             std::size_t documents_max = kPastDocumentsMax);

    /// Goes on until the turn is over (false) or all is made (true). Errors: too_costly.
    Result<bool> advance(const Pace& pace);

    /// Requires: advance() was true.
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
    std::size_t asked_about_ = 0;  // whether their bodies are in memory
    std::vector<std::unique_ptr<storage::SearchEntries>> entries_;  // of the run being made
    std::vector<storage::IndexedDocument> documents_;
    std::shared_ptr<storage::SearchRuns> runs_;
};

}  // namespace annals::core::search
