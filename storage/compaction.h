// Compaction: rewrites sealed segments without the space of erased bodies, and packs them when they are old enough.
//
// Every record of a version or an erasure stays, at its position: the header, type and id of an erased version remain, to say
// what was erased and to keep numbers and positions as they are.
//
// Layer:   storage.
// Format:  docs/format.md, "Compaction" and "Packed segment".
// Threads: the housekeeper's, except for progress().

#pragma once

#include "storage/eraser.h"
#include "storage/file_system.h"
#include "storage/index.h"
#include "storage/packed_segment.h"
#include "storage/segment.h"
#include "storage/segment_footer.h"
#include "storage/segment_packer.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace annals::storage {

/// Rewrites one segment to a new file, some frames at a time.
class SegmentRewrite {
  public:
    /// Begins to rewrite the sealed segment `number`, to a packed one if `packed`. Errors: no_store, io, corrupt (no whole
    /// footer).
    static Result<std::unique_ptr<SegmentRewrite>> begin(FileSystem& fs,
                                                         const std::string& segments,
                                                         std::uint64_t number, bool packed);

    /// Removes the new file, unless finish() has put it in place.
    ~SegmentRewrite();
    SegmentRewrite(const SegmentRewrite&) = delete;
    SegmentRewrite& operator=(const SegmentRewrite&) = delete;

    std::uint64_t number() const noexcept { return header_.number; }

    /// Bytes of the old file.
    std::uint64_t bytes() const noexcept { return source_.size(); }

    /// Bytes of the old file that are done.
    std::uint64_t done() const noexcept { return read_; }

    /// The new file is a packed one.
    bool packs() const noexcept { return header_.format == SegmentFormat::packed; }

    /// Copies about `bytes` of the old file, without the space of erased bodies. Returns true when nothing is left to copy.
    /// Errors: no_store, io, corrupt (a frame is not whole; the segment is left alone).
    Result<bool> step(std::uint64_t bytes);

    /// Puts the new file in place of the old one, durably, and returns the new segment. None: packing gained nothing, and the old
    /// file stays. Requires: step() returned true.
    Result<std::optional<Segment>> finish();

    /// The new file has the segment's name.
    bool finished() const noexcept { return finished_; }

  private:
    SegmentRewrite(FileSystem& fs, const std::string& segments)
        : fs_(fs), segments_(segments), draft_(segments + "/compact.tmp") {}

    void begin_packing();
    Result<void> copy_frame();
    Result<void> flush();

    FileSystem& fs_;
    const std::string segments_;
    const std::string draft_;
    std::shared_ptr<const char> data_;
    std::string_view source_;
    SegmentHeader header_;  ///< of the new file: another salt
    std::uint64_t old_salt_ = 0;
    std::uint64_t frames_end_ = 0;
    std::uint64_t read_ = kSegmentHeaderBytes;
    Instant last_instant_;
    std::vector<Hint> hints_;
    std::size_t next_hint_ = 0;
    std::optional<FooterBuilder> footer_;
    std::unique_ptr<File> file_;
    std::uint64_t written_ = 0;
    std::string pending_;      ///< not written yet
    std::uint64_t image_ = 0;  ///< bytes of the new segment, unpacked
    std::string frame_;
    std::unique_ptr<SegmentPacker>
        packer_;  ///< none: the new file is plain, or nothing is copied yet
    std::vector<std::uint64_t>
        old_sources_;  ///< offsets in the old file of what the dictionary has pieces of
    std::vector<std::uint64_t> sources_;  ///< and in the new segment
    bool finished_ = false;
};

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
    std::map<std::uint64_t, std::chrono::steady_clock::time_point>
        given_up_;  ///< for an erasure, and when
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
