// ErasureJournal: records what is about to be removed from segments, so that a crash can't leave it half done.
//
// Layer:   storage.
// Format:  docs/format.md, "Erasure".
// Threads: one.

#pragma once

#include "storage/file_system.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::storage {

/// One body to be overwritten with zeros, and the checksums that are right afterwards. It reveals nothing of the body.
struct Blanking {
    std::uint64_t segment = 0;  ///< number
    std::uint64_t salt = 0;     ///< of the segment: another file of that number is left alone
    std::uint64_t frame_offset = 0;
    std::uint64_t frame_checksum = 0;
    std::uint64_t record_offset = 0;
    std::uint64_t record_checksum = 0;
    std::uint32_t record_bytes = 0;  ///< without padding
    std::uint32_t body_bytes = 0;
};

class ErasureJournal {
  public:
    static constexpr std::string_view kFolder = "erase";  ///< in the directory of the store

    /// The file of writing number `sequence`, relative to the directory of the store: one of two.
    static std::string path_of(std::uint64_t sequence);

    /// The contents of the journal.
    struct Content {
        std::uint64_t sequence = 0;  ///< of the writing; 0: there was none
        std::uint64_t erases_done =
            0;  ///< how many erase records, from the first, are complete once `blankings` are applied
        std::vector<Blanking> blankings;
        /// By segment: what compaction can reclaim.
        std::map<std::uint64_t, std::uint64_t> dead_bytes;
        bool left = false;             ///< not written: replay() had no room for all of `blankings`
        std::uint64_t torn_files = 0;  ///< not written: how many of the two files are not whole

        /// `data`, which is the whole segment `number`, with its blankings applied: a copy if any is not there yet.
        std::shared_ptr<const char> applied(std::uint64_t number, std::shared_ptr<const char> data,
                                            std::uint64_t bytes) const;
    };

    /// Reads the journal of the store in `directory`. Errors: usage (a newer format), io.
    static Result<Content> read(FileSystem& fs, const std::string& directory);

    /// The same for callers that apply it and go on: makes it durable, in case its writer ended before that. Otherwise a power cut
    /// could leave it half applied without a journal, or, once the next one is being written, take both it and the one before.
    /// Errors: usage, no_store, io.
    static Result<Content> read_durably(FileSystem& fs, const std::string& directory);

    /// Durably removes from `directory` the journal of a log that no longer exists. Errors: no_store, io.
    static Result<void> remove(FileSystem& fs, const std::string& directory);

    /// Continues after writing number `sequence` (Content::sequence).
    ErasureJournal(FileSystem& fs, const std::string& directory, std::uint64_t sequence);

    /// Durably writes `content` (except its sequence) as the newest. Errors: no_store, io; the one before is kept then.
    Result<void> write(const Content& content);

  private:
    FileSystem& fs_;
    const std::string directory_;
    const std::string folder_;
    std::uint64_t sequence_;
    std::array<std::unique_ptr<File>, 2> files_;  ///< by sequence; null: not opened yet
};

/// Applies `blankings`, all of one segment, to its file, without a sync. Those that don't fit the file are skipped.
/// Errors: no_store, io.
Result<void> apply_blankings(File& file, std::span<const Blanking> blankings);

/// Durably applies `content`, the result of read_durably(), to the segments in `segments`. To be called before anything is
/// read. Returns false if the device has no room for the copy of a file with other names; that file is whole and unchanged.
/// Errors: no_store, io.
Result<bool> replay(FileSystem& fs, const std::string& segments,
                    const ErasureJournal::Content& content);

/// Makes sure that the file of a sealed segment has only one name: if it has others (a backup's), it is durably replaced by a
/// copy. Returns whether it had. Errors: no_store, io; the copy may then be in place, but not durably, and a later call, which
/// finds only one name, does not make up for that.
Result<bool> break_links(FileSystem& fs, const std::string& segments, std::uint64_t number);

}  // namespace annals::storage
