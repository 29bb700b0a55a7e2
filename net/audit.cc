#include "net/audit.h"

#include "core/base/log.h"
#include "core/base/thread_name.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <utility>

namespace annals::net {

namespace {

/// Lines are gathered for so long before they are written, and written lines are synced so often.
constexpr std::chrono::milliseconds kGather{5};
constexpr std::chrono::seconds kSyncInterval{1};

/// Memory of lines that is kept for others.
constexpr std::size_t kKeptBytesMax = 4 << 20;

/// How long is waited after a write that failed.
constexpr std::chrono::milliseconds kRetry{200};

std::pair<std::string, std::string> split_path(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::pair(std::string("."), path)
                                      : std::pair(path.substr(0, slash), path.substr(slash + 1));
}

}  // namespace

AuditLog::AuditLog(const core::Config::Audit& config, storage::FileSystem& files)
    : files_(files), path_(config.file), bytes_max_(config.max_bytes) {
}

Result<std::unique_ptr<AuditLog>> AuditLog::open(const core::Config::Audit& config,
                                                 storage::FileSystem& files) {
    std::unique_ptr<AuditLog> log(new AuditLog(config, files));
    if (const Result<void> opened = log->open_file(); !opened) {
        return Error{Errc::usage,
                     fmt::format("audit.file: {}: {}", config.file, opened.error().detail), ""};
    }
    log->thread_ = std::thread([log = log.get()] { log->run(); });
    return log;
}

AuditLog::~AuditLog() {
    if (!thread_.joinable()) {
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

Result<void> AuditLog::open_file() {
    using Mode = storage::FileSystem::Mode;
    ANNALS_TRY(file_, files_.open(path_, files_.exists(path_) ? Mode::read_write : Mode::create));
    ANNALS_TRY(size_, file_->size());
    return {};
}

bool AuditLog::reserve() noexcept {
    if (taken_.fetch_add(1) < kLinesMax) {
        return true;
    }
    taken_.fetch_sub(1);
    return false;
}

void AuditLog::add(std::string_view line) {
    bool first = false;
    {
        const std::lock_guard lock(mutex_);
        first = waiting_.empty();
        waiting_ += line;
        waiting_ += '\n';
        ++waiting_lines_;
    }
    if (first) {
        wake_.notify_one();
    }
}

/// What is full gets the next number; nothing is ever removed.
Result<void> AuditLog::rotate() {
    ANNALS_TRY_VOID(file_->sync());
    const auto [directory, name] = split_path(path_);
    std::uint64_t last = 0;
    ANNALS_TRY(const auto names, files_.list(directory));
    for (const std::string& other : names) {
        std::uint64_t number = 0;
        if (other.size() > name.size() + 1 && other.starts_with(name) &&
            other[name.size()] == '.') {
            const char* const begin = other.data() + name.size() + 1;
            const char* const end = other.data() + other.size();
            if (const auto read = std::from_chars(begin, end, number); read.ptr == end) {
                last = std::max(last, number);
            }
        }
    }
    // It is not there where the last attempt came so far and no further.
    if (files_.exists(path_)) {
        ANNALS_TRY_VOID(files_.rename(path_, fmt::format("{}.{}", path_, last + 1)));
    }
    ANNALS_TRY_VOID(open_file());
    return files_.sync_directory(directory);
}

/// Again at the same place if it failed before: nothing is doubled.
Result<void> AuditLog::write(std::string_view text) {
    if (size_ > 0 && size_ + text.size() > bytes_max_) {
        ANNALS_TRY_VOID(rotate());
    }
    ANNALS_TRY_VOID(file_->write(size_, text));
    size_ += text.size();
    return {};
}

void AuditLog::run() {
    name_thread("audit");
    using Clock = std::chrono::steady_clock;
    std::string text;
    bool unsynced = false;
    bool failing = false;
    Clock::time_point synced = Clock::now();
    for (;;) {
        bool stopping = false;
        std::size_t lines = 0;
        text.clear();
        {
            std::unique_lock lock(mutex_);
            wake_.wait_for(lock, kSyncInterval, [&] { return stopping_ || !waiting_.empty(); });
            if (!stopping_ && !waiting_.empty()) {
                wake_.wait_for(lock, kGather, [&] { return stopping_; });
            }
            stopping = stopping_;
            // What comes next goes into the memory of what was written last.
            std::swap(text, waiting_);
            lines = std::exchange(waiting_lines_, 0);
        }
        while (!text.empty()) {
            const Result<void> written = write(text);
            if (written) {
                if (std::exchange(failing, false)) {
                    log_warning("audit: lines are written again");
                }
                lines_.fetch_add(lines, std::memory_order_relaxed);
                unsynced = true;
                break;
            }
            if (!std::exchange(failing, true)) {
                log_error(
                    fmt::format("audit: {}: {}; trying again", path_, written.error().detail));
            }
            std::unique_lock lock(mutex_);
            if (stopping_) {
                log_error(fmt::format("audit: {} lines could not be written", lines));
                break;
            }
            wake_.wait_for(lock, kRetry, [&] { return stopping_; });
        }
        taken_.fetch_sub(lines);
        if (text.capacity() > kKeptBytesMax) {
            text = std::string();
        }
        if (unsynced && (stopping || Clock::now() - synced >= kSyncInterval)) {
            if (const Result<void> done = file_->sync(); !done) {
                log_error(fmt::format("audit: {}: {}", path_, done.error().detail));
            }
            unsynced = false;
            synced = Clock::now();
        }
        if (stopping) {
            const std::lock_guard lock(mutex_);
            if (waiting_.empty()) {
                return;
            }
        }
    }
}

}  // namespace annals::net
