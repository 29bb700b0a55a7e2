// Carried: the resources of installed packages, which are found along with the store's although they are not in it.
//
// Their positions come after all those of the store, in order of arrival, so that code that iterates over matches by
// position includes them.
//
// Layer:   core/search.
// Spec:    docs/api/install-package.md.
// Threads: Carried is const once made; CarriedIndex: any; CarriedRuns belongs to one thread.

#pragma once

#include "core/base/resource_types.h"
#include "core/search/pace.h"
#include "core/search/parameters.h"
#include "storage/search_index.h"
#include "storage/store.h"

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace annals::core::search {

struct Carried;

/// The runs of the carried resources of one type, built from the first `through` resources of all types.
struct CarriedTypeRuns {
    std::shared_ptr<const ParameterSet> parameters;
    std::size_t through = 0;
    std::vector<std::shared_ptr<const storage::SearchRun>> runs;
};

/// Keeps the runs that were built, for one set of parameters. Lifetime: `store` outlives it.
class CarriedIndex {
  public:
    explicit CarriedIndex(const storage::Store& store) : store_(store) {}

    /// The runs kept for these parameters; empty if there are none.
    CarriedTypeRuns find(TypeId type, const std::shared_ptr<const ParameterSet>& parameters) const;

    void keep(TypeId type, const CarriedTypeRuns& runs);

    const storage::Store& store() const noexcept { return store_; }

  private:
    const storage::Store& store_;
    mutable std::mutex mutex_;
    std::array<CarriedTypeRuns, kResourceTypeCount> kept_;  // guarded by mutex_
};

/// Builds the missing runs of a type in a CarriedIndex, in turns. Lifetime: `index` outlives it.
class CarriedRuns {
  public:
    CarriedRuns(CarriedIndex& index, std::shared_ptr<const ParameterSet> parameters,
                std::string base_url, std::shared_ptr<const Carried> carried, TypeId type);

    /// Continues until the turn is over (false) or all are built and kept (true).
    Result<bool> advance(const Pace& pace);

    /// The runs of the store's snapshot, followed by these. Requires: advance() has returned true.
    std::shared_ptr<const storage::SearchRuns> beside(const storage::SearchRuns& stored) const;

  private:
    void finish_run();

    CarriedIndex& index_;
    std::string base_url_;
    std::shared_ptr<const Carried> carried_;
    TypeId type_;
    CarriedTypeRuns made_;
    std::vector<std::unique_ptr<storage::SearchEntries>> entries_;  // of the run being built
    std::vector<storage::IndexedDocument> documents_;
};

}  // namespace annals::core::search
