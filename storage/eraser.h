// Eraser: takes the bodies of erased versions out of the files, so that nothing of them is left on disk.
//
// A body is overwritten with zeros where it stands, in the open segment as in sealed ones; a journal makes that whole
// whatever happens in between. Segment files that a backup holds, too, are copied first. A packed segment gets a new file.
//
// Layer:   storage.
// Format:  docs/format.md, "Erasure".
// Threads: one at a time, beside the log writer's; nobody else changes or replaces segments.

#pragma once

#include "storage/erasure_journal.h"
#include "storage/index.h"
#include "storage/segment.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace annals::storage {

class SegmentWriter;

class Eraser {
  public:
    /// Goes on after `journal`, which has been applied but for what is left of it. `files`: Store::segment_files(). Lifetime: all
    /// outlive the eraser.
    Eraser(FileSystem& fs, std::string directory, SegmentTable& table, Index& index,
           SegmentWriter& writer, ErasureJournal::Content journal, std::mutex& files);

    /// Takes out the bodies of versions that the index has as erased, by erase records that are durable. `erases`: how many more erase records of the log
    /// are done with then. Returns how many bodies went.
    ///
    /// Durability: nothing of them is in any segment, and no crash brings them back, once this has returned; but for
    ///             records that are damaged, see take_damage().
    /// Errors:     no_store (the device is full: may be tried again), corrupt, io.
    Result<std::uint64_t> blank(std::span<const Position> erased, std::uint64_t erases);

    /// Of the last blank(): a record that is damaged, so that where its body is can't be told. It stays as it is, and
    /// is not read any more. What one rotten sector has in it keeps no other body from going.
    std::optional<Error> take_damage() { return std::exchange(damage_, std::nullopt); }

    /// Writes down that nothing is under way, so that the next opening has nothing to look at. Errors: no_store, io.
    Result<void> finish();

    /// Bytes that compaction of a segment can give back, by number; those with none are left out.
    const std::map<std::uint64_t, std::uint64_t>& dead_bytes() const noexcept {
        return done_.dead_bytes;
    }

    /// Something was erased from a sealed segment so lately that more may follow: it is not worth packing.
    bool is_warm(std::uint64_t segment, std::chrono::microseconds for_so_long) const;

    /// Held while a segment's file is replaced.
    std::mutex& files() noexcept { return files_; }

    /// Compaction of a segment has left so many.
    void set_dead_bytes(std::uint64_t segment, std::uint64_t bytes);

  private:
    Result<std::uint64_t> blank_group(std::span<const Position> erased, std::uint64_t erases);

    std::vector<Location> places_of(std::span<const Position> erased) const;
    std::vector<Blanking> plan(std::span<const Position> erased);
    Result<std::uint64_t> blank_packed(std::span<const Position> erased);
    void note_damage(const Segment& segment, std::uint64_t offset);
    Result<void> replace_packed(std::uint32_t slot, std::span<const std::uint64_t> records);
    Result<void> replace(const Segment& old, SegmentFormat format, std::string_view bytes);
    Result<void> apply_begun();
    Result<void> apply(std::span<const Blanking> blankings);
    void await_readers(std::span<const Blanking> blankings);

    FileSystem& fs_;
    const std::string segments_;
    SegmentTable& table_;
    Index& index_;
    SegmentWriter& writer_;
    std::mutex& files_;
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
