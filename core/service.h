// Service: the face of core. One FHIR server without its sockets.
//
// Layer:   core; net and tools see this, exchange.h, config.h and loop.h.
// Threads: const after construction; handle() runs on the loop of its request.

#pragma once

#include "core/access.h"
#include "core/config/config.h"
#include "core/exchange.h"
#include "core/loop.h"
#include "core/representation.h"
#include "core/search/indexing.h"
#include "core/target.h"
#include "storage/file_system.h"
#include "storage/store.h"

#include <asio/awaitable.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace annals::core {

class BackupRun;
class RestoreRun;
class Definitions;
class Descriptions;
class DigestTree;
class Jobs;

/// What handlers share. Lifetime: `store` outlives the service, the service outlives every loop's work.
class Service {
  public:
    /// `files`: where jobs keep what they make, below config.data. Lifetime: it outlives the service.
    Service(const Config& config, storage::Store& store,
            storage::FileSystem& files = storage::posix_file_system());
    ~Service();

    const Config& config() const noexcept { return config_; }

    storage::Store& store() const noexcept { return store_; }

    /// Whether anybody is asked who he is (auth.mode is not "none").
    bool guarded() const noexcept { return guarded_; }

    /// When this configuration came into force (CapabilityStatement.date).
    Instant started() const noexcept { return started_; }

    /// The conformance resources that are known here.
    const Definitions& definitions() const noexcept { return *definitions_; }

    /// What versions are made findable by. The store was opened with search_setup(config).
    search::Indexing& indexing() const noexcept { return *indexing_; }

    /// Where a server that this one follows stood when what came from it last was durable here; none before the first.
    std::optional<Position> followed() const noexcept {
        const std::uint64_t position = followed_.load(std::memory_order_acquire);
        return position == 0 ? std::nullopt : std::optional(Position{position});
    }

    void set_followed(Position position) const noexcept {
        followed_.store(position.value, std::memory_order_release);
    }

    /// Versions that came in history bundles and differ from the stored ones of the same number.
    std::uint64_t divergences() const noexcept {
        return divergences_.load(std::memory_order_relaxed);
    }

    void count_divergence() const noexcept { divergences_.fetch_add(1, std::memory_order_relaxed); }

    /// The backups that are made of the store.
    BackupRun& backup_run() const noexcept { return *backup_run_; }

    /// The backups that are brought back into the store.
    RestoreRun& restore_run() const noexcept { return *restore_run_; }

    /// What the store holds, to be compared with another's.
    DigestTree& digest_tree() const noexcept { return *digest_tree_; }

    /// What goes on when its request has been answered.
    Jobs& jobs() const noexcept { return *jobs_; }

    /// What this server says of itself.
    const Descriptions& descriptions() const noexcept { return *descriptions_; }

  private:
    Config config_;
    bool guarded_;
    storage::Store& store_;
    Instant started_;
    std::unique_ptr<Definitions> definitions_;
    std::unique_ptr<search::Indexing> indexing_;
    std::unique_ptr<BackupRun> backup_run_;
    std::unique_ptr<DigestTree> digest_tree_;
    mutable std::atomic<std::uint64_t> followed_{0};
    mutable std::atomic<std::uint64_t> divergences_{0};
    std::unique_ptr<Descriptions> descriptions_;
    std::unique_ptr<RestoreRun> restore_run_;
    std::unique_ptr<Jobs> jobs_;  // last: they use all the rest
};

/// StoreOptions::search for the store of a service with this configuration.
std::function<storage::SearchSetup(const storage::Store&)> search_setup(const Config& config);

/// Handlers return the Error that a request comes to; who called them tells it (tell_failure()).
using PlainHandler = Response (*)(const Service&, const Request&, const Target&);
using AwaitingHandler = asio::awaitable<Response> (*)(const Service&, const Request&,
                                                      const Target&);

/// Answers a write before it is durable (Response::unsettled). None, and nothing is done, if something has to be awaited before
/// its commit.
using EarlyHandler = std::optional<Response> (*)(const Service&, const Request&, const Target&);

/// One row of THE table (core/interactions/table.cc): what a level takes by a method, who handles it, which
/// flag switches it off, and how the CapabilityStatement calls it. Either `plain` or `awaiting` is set.
struct Interaction {
    Level level;
    HttpMethod method;
    PlainHandler plain = nullptr;
    AwaitingHandler awaiting = nullptr;
    bool (*enabled)(const Config&) = nullptr;  ///< null: always
    std::string_view capability;  ///< "read", "transaction batch", ...; empty: not listed
    std::string_view page;        ///< docs/api/<page>.md
    Access access = Access::administer;
    Extent extent = Extent::all;  ///< part: its handler holds what it comes to to a ScopedView
    EarlyHandler early =
        nullptr;  ///< what `awaiting` begins with, for whoever keeps the answer himself
};

/// Whether the configuration has it on; of a read-only server no writes.
bool is_on(const Interaction& row, const Config& config) noexcept;

/// The whole table, in the order of the CapabilityStatement.
std::span<const Interaction> interactions() noexcept;

/// The row for a request, or why there is none: not_found (path), invalid (an unknown operation),
/// method_not_allowed (with what is allowed in `allow`: "GET, HEAD"; also when the row is switched off).
Result<const Interaction*> find_interaction(const Config& config, HttpMethod method,
                                            const Target& target, std::string& allow);

/// Which row takes a request, and what its answer is to look like. Lifetime: of the request's path.
struct Route {
    Target target;
    const Interaction* row = nullptr;
    Representation asked;
};

/// Handles one request: finds its row, runs it, and turns every Error into an OperationOutcome.
/// Never throws for anything a client sends. HEAD runs GET; net drops the body.
asio::awaitable<Response> handle(const Service& service, const Request& request);

/// Refuses by the head alone what handle() would refuse whatever the body is: by path, method, credentials and what is
/// accepted. None: the body is worth reading.
std::optional<Response> refuse_at_head(const Service& service, const Request& request);

/// The first half of handle(), without a coroutine: the whole answer where the request is refused or its row has a plain
/// handler; none if it must be awaited, be it for a position or for the device: then `route` is set for handle_routed().
std::optional<Response> handle_plain(const Service& service, const Request& request, Route& route);

/// The first attempt at a request that handle_plain() has left, for whoever waits himself until Response::unsettled has settled.
/// None: it takes handle_routed().
std::optional<Response> handle_early(const Service& service, const Request& request,
                                     const Route& route);

/// The other half, for a request that handle_plain() has left. Lifetime: `route` outlives the await.
asio::awaitable<Response> handle_routed(const Service& service, const Request& request,
                                        const Route& route);

}  // namespace annals::core
