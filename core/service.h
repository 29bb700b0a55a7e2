// Service: the face of core. One FHIR server without its sockets.
//
// Layer:   core. Requests reach handlers through this.
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
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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
    /// `files`: for the files of jobs, below config.data. Lifetime: it outlives the service.
    Service(const Config& config, storage::Store& store,
            storage::FileSystem& files = storage::posix_file_system());
    ~Service();

    const Config& config() const noexcept { return config_; }

    /// When the time is over that a request has which begins now: `limits.request_timeout`.
    std::chrono::steady_clock::time_point request_end() const noexcept {
        return std::chrono::steady_clock::now() + config_.limits.request_timeout;
    }

    storage::Store& store() const noexcept { return store_; }

    /// Whether requests need credentials (auth.mode is not "none").
    bool guarded() const noexcept { return guarded_; }

    /// When this configuration came into force (CapabilityStatement.date).
    Instant started() const noexcept { return started_; }

    /// The conformance resources known to this server.
    const Definitions& definitions() const noexcept { return *definitions_; }

    /// The search parameters that versions are indexed by. The store was opened with search_setup(config).
    search::Indexing& indexing() const noexcept { return *indexing_; }

    /// The position of the followed server up to which everything is durable here; none before the first bundle from it.
    std::optional<Position> followed() const noexcept {
        const std::uint64_t position = followed_.load(std::memory_order_acquire);
        return position == 0 ? std::nullopt : std::optional(Position{position});
    }

    void set_followed(Position position) const noexcept {
        followed_.store(position.value, std::memory_order_release);
    }

    /// How many versions in history bundles differed from the stored version of the same number.
    std::uint64_t divergences() const noexcept {
        return divergences_.load(std::memory_order_relaxed);
    }

    void count_divergence() const noexcept { divergences_.fetch_add(1, std::memory_order_relaxed); }

    /// Makes backups of the store ($backup).
    BackupRun& backup_run() const noexcept { return *backup_run_; }

    /// Brings backups back into the store ($restore).
    RestoreRun& restore_run() const noexcept { return *restore_run_; }

    /// Hashes over the store's contents, to compare with another's ($digest).
    DigestTree& digest_tree() const noexcept { return *digest_tree_; }

    /// Work that outlives the request that began it.
    Jobs& jobs() const noexcept { return *jobs_; }

    /// The CapabilityStatement and the other resources that describe this server.
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

/// Handlers return an Error as it is; their caller makes the OperationOutcome (tell_failure()).
using PlainHandler = Response (*)(const Service&, const Request&, const Target&);
using AwaitingHandler = asio::awaitable<Response> (*)(const Service&, const Request&,
                                                      const Target&);

/// Answers a write before it is durable (Response::unsettled). None, and nothing has been done, if something
/// must be awaited before the commit.
using EarlyHandler = std::optional<Response> (*)(const Service&, const Request&, const Target&);

/// One row of the table of interactions (core/interactions/table.cc): a level and a method, the handler, the
/// flag that switches it off, and its name in the CapabilityStatement. Either `plain` or `awaiting` is set.
struct Interaction {
    Level level;
    HttpMethod method;
    PlainHandler plain = nullptr;
    AwaitingHandler awaiting = nullptr;
    bool (*enabled)(const Config&) = nullptr;  ///< null: always
    std::string_view capability;  ///< "read", "transaction batch", ...; empty: not listed
    std::string_view page;        ///< docs/api/<page>.md
    Access access = Access::administer;
    Extent extent = Extent::all;  ///< part: its handler checks everything against a ScopedView
    /// The first attempt, before `awaiting`.
    EarlyHandler early = nullptr;
};

/// Whether the configuration enables it; a read-only server has no writes.
bool is_on(const Interaction& row, const Config& config) noexcept;

/// The whole table, in the order of the CapabilityStatement.
std::span<const Interaction> interactions() noexcept;

/// The row for a request, or why there is none: not_found (path), invalid (an unknown operation),
/// method_not_allowed (also when the row is switched off).
Result<const Interaction*> find_interaction(const Config& config, HttpMethod method,
                                            const Target& target);

/// The methods that the path takes, as in Allow: "GET, HEAD"; empty: none.
std::string allowed_methods(const Config& config, const Target& target);

/// The row for a request, and the representation asked for. Lifetime: that of the request's path.
struct Route {
    Target target;
    const Interaction* row = nullptr;
    Representation asked;
    bool tried_early = false;  ///< Interaction::early has been called
};

/// Handles one request: finds its row, runs it, and turns every Error into an OperationOutcome.
/// Never throws for anything a client sends. HEAD runs GET; net drops the body.
asio::awaitable<Response> handle(const Service& service, const Request& request);

/// Refuses, from its head alone, a request that handle() would refuse whatever its body: for path, method, credentials or
/// Accept. None: the body must be read.
std::optional<Response> refuse_at_head(const Service& service, const Request& request);

/// The first half of handle(), without a coroutine. Returns the whole answer if the request is refused or its row has a plain
/// handler; none if something must be awaited (a position, the device): then `route` is set for handle_routed().
std::optional<Response> handle_plain(const Service& service, const Request& request, Route& route);

/// The first attempt at a request for which handle_plain() returned none; the caller waits until Response::unsettled has
/// settled. None: call handle_routed(), which makes that attempt only if this has not made it (Route::tried_early).
std::optional<Response> handle_early(const Service& service, const Request& request, Route& route);

/// The second half of handle(), after handle_plain() returned none. Lifetime: `route` outlives the await.
asio::awaitable<Response> handle_routed(const Service& service, const Request& request,
                                        const Route& route);

}  // namespace annals::core
