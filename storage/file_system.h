// FileSystem: everything storage asks of the operating system, behind an interface that tests can replace.
//
// Layer:   storage. The POSIX one makes all calls on the store's files, and on those of jobs;
//          tests/support/sim_file_system.h tears, drops, reorders and fails.
// Threads: a FileSystem from any thread; a File from any thread, but writes and syncs of one file from one
//          thread at a time. These calls block.
//
// The error no_store means a shortage that may end: of space, quota, descriptors or memory.

#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::storage {

/// The unit in which the device is written.
inline constexpr std::uint64_t kPageBytes = 4096;

/// An open file.
class File {
  public:
    virtual ~File() = default;

    /// Writes all of `bytes` at `offset`. Errors: no_store, io.
    virtual Result<void> write(std::uint64_t offset, std::string_view bytes) = 0;

    /// The same, with zeros appended to fill the last page: a page that is only partly written must first be read from the
    /// device, unless it is in memory.
    virtual Result<void> write_pages(std::uint64_t offset, std::string_view bytes) = 0;

    /// Writes `bytes` zeros at `offset`, bypassing the page cache if possible, since nobody will read them.
    /// Errors: no_store, io.
    virtual Result<void> write_zeros(std::uint64_t offset, std::uint64_t bytes) = 0;

    /// Reads up to `into.size()` bytes at `offset`; fewer only at the end of the file. Errors: io.
    virtual Result<std::size_t> read(std::uint64_t offset, std::span<char> into) const = 0;

    /// Lets the kernel drop `bytes` bytes at `offset` from the page cache, except what is not durable yet and what was read
    /// through a mapping that still exists.
    virtual void forget(std::uint64_t offset, std::uint64_t bytes) = 0;

    /// Makes everything written durable (fdatasync). Errors: io; the file must not be trusted afterwards.
    virtual Result<void> sync() = 0;

    virtual Result<std::uint64_t> size() const = 0;

    /// Locks the file exclusively for as long as this File is open. Errors: usage (somebody else has locked it).
    virtual Result<void> lock() { return {}; }

    /// The number of names that the file has. Errors: io.
    virtual Result<std::uint64_t> links() const = 0;

    /// Cuts or extends (with zeros). Errors: no_store, io.
    virtual Result<void> resize(std::uint64_t bytes) = 0;

    /// Reserves space for `bytes` from the start so that writes there cannot find the device full.
    /// Errors: no_store, io.
    virtual Result<void> allocate(std::uint64_t bytes) = 0;

    /// Maps the first `bytes` for reading; later writes show through. The mapping lives as long as the
    /// returned pointer, which may outlive the File. Pages that the device can't read contain zeros, which the
    /// reader's checksums must detect. Errors: io.
    virtual Result<std::shared_ptr<const char>> map(std::uint64_t bytes) const = 0;

    /// The same for contents that are verified once and trusted from then on. Unreadable pages are zeros only while `verify`
    /// judges the bytes; touching one later ends the process, since zeros would be believed.
    /// Errors: io; corrupt if `verify` returns false.
    virtual Result<std::shared_ptr<const char>> map_trusted(
        std::uint64_t bytes, const std::function<bool(const char* mapped)>& verify) const {
        ANNALS_TRY(std::shared_ptr<const char> mapped, map(bytes));
        if (!verify(mapped.get())) {
            return Error{Errc::corrupt, "the bytes of a file are not those that were written"};
        }
        return mapped;
    }
};

/// Held while the store is open; its destruction releases the lock.
class DirectoryLock {
  public:
    virtual ~DirectoryLock() = default;
};

/// What is known of a file, whichever of its names is used.
struct FileFacts {
    std::uint64_t device = 0;
    std::uint64_t number = 0;  ///< on its device
    std::uint64_t bytes = 0;
    std::int64_t changed_ns = 0;  ///< when its bytes were last written

    /// A value that stays the same as long as it is this file with these bytes.
    std::uint64_t origin() const noexcept;
};

class FileSystem {
  public:
    enum class Mode : std::uint8_t { read, read_write, create };  ///< create: must not exist yet

    virtual ~FileSystem() = default;

    /// Opens a file; the File stays usable whatever becomes of the name.
    /// Errors: not_found; io (also if a file to be created exists); no_store.
    virtual Result<std::unique_ptr<File>> open(const std::string& path, Mode mode) = 0;

    /// Names of all files and directories in `directory`, in no particular order. Errors: not_found, io.
    virtual Result<std::vector<std::string>> list(const std::string& directory) = 0;

    /// Creates a directory and its missing parents; succeeds if it exists. Durable at once, whoever created them: the process
    /// before may have been killed between the call and the sync. Errors: no_store, io.
    virtual Result<void> make_directory(const std::string& path) = 0;

    /// Renames a file, replacing the file of that name if there is one. Atomic; durable after sync_directory().
    /// Errors: not_found, io, no_store; the names are then unchanged.
    virtual Result<void> rename(const std::string& from, const std::string& to) = 0;

    /// Adds a second name to a file (a hard link); the name must be free.
    /// Errors: io (also if the two are on different devices, or the file system has no hard links), no_store.
    virtual Result<void> link(const std::string& from, const std::string& to) = 0;

    /// What is known of the file of that name. Errors: not_found, io.
    virtual Result<FileFacts> facts(const std::string& path) = 0;

    /// Removes a name; the file itself is freed with its last name, once nobody has it open or mapped. Durable after
    /// sync_directory(). Errors: not_found, io.
    virtual Result<void> remove(const std::string& path) = 0;

    /// Removes an empty directory. Errors: not_found, io.
    virtual Result<void> remove_directory(const std::string& path) = 0;

    /// Makes the names in a directory durable.
    /// Errors: not_found; no_store: it was not tried; io: which names the device has is unknown.
    virtual Result<void> sync_directory(const std::string& path) = 0;

    /// Locks a directory to this process. While the lock is held, calls on paths below it fail with io if another directory
    /// has been put in its place. Errors: usage (held by another process), io.
    virtual Result<std::unique_ptr<DirectoryLock>> lock(const std::string& directory) = 0;

    /// Whether a file or directory exists. True also if that can't be told, so that opening or removing it reports why, and
    /// nobody continues as if there were nothing.
    virtual bool exists(const std::string& path) = 0;

    /// Whether `bytes`, part of a mapping of File::map(), can be read without waiting for the device; true if that is not
    /// known. Requires: not empty.
    virtual bool in_memory(std::string_view bytes) const noexcept = 0;

    /// Starts reading from the device those pages of `bytes`, part of a mapping, that are not in memory, without read-ahead.
    /// Requires: not empty.
    virtual void will_read(std::string_view bytes) const noexcept = 0;
};

/// The operating system's. Lifetime: the program's.
FileSystem& posix_file_system();

}  // namespace annals::storage
