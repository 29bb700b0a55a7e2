#include "core/operations/backup_run.h"

#include "core/base/log.h"
#include "core/base/start_thread.h"

#include <fmt/format.h>

namespace annals::core {

std::string backup_folder(const Config& config) {
    return config.backup_dir.empty() ? config.data + "/backups" : config.backup_dir;
}

BackupRun::BackupRun(const Config& config, const storage::Store& store)
    : store_(store), data_(config.data), backups_(backup_folder(config)) {
}

BackupRun::~BackupRun() {
    stop_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
}

Result<void> BackupRun::start(const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (status_.running) {
        return Error{Errc::conflict, "A backup is already in progress"};
    }
    if (thread_.joinable()) {
        thread_.join();  // it is about to end
    }
    // The thread waits for the lock before it reports anything.
    ANNALS_TRY(thread_, start_thread("backup", [this, to = backups_ + "/" + name] { run(to); }));
    status_ = {};
    status_.name = name;
    status_.running = true;
    return {};
}

BackupRun::Status BackupRun::status() const {
    const std::lock_guard lock(mutex_);
    return status_;
}

void BackupRun::run(const std::string& to) {
    storage::BackupOptions options;
    options.files = &store_.segment_files();
    options.stop = [this] { return stop_.load(); };
    options.progress = [this](std::uint64_t done, std::uint64_t total) {
        const std::lock_guard lock(mutex_);
        status_.done = done;
        status_.total = total;
    };
    const auto end = [this]() -> Result<storage::LogEnd> {
        const std::optional<storage::LogEnd> known = store_.log_end();
        if (!known || known->segment == 0) {
            return Error{Errc::no_store, "the store accepts no writes, so its end is not known"};
        }
        return *known;
    };
    auto report = storage::back_up(storage::posix_file_system(), data_, to, end, options);
    if (report) {
        log_info(fmt::format("backup {}: position {}, {} segments, {} bytes copied, {:.1f} s", to,
                             report->position.value, report->segments, report->bytes_copied,
                             report->seconds));
    } else {
        log_error(fmt::format("backup {}: {}", to, report.error().detail));
    }
    const std::lock_guard lock(mutex_);
    status_.running = false;
    if (report) {
        status_.report = *report;
    } else {
        status_.error = std::move(report.error());
    }
}

}  // namespace annals::core
