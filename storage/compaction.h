// Compaction: decides which sealed segments are rewritten without the space of erased bodies, or packed, and when.
//
// Layer:   storage.
// Format:  docs/format.md, "Compaction" and "Packed segment".
// Threads: the housekeeper's, except for progress().

#pragma once

#include "storage/eraser.h"
#include "storage/index.h"
#include "storage/segment.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace annals::storage {

class SegmentRewrite;

/// The bytes taken by bodies of erased versions in a sealed segment. Cost: O(erased versions in it).
std::uint64_t measure_dead(const SegmentTable& table, const Index& index, std::uint64_t number);

/// When sealed segments are packed.
struct PackPolicy {
    bool enabled = false;
    std::chrono::microseconds after{0};  ///< this long after their last commit, or before it
    std::function<Instant()> clock;
};

class Compaction {
  public:
    /// Segments of which this share is dead are compacted without being asked.
    static constexpr double kDeadShare = 0.25;

    /// Lifetime: `eraser` outlives the compaction.
    Compaction(const OpenLog& log, Eraser& eraser, PackPolicy packing);
    ~Compaction();

    /// Makes the next steps compact every sealed segment with anything dead and, if packing is on, pack every one. Any thread.
    void ask() noexcept { asked_.store(true); }

    /// Does a small piece of work, if there is any and end() was not called; returns whether there is more.
    /// Errors: those of SegmentRewrite; the rewrite under way is abandoned.
    Result<bool> step();

    /// Whether it is unknown which of two files a segment would be after a power cut, or the file that is read is not the one with
    /// the segment's name: nothing may be erased until the store has been opened again.
    bool broken() const noexcept { return broken_; }

    /// Makes every further step do nothing, whatever was asked for, until the store is opened again.
    void end() noexcept { ended_.store(true); }

    /// These versions are about to be blanked: abandons a copy that may hold their bodies. That segment is not begun again before
    /// the delay of packing has passed, or once if asked, since continual erasures would otherwise restart it for ever.
    void erasing(std::span<const Position> erased);

    CompactionProgress progress() const noexcept;

    /// Whether there may be work later although nothing more is erased.
    bool comes_back() const noexcept { return packing_.enabled || !given_up_.empty(); }

    /// Whether the last step compressed, and thus used the processor more than the device.
    bool packed_last() const noexcept { return packed_last_; }

  private:
    struct Task {
        std::uint64_t number = 0;
        bool pack = false;
    };

    void measure_all();
    std::optional<Task> next_task() const;
    Result<bool> begin_next();
    Result<void> put_in_place(SegmentRewrite& rewrite);
    void note_damage(const Error& error, std::uint64_t number);
    bool to_pack(std::uint64_t number, const Segment& segment) const;
    void count_dead() noexcept;

    const OpenLog log_;
    const std::string segments_;  ///< the folder
    Eraser& eraser_;
    const PackPolicy packing_;
    std::unique_ptr<SegmentRewrite> rewrite_;
    std::set<std::uint64_t> incompressible_;  ///< of which packing gained nothing
    std::set<std::uint64_t> damaged_;         ///< left alone, unless somebody asks for all
    /// Segments given up for an erasure, and when.
    std::map<std::uint64_t, std::chrono::steady_clock::time_point> given_up_;
    bool packed_last_ = false;
    bool broken_ = false;
    bool whole_ = false;             ///< of every segment, whatever its share
    std::uint64_t passed_over_ = 0;  ///< the last number that could not be compacted in this run

    std::atomic<bool> asked_{false};
    std::atomic<bool> running_{false};
    std::atomic<bool> ended_{false};
    std::atomic<std::uint64_t> segments_done_{0};
    std::atomic<std::uint64_t> segments_left_{0};
    std::atomic<std::uint64_t> bytes_read_{0};
    std::atomic<std::uint64_t> bytes_freed_{0};
    std::atomic<std::uint64_t> dead_bytes_{0};
    std::atomic<std::uint64_t> newest_{0};  ///< the last segment with anything dead, and how much
    std::atomic<std::uint64_t> newest_dead_bytes_{0};
    std::atomic<std::uint64_t> segments_packed_{0};
    std::atomic<std::uint64_t> pack_bytes_read_{0};
    std::atomic<std::uint64_t> pack_bytes_written_{0};
};

}  // namespace annals::storage
