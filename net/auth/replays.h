// Replays: the assertions that were taken and could be replayed, also to the next process.
//
// An assertion is written to a file before it is accepted, without a sync: so it survives the process, however that
// ends, and network threads don't wait for the device. If the machine itself failed, lines may be missing: then
// assertions that could have been taken before it booted are rejected.
//
// If the clock is set back, what had expired by then and was forgotten is rejected too.
//
// Layer:   net/auth.
// Format:  docs/format.md, "Assertions".
// Threads: any.
// Memory:  at most kAllMax assertions.

#pragma once

#include "core/base/text_map.h"
#include "net/auth/assertion.h"
#include "storage/file_system.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace annals::net::auth {

/// When the machine was booted, by the present clock.
Instant machine_begin(Instant now) noexcept;

class Replays {
  public:
    static constexpr std::size_t kAllMax = 100'000;
    static constexpr std::size_t kOfOneClientMax = 10'000;

    /// In memory only, with nothing from before. `life_max`: assertion_life_max().
    Replays(std::chrono::microseconds life_max, Instant now);

    /// Continues with `file`, if it exists. `began`: machine_begin().
    /// Lifetime: `files` outlives it. Errors: no_store, io.
    static Result<std::unique_ptr<Replays>> open(storage::FileSystem& files, std::string file,
                                                 Instant began, std::chrono::microseconds life_max,
                                                 Instant now);

    /// In memory only, when another process may have taken assertions before or may still take some.
    static std::unique_ptr<Replays> without_memory(std::chrono::microseconds life_max, Instant now);

    /// Marks the file as complete, durably.
    ~Replays();
    Replays(const Replays&) = delete;
    Replays& operator=(const Replays&) = delete;

    /// Remembers `assertion` until it expires.
    /// Errors: bad_credentials: it was seen before, or may have been; overloaded: there is no room,
    ///         and it is not taken.
    Result<void> take(const std::string& client, const Assertion& assertion, Instant now);

  private:
    // By client: the digest of the jti, and when it expires.
    using Seen = TextMap<TextMap<Instant>>;

    /// The latest that an assertion taken at `now` can expire.
    Instant latest_end(Instant now) const noexcept { return {now.us + life_max_.count()}; }

    /// Assertions that expire before this may be missing from `seen_`.
    Instant complete_from() const noexcept;

    /// False if a line is damaged: then any assertion may be missing.
    bool read(std::string_view text, Instant began, Instant now);
    Result<void> write_anew(std::string_view state, bool durable);
    Result<void> append(const std::string& client, const std::string& digest, Instant expires);
    void make_room(Instant now);
    /// Where there is no room, forgets what can't be presented for a long time.
    void drop_far(Instant now);

    std::mutex mutex_;
    Seen seen_;
    std::size_t count_ = 0;
    std::chrono::microseconds life_max_;  ///< of an assertion
    Instant looked_;                      ///< when expired ones were removed last
    /// Assertions that expire before this may have been taken unnoticed.
    Instant known_from_{};

    storage::FileSystem* files_ = nullptr;  ///< null: in memory only
    std::string path_;
    std::unique_ptr<storage::File> file_;
    std::uint64_t file_bytes_ = 0;
    std::size_t lines_ = 0;  ///< in the file
};

}  // namespace annals::net::auth
