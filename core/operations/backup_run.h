// BackupRun: one backup at a time of the store that is being served, on a thread of its own.
//
// Layer:   core/operations.
// Threads: any; the backup is made by a thread that begins with it and ends with it.

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

/// Where backups lie, each in a directory of its name.
std::string backup_folder(const Config& config);

/// Lifetime: `store` outlives it. Its end ends a backup that is under way, which the next one goes on with.
class BackupRun {
  public:
    BackupRun(const Config& config, const storage::Store& store);
    ~BackupRun();
    BackupRun(const BackupRun&) = delete;
    BackupRun& operator=(const BackupRun&) = delete;

    /// What is, or was last, being made.
    struct Status {
        std::string name;  ///< empty: none since the server was started
        bool running = false;
        std::uint64_t done = 0;  ///< bytes
        std::uint64_t total = 0;
        std::optional<storage::BackupReport> report;
        std::optional<Error> error;
    };

    /// Begins the backup called `name`, below backup_dir.
    /// Errors: conflict: one is under way; overloaded: there is no thread for it.
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
