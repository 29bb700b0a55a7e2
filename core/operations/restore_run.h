// RestoreRun: restores backups into the running store, one at a time, on a thread of its own.
//
// Layer:   core/operations.
// Spec:    docs/api/restore.md.
// Threads: any; each run has a thread that reads and submits the versions.

#pragma once

#include "core/base/result.h"
#include "storage/types.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace annals::core {

class Service;

/// What happened to the versions of a backup.
struct RestoreCounts {
    std::uint64_t restored = 0;
    std::uint64_t ignored = 0;    ///< already here, older than what is here, or erased here
    std::uint64_t differing = 0;  ///< of them, those with other content here
    std::uint64_t failed = 0;     ///< not accepted, as in a history bundle's entry
};

/// How far a backup is restored: if both are given, both apply.
struct RestoreBound {
    std::optional<Position>
        position;  ///< the last commit that ends at or before it is the last one restored
    std::optional<Instant> instant;  ///< the last commit at or before it is the last one restored
};

/// Lifetime: `service` outlives it. Its destructor stops a current run; what was restored stays.
class RestoreRun {
  public:
    explicit RestoreRun(const Service& service);
    ~RestoreRun();
    RestoreRun(const RestoreRun&) = delete;
    RestoreRun& operator=(const RestoreRun&) = delete;

    /// The current run, or else the last one.
    struct Status {
        std::uint64_t number = 0;  ///< of the run, from 1 on; 0: none since the server was started
        std::string name;
        bool running = false;
        bool found = false;  ///< such a backup exists, and is not being written
        Position done;
        Position total;  ///< the newest version in the backup, or the last to be restored
        RestoreCounts counts;
        std::optional<Error> error;
    };

    /// Starts to restore the backup called `name`, below backup_dir; returns the number of the run.
    /// Errors: conflict: one is running; overloaded: no thread could be started.
    Result<std::uint64_t> start(const std::string& name, const RestoreBound& bound);

    Status status() const;

    /// The same for the last run that found its backup.
    Status last_begun() const;

  private:
    void run(const std::string& from, const RestoreBound& bound);

    const Service& service_;
    const std::string backups_;
    std::atomic<bool> stop_{false};
    mutable std::mutex mutex_;  ///< guards all below
    Status status_;
    Status before_;  ///< of the last one that was begun before status_
    std::jthread thread_;
};

}  // namespace annals::core
