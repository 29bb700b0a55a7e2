// FileSystem: everything storage asks of the operating system, so that tests can take its place.
//
// Layer:   storage. The POSIX one makes all calls on the store's files, and on those of jobs;
//          tests/support/sim_file_system.h tears, drops, reorders and fails.
// Threads: a FileSystem from any thread; a File from any thread, but writes to one file and sync of it
//          from one thread at a time. These calls block.
//
// The error no_store stands for whatever there is too little of and may be more of later: space, a quota, descriptors, memory.

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

/// What the device is written in.
inline constexpr std::uint64_t kPageBytes = 4096;

/// An open file.
class File {
  public:
    virtual ~File() = default;

    /// Writes all of `bytes` at `offset`. Errors: no_store, io.
    virtual Result<void> write(std::uint64_t offset, std::string_view bytes) = 0;

    /// The same, and zeros behind them to the end of their last page. A page of which only a part is written has to be
    /// read from the device first, unless the system has it in memory.
    virtual Result<void> write_pages(std::uint64_t offset, std::string_view bytes) = 0;

    /// Writes `bytes` zeros from `offset` on, where it can past the system's memory: what nobody will read needs none.
    /// Errors: no_store, io.
    virtual Result<void> write_zeros(std::uint64_t offset, std::uint64_t bytes) = 0;

    /// Reads up to `into.size()` bytes at `offset`; fewer only at the end of the file. Errors: io.
    virtual Result<std::size_t> read(std::uint64_t offset, std::span<char> into) const = 0;

    /// Lets the system forget what it has in memory of `bytes` bytes at `offset`, but for what is not durable and what
    /// somebody has read through a mapping that is still there.
    virtual void forget(std::uint64_t offset, std::uint64_t bytes) = 0;

    /// Makes what was written durable (fdatasync). Errors: io; the file is not to be trusted after.
    virtual Result<void> sync() = 0;

    virtual Result<std::uint64_t> size() const = 0;

    /// Keeps the file to this one who has it open, for as long. Errors: usage (somebody else keeps it).
    virtual Result<void> lock() { return {}; }

    /// How many names the file has. Errors: io.
    virtual Result<std::uint64_t> links() const = 0;

    /// Cuts or extends (with zeros). Errors: no_store, io.
    virtual Result<void> resize(std::uint64_t bytes) = 0;

    /// Reserves space for `bytes` from the start so that writes there cannot find the device full.
    /// Errors: no_store, io.
    virtual Result<void> allocate(std::uint64_t bytes) = 0;

    /// Maps the first `bytes` for reading; later writes show through. The mapping lives as long as the
    /// returned pointer, which may outlive the File. What the device can't read reads as zeros: whoever reads it has a
    /// checksum to tell. Errors: io.
    virtual Result<std::shared_ptr<const char>> map(std::uint64_t bytes) const = 0;

    /// The same for what is verified once and trusted from then on: what can't be read later ends the process, since zeros
    /// would be believed. `verify` says of the bytes, in which they may be still, whether they are to be trusted.
    /// Errors: io; corrupt if they aren't.
    virtual Result<std::shared_ptr<const char>> map_trusted(
        std::uint64_t bytes, const std::function<bool(const char* mapped)>& verify) const {
        ANNALS_TRY(std::shared_ptr<const char> mapped, map(bytes));
        if (!verify(mapped.get())) {
            return Error{Errc::corrupt, "the bytes of a file are not those that were written", {}};
        }
        return mapped;
    }
};

/// Held while the store is open; releases on destruction.
class DirectoryLock {
  public:
    virtual ~DirectoryLock() = default;
};

/// What a file is, whatever its names.
struct FileFacts {
    std::uint64_t device = 0;
    std::uint64_t number = 0;  ///< on its device
    std::uint64_t links = 0;   ///< names that it has
    std::uint64_t bytes = 0;
    std::int64_t changed_ns = 0;  ///< when its bytes were last written

    /// The same as long as it is this file with these bytes.
    std::uint64_t origin() const noexcept;
};

class FileSystem {
  public:
    enum class Mode : std::uint8_t { read, read_write, create };  ///< create: must not exist yet

    virtual ~FileSystem() = default;

    /// Opens a file. Lifetime: the File's own, whatever becomes of the name. Errors: not_found, io (also where a file
    /// to be created is there already), no_store.
    virtual Result<std::unique_ptr<File>> open(const std::string& path, Mode mode) = 0;

    /// Names of the files and directories in `directory`, in no order: all of them, or an error. Errors: not_found, io.
    virtual Result<std::vector<std::string>> list(const std::string& directory) = 0;

    /// Makes a directory and its missing parents; fine if it is there. Errors: no_store, io.
    virtual Result<void> make_directory(const std::string& path) = 0;

    /// Gives a file another name, and takes that from the file that has it, if there is one. Atomic; durable after
    /// sync_directory(). Errors: not_found, io, no_store; then the names are as they were.
    virtual Result<void> rename(const std::string& from, const std::string& to) = 0;

    /// Gives a file another name, which must be free. Errors: io (also where the two are on different devices, or the
    /// file system has no such links), no_store.
    virtual Result<void> link(const std::string& from, const std::string& to) = 0;

    /// Errors: not_found, io.
    virtual Result<FileFacts> facts(const std::string& path) = 0;

    /// Takes a name from a file, which goes with its last name once nobody has it open or mapped. Durable after
    /// sync_directory(). Errors: not_found, io.
    virtual Result<void> remove(const std::string& path) = 0;

    /// Removes a directory that is empty. Errors: not_found, io.
    virtual Result<void> remove_directory(const std::string& path) = 0;

    /// Makes durable which names a directory has. Errors: not_found; no_store: it was not tried; io: what the device has of
    /// them is unknown.
    virtual Result<void> sync_directory(const std::string& path) = 0;

    /// Locks a directory to this process. While it is held nothing below that path is touched once another directory has it
    /// (io). Errors: usage (held by another), io.
    virtual Result<std::unique_ptr<DirectoryLock>> lock(const std::string& directory) = 0;

    /// Whether a file or directory is there; true also where that can't be told: whoever opens or removes it then hears
    /// why, and nobody goes on as if there were nothing.
    virtual bool exists(const std::string& path) = 0;

    /// Whether `bytes`, which are of a mapping of File::map(), can be read without waiting for the device; true where that
    /// is not known. Not empty.
    virtual bool in_memory(std::string_view bytes) const noexcept = 0;

    /// Has the device begin to read what of `bytes`, which are of a mapping, is not in memory, and nothing around it. Not
    /// empty.
    virtual void will_read(std::string_view bytes) const noexcept = 0;
};

/// The operating system's. Lifetime: the program's.
FileSystem& posix_file_system();

}  // namespace annals::storage
