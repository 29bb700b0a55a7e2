// Eraser: removes the bodies of erased versions from the files, so that nothing of them is left on disk.
//
// A body is overwritten with zeros in place, in the open segment as in sealed ones; a journal makes that atomic. Segment files
// shared with a backup are copied first. A packed segment is replaced by a new file.
//
// Layer:   storage.
// Format:  docs/format.md, "Erasure".
// Threads: one at a time, beside the log writer's; nobody else changes or replaces segments.

#pragma once

#include "storage/erasure_journal.h"
#include "storage/index.h"
#include "storage/segment.h"
#include "storage/segment_files.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace annals::storage {

class SegmentWriter;

/// The log of a store that is open for writing, for those who rewrite its segments. Lifetime: all outlive these.
struct OpenLog {
    FileSystem& fs;
    std::string directory;  ///< of the store
    SegmentTable& table;
    Index& index;
    SegmentWriter& writer;
    SegmentFiles& files;  ///< Store::segment_files()
};

class Eraser {
  public:
    /// Continues after `journal`, which has been applied except for what it says is left.
    Eraser(const OpenLog& log, ErasureJournal::Content journal);

    /// Removes the bodies of versions that the index has as erased, by erase records that are durable. `erases`: how many more
    /// erase records of the log are complete then. Returns how many bodies were removed.
    ///
    /// Durability: once this has returned, nothing of them is in any segment, and no crash brings them back, except in damaged
    ///             records (take_damage()).
    /// Errors:     no_store (the device is full; may be retried), corrupt, io.
    Result<std::uint64_t> blank(std::span<const Position> erased, std::uint64_t erases);

    /// A record that the last blank() found damaged, so that the extent of its body is unknown. It stays as it is and is not read
    /// any more; the other bodies were removed nevertheless.
    std::optional<Error> take_damage() { return std::exchange(damage_, std::nullopt); }

    /// Records that nothing is in progress, so that the next opening has nothing to check. Errors: no_store, io.
    Result<void> finish();

    /// The bytes that compaction of a segment can reclaim, by segment number; segments with none are left out.
    const std::map<std::uint64_t, std::uint64_t>& dead_bytes() const noexcept {
        return done_.dead_bytes;
    }

    /// Whether something was erased from a sealed segment so recently that more may follow, and packing it is not worthwhile.
    bool is_warm(std::uint64_t segment, std::chrono::microseconds for_so_long) const;

    /// Sets what compaction of a segment has left.
    void set_dead_bytes(std::uint64_t segment, std::uint64_t bytes);

  private:
    Result<std::uint64_t> blank_group(std::span<const Position> erased, std::uint64_t erases);

    std::vector<Location> places_of(std::span<const Position> erased) const;
    std::vector<Blanking> plan(std::span<const Position> erased);
    std::size_t plan_frame(const Segment& segment, std::span<const Location> places,
                           std::vector<Blanking>& blankings);
    Result<std::uint64_t> blank_packed(std::span<const Position> erased);
    void note_damage(const Segment& segment, std::uint64_t offset);
    Result<void> replace_packed(std::uint32_t slot, std::span<const std::uint64_t> records);
    Result<void> replace(const Segment& old, SegmentFormat format, std::string_view bytes);
    Result<void> apply_begun();
    Result<void> apply(std::span<const Blanking> blankings);
    void await_readers(std::span<const Blanking> blankings);

    const OpenLog log_;
    const std::string segments_;  ///< the folder
    ErasureJournal journal_;
    ErasureJournal::Content done_;  ///< blankings are those of the last group
    bool dead_bytes_changed_ = false;
    std::optional<Error> damage_;
    std::optional<ErasureJournal::Content> begun_;  ///< in the journal, perhaps not applied
    std::set<std::uint64_t> copied_;  ///< numbers whose file may be another than is read

    /// How often a packed segment was replaced since it was packed, and when that was last.
    struct Replaced {
        int times = 0;
        std::chrono::steady_clock::time_point last;
    };

    std::map<std::uint64_t, Replaced> replaced_;  ///< by number
};

}  // namespace annals::storage
