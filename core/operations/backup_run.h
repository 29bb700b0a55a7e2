// BackupRun: makes backups of the running store, one at a time, on a thread of its own.
//
// Layer:   core/operations.
// Threads: any; each backup is made by a thread that lives as long as it runs.

#pragma once

#include "core/config/config.h"
#include "storage/backup.h"
#include "storage/store.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace annals::core {

/// Where backups are, each in a directory of its name.
std::string backup_folder(const Config& config);

/// Lifetime: `store` outlives it. Its destructor stops a running backup; the next run completes it.
class BackupRun {
  public:
    BackupRun(const Config& config, const storage::Store& store);
    ~BackupRun();
    BackupRun(const BackupRun&) = delete;
    BackupRun& operator=(const BackupRun&) = delete;

    /// The current backup, or else the last one.
    struct Status {
        std::string name;  ///< empty: none since the server was started
        bool running = false;
        std::uint64_t done = 0;  ///< bytes
        std::uint64_t total = 0;
        std::optional<storage::BackupReport> report;
        std::optional<Error> error;
    };

    /// Starts the backup called `name`, below backup_dir. Errors: conflict: one is running; overloaded:
    /// no thread could be started.
    Result<void> start(const std::string& name);

    Status status() const;

  private:
    void run(const std::string& to);

    const storage::Store& store_;
    const std::string data_;
    const std::string backups_;
    std::atomic<bool> stop_{false};
    mutable std::mutex mutex_;  ///< guards all below
    Status status_;
    std::jthread thread_;
};

}  // namespace annals::core
