// RestoreRun: one backup at a time brought back into the store that is being served, on a thread of its own.
//
// Layer:   core/operations.
// Spec:    docs/api/restore.md.
// Threads: any; the versions are read and submitted by a thread that begins with it and ends with it.

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

/// What became of the versions of a backup.
struct RestoreCounts {
    std::uint64_t restored = 0;
    std::uint64_t ignored = 0;    ///< here already, older than what is here, or erased here
    std::uint64_t differing = 0;  ///< of them, those whose content here is another
    std::uint64_t failed = 0;     ///< not taken, as a history bundle's entry wouldn't be
};

/// Up to where a backup is brought back: both hold, if both are given.
struct RestoreBound {
    std::optional<Position>
        position;                    ///< the last commit that ends at or before it is the last one
    std::optional<Instant> instant;  ///< the last commit of it or before is the last one
};

/// Lifetime: `service` outlives it. Its end ends what is under way; what was restored stays.
class RestoreRun {
  public:
    explicit RestoreRun(const Service& service);
    ~RestoreRun();
    RestoreRun(const RestoreRun&) = delete;
    RestoreRun& operator=(const RestoreRun&) = delete;

    /// What is, or was last, being restored.
    struct Status {
        std::uint64_t number = 0;  ///< of the run, from 1 on; 0: none since the server was started
        std::string name;
        bool running = false;
        bool found = false;  ///< there is such a backup, and nobody writes it
        Position done;
        Position total;  ///< of the newest version in the backup, or of those that are brought back
        RestoreCounts counts;
        std::optional<Error> error;
    };

    /// Begins to restore the backup called `name`, below backup_dir; the number of the run.
    /// Errors: conflict: one is under way; overloaded: there is no thread for it.
    Result<std::uint64_t> start(const std::string& name, const RestoreBound& bound);

    Status status() const;

    /// The same, but of the one before while, and if, the last one was not begun: no such backup was found.
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
