// ImportLane: one connection of an import, with its queue, retries and error reports.
//
// Layer:   tools.
// Threads: push() and drain() from the reader's thread; submission on the lane's own.

#pragma once

#include "codec/json/document.h"
#include "tools/commands/bundle_answers.h"
#include "tools/commands/destination.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace annals::tools {

/// A place in the input.
struct Origin {
    std::uint32_t file = 0;  ///< index into ImportReport::files
    std::uint64_t line = 0;
    std::int64_t entry = -1;  ///< of a Bundle on that line; -1: the line itself
};

/// The results of an import; refused lines are reported on stderr. Threads: any.
class ImportReport {
  public:
    std::vector<std::string> files;  ///< filled before the lanes start; then const

    void done(std::uint64_t count) { done_ += count; }

    void ignored(std::uint64_t count) { ignored_ += count; }

    /// Ignored, and not in the store.
    void missing(std::uint64_t count) { missing_ += count; }

    void refused(const Origin& origin, const std::string& why);

    /// Ends the import: nothing more can be stored.
    void give_up(const Origin& origin, const std::string& why);

    /// How far the input had been read when reading stopped.
    void read_through(const Origin& origin);

    std::uint64_t done_count() const noexcept { return done_; }

    std::uint64_t ignored_count() const noexcept { return ignored_; }

    std::uint64_t missing_count() const noexcept { return missing_; }

    std::uint64_t refused_count() const noexcept { return refused_; }

    bool gave_up() const noexcept { return gave_up_; }

    /// Where and why it gave up. Requires: no lane is left.
    const std::string& why() const noexcept { return why_; }

    /// Whether there was more to read.
    bool cut_short() const noexcept { return cut_short_; }

  private:
    std::string placed(const Origin& origin, const std::string& why) const;

    std::atomic<std::uint64_t> done_{0};
    std::atomic<std::uint64_t> ignored_{0};
    std::atomic<std::uint64_t> missing_{0};
    std::atomic<std::uint64_t> refused_{0};
    std::once_flag giving_up_;
    std::atomic<bool> gave_up_{false};
    std::string why_;  ///< const once gave_up_ is set
    std::atomic<bool> cut_short_{false};
};

/// What is submitted in one request.
struct Pack {
    enum class Kind : std::uint8_t {
        history,  ///< entries of a history Bundle
        batch,    ///< entries of a batch Bundle
        whole,    ///< one Bundle as it was read
    };

    struct Entry {
        std::string text;
        Origin origin;
    };

    Kind kind = Kind::batch;
    std::vector<Entry> entries;
    std::size_t bytes = 0;
    std::size_t parts = 0;  ///< of a whole Bundle: its number of entries
};

class ImportLane {
  public:
    /// `first_pause`: before retrying what can't be taken for the moment; doubled for each further retry.
    ImportLane(std::unique_ptr<Destination> destination, ImportReport& report,
               std::chrono::milliseconds first_pause = std::chrono::milliseconds(50));

    /// Waits as drain() does.
    ~ImportLane();
    ImportLane(const ImportLane&) = delete;
    ImportLane& operator=(const ImportLane&) = delete;

    /// Queues `pack`; waits while the queue is full.
    void push(Pack pack);

    /// Waits until everything pushed is answered.
    void drain();

  private:
    void run();
    void submit(Pack pack);

    /// One half after the other. Requires: more than one entry.
    void submit_halves(Pack pack);
    void leave_out(const Pack& pack);
    void give_up(const Pack& pack, const std::string& why);

    /// Reports what became of the entries of `pack`, and leaves those in it that are to be submitted again. Returns why they are;
    /// empty: none is.
    std::string take_answers(Pack& pack, std::string_view body);

    /// Returns the entries to submit again.
    std::vector<Pack::Entry> judge(const Pack& pack, const std::vector<EntryAnswer>& answers);

    std::unique_ptr<Destination> destination_;
    ImportReport& report_;
    std::chrono::milliseconds first_pause_;
    json::Parser parser_{kJsonWrappedDepthMax};
    /// The smallest Bundle that was too large: one of this size is not tried as a whole again.
    std::size_t refused_bytes_ = std::numeric_limits<std::size_t>::max();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Pack> queue_;
    bool busy_ = false;
    bool ending_ = false;
    std::thread thread_;
};

}  // namespace annals::tools
