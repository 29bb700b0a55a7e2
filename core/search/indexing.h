// Indexing: indexes versions as they are written, by the search parameters that are current.
//
// Layer:   core/search.
// Threads: every member from any thread.

#pragma once

#include "core/base/result.h"
#include "core/search/extract.h"
#include "core/search/parameters.h"
#include "storage/store.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace annals::core::search {

/// StoreOptions::search for a server with this public root (empty: the request's Host). Dates without a time zone are
/// in `zone` (null: UTC).
std::function<storage::SearchSetup(const storage::Store&)> search_setup(
    std::string base_url, References references = References::as_searched,
    std::shared_ptr<const TimeZone> zone = nullptr);

class Indexing {
  public:
    /// Requires: `store` was opened with search_setup() of the same arguments. Lifetime: it outlives this.
    Indexing(storage::Store& store, std::string base_url,
             References references = References::as_searched,
             std::shared_ptr<const TimeZone> zone = nullptr);
    ~Indexing();
    Indexing(const Indexing&) = delete;
    Indexing& operator=(const Indexing&) = delete;

    /// The parameters at one time. Must be held from extracting entries until they have been submitted.
    class Epoch;

    /// The current epoch. It includes every committed SearchParameter, which is not ready at first. Cost: a few loads
    /// if none has changed.
    std::shared_ptr<const Epoch> epoch();

    std::shared_ptr<const ParameterSet> parameters();

    /// Must be called with the ticket of a version that was submitted with entries of `epoch`, before it is released.
    static void submitted(const Epoch& epoch, storage::Ticket ticket) noexcept;

    /// Starts to rebuild the indexes of `types` in the background. False if a rebuild is already under way.
    bool reindex(std::span<const TypeId> types);

    struct Progress {
        bool running = false;
        std::vector<TypeId> types;         ///< those not done yet
        std::uint64_t documents_done = 0;  ///< of the types under way
        std::uint64_t documents = 0;
    };

    Progress progress() const;

    /// Why stored SearchParameters can't be used; Error::expression names the resource.
    std::vector<Error> faults() const;

    /// Waits until no rebuild is left. For tests and tools.
    void wait_until_idle();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

class Indexing::Epoch {
  public:
    Epoch(std::shared_ptr<const ParameterSet> parameters, std::uint64_t seed, std::string base_url)
        : parameters_(std::move(parameters)), seed_(seed), base_url_(std::move(base_url)) {}

    const std::shared_ptr<const ParameterSet>& parameters() const noexcept { return parameters_; }

    /// As Extractor::extract_for_run().
    void extract(TypeId type, json::Value resource, storage::SearchEntries& entries) const;

    /// The same, in the thread's own memory. Lifetime: until the thread's next call.
    const storage::SearchEntries& entries_of(TypeId type, json::Value resource) const;

  private:
    friend class Indexing;

    std::shared_ptr<const ParameterSet> parameters_;
    std::uint64_t seed_;
    std::string base_url_;
    mutable std::atomic<std::uint64_t> last_ticket_ = 0;  ///< the newest one submitted with it
};

}  // namespace annals::core::search
