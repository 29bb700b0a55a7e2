#include "net/audit.h"

#include "core/base/log.h"
#include "core/base/thread_name.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <utility>

namespace annals::net {

namespace {

/// Lines are gathered for this long before they are written, and written lines are synced at this interval.
constexpr std::chrono::milliseconds kGather{5};
constexpr std::chrono::seconds kSyncInterval{1};

/// How much memory of a buffer is kept for further lines.
constexpr std::size_t kKeptBytesMax = 4 << 20;

/// The most bytes of lines kept in memory until a sync has covered them; more cause a sync at once.
constexpr std::size_t kUnsyncedBytesMax = 4 << 20;

/// The pause after a failed write or sync.
constexpr std::chrono::milliseconds kRetry{200};

/// How much of the file's end is read at a time.
constexpr std::size_t kTailBytes = 64 << 10;

Error unusable(const std::string& file, const Error& why) {
    return {Errc::usage, fmt::format("audit.file: {}: {}", file, why.detail)};
}

/// Whether `file` is directly in `directory`, comparing names only.
bool is_in(const std::string& file, const std::string& directory) {
    namespace fs = std::filesystem;
    return fs::absolute(file).lexically_normal().parent_path() ==
           (fs::absolute(directory) / "").lexically_normal().parent_path();
}

/// The position after the last nonzero byte, and that byte. A power cut may leave zeros in place of lines.
struct TextEnd {
    std::uint64_t size = 0;
    char last = '\n';
};

Result<TextEnd> find_text_end(const storage::File& file, std::uint64_t size) {
    std::string tail;
    while (size > 0) {
        const std::size_t count = std::min<std::uint64_t>(size, kTailBytes);
        tail.resize(count);
        ANNALS_TRY(const std::size_t got, file.read(size - count, tail));
        const std::size_t last = std::string_view(tail).substr(0, got).find_last_not_of('\0');
        if (last != std::string::npos) {
            return TextEnd{size - count + last + 1, tail[last]};
        }
        size -= count;
    }
    return TextEnd{};
}

}  // namespace

AuditLog::AuditLog(const core::Config::Audit& config, storage::FileSystem& files)
    : files_(files), path_(config.file), bytes_max_(config.max_bytes) {
}

Result<void> AuditLog::check(const core::Config& config, storage::FileSystem& files) {
    using Mode = storage::FileSystem::Mode;
    const std::string& file = config.audit.file;
    const bool there = files.exists(file);
    if (!there && !files.exists(config.data) && is_in(file, config.data)) {
        return {};
    }
    const auto opened = files.open(file, there ? Mode::read_write : Mode::create);
    if (!opened) {
        return unusable(file, opened.error());
    }
    Result<void> usable = (*opened)->lock();
    if (usable && !there) {
        usable = files.remove(file);
    } else if (usable) {
        // A device such as /dev/null would never be done with its lines.
        if (const Result<void> synced = (*opened)->sync(); !synced) {
            usable = Error{synced.error().code, "it cannot be synced, as an audit log must be: " +
                                                    synced.error().detail};
        }
    }
    return usable ? usable : unusable(file, usable.error());
}

Result<std::unique_ptr<AuditLog>> AuditLog::open(const core::Config::Audit& config,
                                                 storage::FileSystem& files) {
    std::unique_ptr<AuditLog> log(new AuditLog(config, files));
    if (const Result<void> opened = log->open_file(); !opened) {
        return unusable(config.file, opened.error());
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
    const bool there = files_.exists(path_);
    ANNALS_TRY(auto file, files_.open(path_, there ? Mode::read_write : Mode::create));
    // Two logs would overwrite each other's lines.
    ANNALS_TRY_VOID(file->lock());
    ANNALS_TRY(const std::uint64_t size, file->size());
    ANNALS_TRY(const TextEnd end, find_text_end(*file, size));
    if (end.size < size) {
        ANNALS_TRY_VOID(file->resize(end.size));
    }
    file_ = std::move(file);
    size_ = end.size;
    is_named_ = false;
    is_torn_ = end.last != '\n';
    if (is_torn_ || end.size < size) {
        log_warning(fmt::format("audit: {}: the last line is incomplete{}", path_,
                                end.size < size ? ", and the zeros after it were removed" : ""));
    }
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

/// A full file gets the next number; no file is ever removed.
Result<void> AuditLog::rotate() {
    ANNALS_TRY_VOID(sync());
    const std::string name = path_.substr(path_.rfind('/') + 1);
    std::uint64_t last = 0;
    ANNALS_TRY(const auto names, files_.list(storage::directory_of(path_)));
    for (const std::string& other : names) {
        std::uint64_t number = 0;
        if (other.size() > name.size() + 1 && other.starts_with(name) &&
            other[name.size()] == '.') {
            const char* const begin = other.data() + name.size() + 1;
            const char* const end = other.data() + other.size();
            // Also "FILE.7.gz": a compressed file keeps its number.
            const auto read = std::from_chars(begin, end, number);
            if (read.ec == std::errc() && (read.ptr == end || *read.ptr == '.')) {
                last = std::max(last, number);
            }
        }
    }
    // Only once: if an earlier attempt got past this, the file is the next one already, or missing.
    if (file_ != nullptr && files_.exists(path_)) {
        ANNALS_TRY_VOID(files_.rename(path_, fmt::format("{}.{}", path_, last + 1)));
    }
    file_.reset();
    return open_file();  // sync() makes both names durable
}

/// After a failure, writes at the same place again, so nothing is duplicated.
Result<void> AuditLog::write(std::string_view text) {
    if (file_ == nullptr || (size_ > 0 && size_ + text.size() > bytes_max_)) {
        ANNALS_TRY_VOID(rotate());
    }
    if (is_torn_) {
        ANNALS_TRY_VOID(append("\n"));
        is_torn_ = false;
    }
    return append(text);
}

Result<void> AuditLog::append(std::string_view text) {
    ANNALS_TRY_VOID(file_->write(size_, text));
    size_ += text.size();
    unsynced_ += text;
    return {};
}

/// Makes what was written, and the file's name, durable.
Result<void> AuditLog::sync() {
    if (unsynced_.empty() && is_named_) {
        return {};
    }
    if (std::exchange(sync_failed_, true)) {
        // The system reports a failed write only once, and may have dropped the data.
        ANNALS_TRY_VOID(file_->write(size_ - unsynced_.size(), unsynced_));
    }
    ANNALS_TRY_VOID(file_->sync());
    if (!is_named_) {
        ANNALS_TRY_VOID(files_.sync_directory(storage::directory_of(path_)));
    }
    is_named_ = true;
    sync_failed_ = false;
    unsynced_.clear();
    if (unsynced_.capacity() > kKeptBytesMax) {
        std::string().swap(unsynced_);
    }
    return {};
}

/// Repeats `step` until it succeeds. False if it did not, and the log is to end.
template <typename Step>
bool AuditLog::insist(const Step& step) {
    for (;;) {
        const Result<void> done = step();
        if (done) {
            if (std::exchange(failing_, false)) {
                log_warning("audit: lines are being written again");
            }
            return true;
        }
        if (!std::exchange(failing_, true)) {
            log_error(fmt::format("audit: {}: {}; retrying", path_, done.error().detail));
        }
        std::unique_lock lock(mutex_);
        if (stopping_) {
            return false;
        }
        wake_.wait_for(lock, kRetry, [this] { return stopping_; });
    }
}

void AuditLog::run() {
    name_thread("audit");
    using Clock = std::chrono::steady_clock;
    std::string text;
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
            // The next lines go into the buffer of the lines last written.
            std::swap(text, waiting_);
            lines = std::exchange(waiting_lines_, 0);
        }
        if (!text.empty()) {
            if (insist([&] { return write(text); })) {
                lines_.fetch_add(lines, std::memory_order_relaxed);
            } else {
                log_error(fmt::format("audit: {} lines could not be written", lines));
            }
        }
        taken_.fetch_sub(lines);
        if (text.capacity() > kKeptBytesMax) {
            std::string().swap(text);
        }
        if (stopping || unsynced_.size() >= kUnsyncedBytesMax ||
            Clock::now() - synced >= kSyncInterval) {
            if (!insist([&] { return sync(); })) {
                log_error(fmt::format("audit: the last {} bytes of {} may not be on the device",
                                      unsynced_.size(), path_));
            }
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
