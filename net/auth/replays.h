// Replays: the assertions that were taken and could be sent again, also to the next process.
//
// What is taken is written to a file before it counts, without a sync: so it outlasts the process, however that ends, and
// the network threads don't wait for the device. What a machine that ended had not written yet is made up for: what could
// have been taken before it began again is refused.
//
// Layer:   net/auth.
// Format:  docs/format.md, "Assertions".
// Threads: any.
// Memory:  kAllMax at most.

#pragma once

#include "net/auth/assertion.h"
#include "storage/file_system.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace annals::net::auth {

/// When this run of the machine began, by the clock of today.
Instant machine_begin(Instant now) noexcept;

class Replays {
  public:
    static constexpr std::size_t kAllMax = 100'000;
    static constexpr std::size_t kOfOneClientMax = 10'000;

    /// In memory alone, with nothing of before.
    Replays() = default;

    /// Goes on with `file`, if it is there. `began`: machine_begin(). `life_max`: assertion_life_max(). Lifetime: `files`
    /// outlives it. Errors: no_store, io.
    static Result<std::unique_ptr<Replays>> open(storage::FileSystem& files, std::string file,
                                                 Instant began, std::chrono::microseconds life_max,
                                                 Instant now);

    /// In memory alone, beside a process that nothing is known of, or after one.
    static std::unique_ptr<Replays> without_memory(std::chrono::microseconds life_max, Instant now);

    /// Says in the file that it is whole, whatever becomes of the machine.
    ~Replays();
    Replays(const Replays&) = delete;
    Replays& operator=(const Replays&) = delete;

    /// Keeps `assertion` in mind until it expires.
    /// Errors: bad_credentials: it was seen before, or may have been; overloaded: there is no room for more, and it is not
    ///         taken.
    Result<void> take(const std::string& client, const Assertion& assertion, Instant now);

  private:
    // By client: the digest of the jti, and when it is over.
    using Seen = std::unordered_map<std::string, std::unordered_map<std::string, Instant>>;

    /// False: it may not be all that was taken.
    bool read(std::string_view text, Instant now);
    Result<void> write_anew(std::string_view state, bool durable);
    Result<void> append(const std::string& client, const std::string& digest, Instant expires);
    void make_room(Instant now);

    std::mutex mutex_;
    Seen seen_;
    std::size_t count_ = 0;
    Instant next_look_{};
    /// What expires before this may have been taken by somebody.
    Instant known_from_{};

    storage::FileSystem* files_ = nullptr;  ///< null: in memory alone
    std::string path_;
    std::unique_ptr<storage::File> file_;
    std::uint64_t file_bytes_ = 0;
    std::size_t lines_ = 0;  ///< of the file
};

}  // namespace annals::net::auth
