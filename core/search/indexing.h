// Indexing: makes versions findable as they are written, by the search parameters that hold at the moment.
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
#include <string_view>
#include <vector>

namespace annals::core::search {

/// StoreOptions::search for a server whose public root is `base_url` (empty: it is the request's Host), and where dates
/// without a zone are in `zone` (null: UTC).
std::function<storage::SearchSetup(const storage::Store&)> search_setup(
    std::string base_url, References references = References::as_searched,
    std::shared_ptr<const TimeZone> zone = nullptr);

/// The calling thread's extractor for these.
Extractor& thread_extractor(const std::shared_ptr<const ParameterSet>& parameters,
                            std::uint64_t seed, std::string_view base_url);

class Indexing {
  public:
    /// Lifetime: `store`, which was opened with search_setup() of the same, outlives it.
    Indexing(storage::Store& store, std::string base_url,
             References references = References::as_searched,
             std::shared_ptr<const TimeZone> zone = nullptr);
    ~Indexing();
    Indexing(const Indexing&) = delete;
    Indexing& operator=(const Indexing&) = delete;

    /// What holds at one time. Whoever extracts entries keeps it until he has submitted them.
    class Epoch;

    /// What holds now: a SearchParameter that has been committed counts, though it is not ready at first. Cost: some
    /// loads while none changed.
    std::shared_ptr<const Epoch> epoch();

    std::shared_ptr<const ParameterSet> parameters();

    /// A version was submitted with what an epoch extracted: its ticket, before the epoch is let go.
    static void submitted(const Epoch& epoch, storage::Ticket ticket) noexcept;

    /// Indexes all that is stored of `types` anew, in the background. False if that was asked for already and is not
    /// done yet.
    bool reindex(std::span<const TypeId> types);

    struct Progress {
        bool running = false;
        std::vector<TypeId> types;         ///< those that are still to be done
        std::uint64_t documents_done = 0;  ///< of the types under way
        std::uint64_t documents = 0;
    };

    Progress progress() const;

    /// What is wrong with stored SearchParameters: Error::expression says with which one.
    std::vector<Error> faults() const;

    /// Waits until nothing is left to be indexed anew. For tests and tools.
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

    /// What `resource`, of `type`, can be found by: as Extractor::extract_for_run().
    void extract(TypeId type, json::Value resource, storage::SearchEntries& entries) const;

    /// The same in memory of the thread. Lifetime: until the thread's next call.
    const storage::SearchEntries& entries_of(TypeId type, json::Value resource) const;

  private:
    friend class Indexing;

    std::shared_ptr<const ParameterSet> parameters_;
    std::uint64_t seed_;
    std::string base_url_;
    mutable std::atomic<std::uint64_t> last_ticket_ = 0;  ///< of what was submitted with it
};

}  // namespace annals::core::search
