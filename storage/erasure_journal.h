// ErasureJournal: what is about to be taken out of segments, written down before, so that a crash can't leave it half done.
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

/// One body to be overwritten with zeros, and the checksums that are right then. It says nothing of what the body was.
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

    /// Where writing number `sequence` goes, in the directory of the store: one of two files.
    static std::string path_of(std::uint64_t sequence);

    /// What was written last.
    struct Content {
        std::uint64_t sequence = 0;  ///< 0: nothing ever was
        std::uint64_t erases_done =
            0;  ///< so many erase records, from the first, once `blankings` are applied
        std::vector<Blanking> blankings;
        std::map<std::uint64_t, std::uint64_t>
            dead_bytes;     ///< by segment: what compaction can give back
        bool left = false;  ///< not written: replay() had no room for all of `blankings`

        /// `data`, of the whole segment `number`, with what concerns it applied: a copy if anything of that is
        /// not there yet.
        std::shared_ptr<const char> applied(std::uint64_t number, std::shared_ptr<const char> data,
                                            std::uint64_t bytes) const;
    };

    /// Reads the journal of the store in `directory`. Errors: usage (a newer format), io.
    static Result<Content> read(FileSystem& fs, const std::string& directory);

    /// The same for who applies it and goes on: what the process that wrote it did not come to make durable is so from here
    /// on. Else a power cut could leave half of what it says and no journal, or, once the next is being written, neither it nor
    /// the one before. Errors: usage, no_store, io.
    static Result<Content> read_durably(FileSystem& fs, const std::string& directory);

    /// Removes the journal of a log that is no more from `directory`, durably. Errors: no_store, io.
    static Result<void> remove(FileSystem& fs, const std::string& directory);

    /// Goes on after `content`, what read() gave.
    ErasureJournal(FileSystem& fs, const std::string& directory, std::uint64_t sequence);

    /// Makes `content` (but for its sequence) the newest, durably. Errors: no_store, io; the one before is kept then.
    Result<void> write(const Content& content);

  private:
    FileSystem& fs_;
    const std::string directory_;
    const std::string folder_;
    std::uint64_t sequence_;
    std::array<std::unique_ptr<File>, 2> files_;  ///< by sequence; null: not opened yet
};

/// Applies `blankings`, all of one segment, to its file, without a sync. What doesn't fit the file is passed over.
/// Errors: no_store, io.
Result<void> apply_blankings(File& file, std::span<const Blanking> blankings);

/// Applies what `content`, of read_durably(), says to the segments below `segments` and makes it durable. To be called
/// before anything is read. False if the device has no room for the copy of a file with other names, which is whole and as it was.
/// Errors: no_store, io.
Result<bool> replay(FileSystem& fs, const std::string& segments,
                    const ErasureJournal::Content& content);

/// Makes the file of a sealed segment the only one of its bytes: where it has other names (a backup's), a copy takes its
/// place, durably. True if it had. Errors: no_store, io; then the copy may have its place, but not durably: a later call,
/// which finds one name alone, does not make up for that.
Result<bool> break_links(FileSystem& fs, const std::string& segments, std::uint64_t number);

}  // namespace annals::storage
