// AuditLog: who did what, one AuditEvent per line, in an append-only file.
//
// A request is carried out only once a line is reserved for it, so that no line is ever dropped for lack of room.
//
// Layer:   net.
// Spec:    FHIR R4 auditevent.html; docs/security.md, "Audit".
// Threads: reserve(), release() and add() from any thread; a thread of its own writes the file.

#pragma once

#include "core/base/result.h"
#include "core/config/config.h"
#include "core/exchange.h"
#include "storage/file_system.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace annals::net {

class AuditLog {
  public:
    /// How many lines may be reserved or waiting to be written.
    static constexpr std::size_t kLinesMax = 16'384;

    /// Whether open() would succeed, as far as that is known before the data directory, which may hold the
    /// file, exists. Changes nothing. Errors: those of open(); also if the file can't be synced.
    static Result<void> check(const core::Config& config, storage::FileSystem& files);

    /// Opens `config.file` for appending, on a new line even if a crash left a partial one. Lifetime: `files`
    /// outlives the log. Errors: usage, naming the key and the file (also if another log has it open).
    static Result<std::unique_ptr<AuditLog>> open(const core::Config::Audit& config,
                                                  storage::FileSystem& files);

    /// Writes the waiting lines, as far as the device accepts them.
    ~AuditLog();
    AuditLog(const AuditLog&) = delete;
    AuditLog& operator=(const AuditLog&) = delete;

    /// Reserves one line; false if there is no room.
    bool reserve() noexcept;

    /// Releases a reservation that was not used.
    void release() noexcept { taken_.fetch_sub(1); }

    /// Adds a line, without a line break. Requires: it was reserved.
    void add(std::string_view line);

    /// Whether there is no room for another line.
    bool is_full() const noexcept { return waiting() >= kLinesMax; }

    std::uint64_t lines() const noexcept { return lines_.load(std::memory_order_relaxed); }

    std::size_t waiting() const noexcept { return taken_.load(std::memory_order_relaxed); }

  private:
    AuditLog(const core::Config::Audit& config, storage::FileSystem& files);

    Result<void> open_file();
    void run();
    Result<void> write(std::string_view text);
    Result<void> append(std::string_view text);
    Result<void> sync();
    Result<void> rotate();
    template <typename Step>
    bool insist(const Step& step);

    storage::FileSystem& files_;
    const std::string path_;
    const std::uint64_t bytes_max_;
    // Used by the writing thread only, once it runs.
    /// Null: it was moved away, and a new one must be opened.
    std::unique_ptr<storage::File> file_;
    std::uint64_t size_ = 0;
    bool is_named_ = false;  ///< its name is durable; its creator may not have synced that
    bool is_torn_ = false;   ///< the file does not end with a line break
    std::string unsynced_;   ///< the lines last written, which no sync has covered yet
    bool sync_failed_ = false;
    bool failing_ = false;  ///< a failure has been logged

    std::atomic<std::size_t> taken_{0};
    std::atomic<std::uint64_t> lines_{0};
    std::mutex mutex_;
    std::condition_variable wake_;
    std::string waiting_;  ///< lines, with their line breaks
    std::size_t waiting_lines_ = 0;
    bool stopping_ = false;
    std::thread thread_;
};

/// The origin of an access; one of the two is set.
struct AccessOrigin {
    std::string_view address;  ///< of the connection
    std::string_view job;      ///< the id of the job that acted on an earlier request
};

/// Sets `line` to an AuditEvent without an id for one request and its response. Of the query it has only the names of
/// the parameters, of the bodies nothing.
void audit_line(std::string& line, const core::Request& request, const core::Response& response,
                const AccessOrigin& origin, Instant time);

}  // namespace annals::net
