// The operating system's files. Nothing else in the project makes file calls, except for the lock of a directory.

#include "core/base/digest.h"
#include "core/base/log.h"
#include "storage/file_system.h"
#include "storage/posix_call.h"
#include "storage/posix_directory_lock.h"
#include "storage/unreadable_pages.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <ranges>
#include <utility>

namespace annals::storage {
namespace {

constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;

/// How much is written to a file before the device is told to start with it.
constexpr std::uint64_t kWriteBackBytes = 8 << 20;

/// For how many pages at a time the system is asked whether they are in memory.
constexpr std::size_t kPagesAtOnce = 64;

/// The current path of the file of a descriptor, which may have been renamed since it was opened at `path`.
std::string present_path(int fd, const std::string& path) {
    std::error_code error;
    const std::string now =
        std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd), error).string();
    return error || now.ends_with(" (deleted)") ? path : now;
}

/// The numbers of the first page of `bytes`, and of the one after the last.
std::pair<std::uintptr_t, std::uintptr_t> pages_of(std::string_view bytes) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
    return {begin / kPageBytes, (begin + bytes.size() - 1) / kPageBytes + 1};
}

/// Never written, so that all of it is the system's one page of zeros.
alignas(kPageBytes) std::array<char, 1 << 20> zero_pages;

class PosixFile final : public File {
    static constexpr int kNotTried = -2;

  public:
    PosixFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

    PosixFile(const PosixFile&) = delete;
    PosixFile& operator=(const PosixFile&) = delete;

    ~PosixFile() override {
        ::close(fd_);
        if (direct_ >= 0) {
            ::close(direct_);
        }
    }

    Result<void> write(std::uint64_t offset, std::string_view bytes) override {
        return write_both(offset, bytes, {});
    }

    Result<void> write_pages(std::uint64_t offset, std::string_view bytes) override {
        const std::uint64_t over = (offset + bytes.size()) % kPageBytes;
        return write_both(offset, bytes, {zero_pages.data(), over == 0 ? 0 : kPageBytes - over});
    }

    Result<void> write_zeros(std::uint64_t offset, std::uint64_t bytes) override {
        if (offset % kPageBytes == 0 && bytes % kPageBytes == 0 && direct_ == kNotTried) {
            // Opened by its descriptor, since another file may have its name by now. Not every file system supports it.
            const std::string self = fmt::format("/proc/self/fd/{}", fd_);
            direct_ =
                retried([&] { return ::open(self.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC); });
        }
        while (bytes > 0) {
            const std::string_view now(zero_pages.data(),
                                       std::min<std::uint64_t>(bytes, zero_pages.size()));
            const ssize_t done = direct_ < 0 ? -1 : retried([&] {
                return ::pwrite(direct_, now.data(), now.size(), static_cast<off_t>(offset));
            });
            if (done < 0) {
                ANNALS_TRY_VOID(write(offset, now));
            }
            const std::uint64_t count = done < 0 ? now.size() : static_cast<std::uint64_t>(done);
            offset += count;
            bytes -= count;
        }
        return {};
    }

    Result<std::size_t> read(std::uint64_t offset, std::span<char> into) const override {
        std::size_t total = 0;
        while (total < into.size()) {
            const ssize_t done = retried([&] {
                return ::pread(fd_, into.data() + total, into.size() - total,
                               static_cast<off_t>(offset + total));
            });
            if (done < 0) {
                return failed("read", errno);
            }
            if (done == 0) {
                break;
            }
            total += static_cast<std::size_t>(done);
        }
        return total;
    }

    void forget(std::uint64_t offset, std::uint64_t bytes) override {
        // Only advice: nothing is lost if it is ignored.
        static_cast<void>(::posix_fadvise(fd_, static_cast<off_t>(offset),
                                          static_cast<off_t>(bytes), POSIX_FADV_DONTNEED));
    }

    Result<void> sync() override {
        unstarted_ = 0;
        return check("fdatasync", retried([&] { return ::fdatasync(fd_); }));
    }

    Result<std::uint64_t> size() const override {
        struct stat info{};
        if (::fstat(fd_, &info) != 0) {
            return failed("stat", errno);
        }
        return static_cast<std::uint64_t>(info.st_size);
    }

    Result<void> lock() override {
        struct stat info{};
        // Devices are shared, and not every file system has locks.
        if (::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode) &&
            ::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            return Error{Errc::usage, "in use by another process"};
        }
        return {};
    }

    Result<std::uint64_t> links() const override {
        struct stat info{};
        if (::fstat(fd_, &info) != 0) {
            return failed("stat", errno);
        }
        return static_cast<std::uint64_t>(info.st_nlink);
    }

    Result<void> resize(std::uint64_t bytes) override {
        return check("ftruncate",
                     retried([&] { return ::ftruncate(fd_, static_cast<off_t>(bytes)); }));
    }

    Result<void> allocate(std::uint64_t bytes) override {
        const int result =
            retried([&] { return ::fallocate(fd_, 0, 0, static_cast<off_t>(bytes)); });
        if (result != 0 && errno == EOPNOTSUPP) {
            return resize(bytes);
        }
        return check("fallocate", result);
    }

    Result<std::shared_ptr<const char>> map(std::uint64_t bytes) const override {
        ANNALS_TRY(const char* const begin, map_pages(bytes));
        guard_mapping(begin, bytes);
        return std::shared_ptr<const char>(begin, [bytes](const char* mapped) {
            unguard_mapping(mapped);
            ::munmap(const_cast<char*>(mapped), bytes);
        });
    }

    Result<std::shared_ptr<const char>> map_trusted(
        std::uint64_t bytes, const std::function<bool(const char* mapped)>& verify) const override {
        ANNALS_TRY(const char* const begin, map_pages(bytes));
        std::shared_ptr<const char> mapped(
            begin, [bytes](const char* end) { ::munmap(const_cast<char*>(end), bytes); });
        guard_mapping(begin, bytes);
        const bool sound = verify(begin);
        unguard_mapping(begin);
        if (!sound) {
            return Error{Errc::corrupt,
                         present_path(fd_, path_) + ": the bytes are not those that were written"};
        }
        return mapped;
    }

  private:
    Error failed(std::string_view call, int error) const {
        return os_error(call, present_path(fd_, path_), error);
    }

    Result<const char*> map_pages(std::uint64_t bytes) const {
        void* const address = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd_, 0);
        if (address == MAP_FAILED) {
            return failed("mmap", errno);
        }
        return static_cast<const char*>(address);
    }

    /// Writes `bytes`, followed by `more`.
    Result<void> write_both(std::uint64_t offset, std::string_view bytes, std::string_view more) {
        while (!bytes.empty() || !more.empty()) {
            // The system does not write to what it is given here.
            const std::array<iovec, 2> parts{iovec{const_cast<char*>(bytes.data()), bytes.size()},
                                             iovec{const_cast<char*>(more.data()), more.size()}};
            const ssize_t done = retried([&] {
                return ::pwritev(fd_, parts.data(), parts.size(), static_cast<off_t>(offset));
            });
            if (done < 0) {
                return failed("write", errno);
            }
            const auto count = static_cast<std::size_t>(done);
            const std::size_t first = std::min(count, bytes.size());
            bytes.remove_prefix(first);
            more.remove_prefix(count - first);
            offset += count;
            unstarted_ += count;
        }
        if (unstarted_ >= kWriteBackBytes) {
            // Writing goes on meanwhile, so the sync at the end has little to wait for. The sync also reports errors of this
            // call.
            unstarted_ = 0;
            static_cast<void>(::sync_file_range(fd_, 0, 0, SYNC_FILE_RANGE_WRITE));
        }
        return {};
    }

    Result<void> check(std::string_view call, int result) const {
        if (result != 0) {
            return failed(call, errno);
        }
        return {};
    }

    int fd_;
    int direct_ = kNotTried;       ///< the same file, bypassing the page cache, once it was needed
    std::string path_;             ///< where it was opened
    std::uint64_t unstarted_ = 0;  ///< bytes written since the device was last told to begin
};

class PosixFileSystem final : public FileSystem {
  public:
    Result<std::unique_ptr<File>> open(const std::string& path, Mode mode) override {
        ANNALS_TRY_VOID(check_place(path));
        // Opening a pipe would wait until somebody opens its other end.
        struct stat info{};
        if (mode == Mode::read && ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
            return os_error("open", path, S_ISDIR(info.st_mode) ? EISDIR : EINVAL);
        }
        const int flags = mode == Mode::read         ? O_RDONLY
                          : mode == Mode::read_write ? O_RDWR
                                                     : O_RDWR | O_CREAT | O_EXCL;
        const int fd = retried([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0640); });
        if (fd < 0) {
            return os_error("open", path, errno);
        }
        auto file = std::make_unique<PosixFile>(fd, path);
        // Pipes and terminals neither accept writes at an offset nor keep them.
        if (::lseek(fd, 0, SEEK_CUR) < 0) {
            return os_error("open", path, errno);
        }
        return std::unique_ptr<File>(std::move(file));
    }

    Result<std::vector<std::string>> list(const std::string& directory) override {
        ANNALS_TRY_VOID(check_place(directory));
        DIR* handle = ::opendir(directory.c_str());
        if (handle == nullptr) {
            return os_error("opendir", directory, errno);
        }
        std::vector<std::string> names;
        int error = 0;
        while (true) {
            errno = 0;  // It stays 0 at the end.
            const dirent* const entry = ::readdir(handle);
            if (entry == nullptr) {
                error = errno;
                break;
            }
            const std::string_view name = entry->d_name;
            if (name != "." && name != "..") {
                names.emplace_back(name);
            }
        }
        ::closedir(handle);
        if (error != 0) {
            return os_error("readdir", directory, error);
        }
        return names;
    }

    Result<void> make_directory(const std::string& path) override {
        ANNALS_TRY_VOID(check_place(path));
        std::vector<std::filesystem::path> missing;
        std::error_code error;
        std::filesystem::path each;
        for (const std::filesystem::path& part : std::filesystem::path(path)) {
            if (!part.empty() && part != ".") {  // "a/" and "a/." are in what "a" is in
                each /= part;
            }
        }
        for (; each.has_relative_path() && !std::filesystem::exists(each, error);
             each = each.parent_path()) {
            missing.push_back(each);
        }
        // Whoever made this one may have been killed before the sync. A directory of others can't always be synced.
        static_cast<void>(sync_directory(directory_of(each)));
        for (const std::filesystem::path& directory : std::views::reverse(missing)) {
            // As with files: names of backups and jobs are not public.
            if (::mkdir(directory.c_str(), 0750) != 0 && errno != EEXIST) {
                return os_error("mkdir", path, errno);
            }
            // Before anything is made in it, so that only the last directory that exists can lack its sync.
            ANNALS_TRY_VOID(sync_directory(directory_of(directory)));
        }
        if (!std::filesystem::is_directory(path, error)) {
            return os_error("mkdir", path, error ? error.value() : ENOTDIR);
        }
        return {};
    }

    Result<void> rename(const std::string& from, const std::string& to) override {
        ANNALS_TRY_VOID(check_place(to));
        if (::rename(from.c_str(), to.c_str()) != 0) {
            return os_error("rename", from, errno);
        }
        return {};
    }

    Result<void> link(const std::string& from, const std::string& to) override {
        ANNALS_TRY_VOID(check_place(from));
        ANNALS_TRY_VOID(check_place(to));
        if (::link(from.c_str(), to.c_str()) != 0) {
            return os_error("link", from, errno);
        }
        return {};
    }

    Result<FileFacts> facts(const std::string& path) override {
        struct stat info{};
        if (::stat(path.c_str(), &info) != 0) {
            return os_error("stat", path, errno);
        }
        return FileFacts{
            .device = static_cast<std::uint64_t>(info.st_dev),
            .number = static_cast<std::uint64_t>(info.st_ino),
            .bytes = static_cast<std::uint64_t>(info.st_size),
            // A file's time may be beyond what 64 bits of nanoseconds can hold: it only has to differ from others.
            .changed_ns = static_cast<std::int64_t>(
                static_cast<std::uint64_t>(info.st_mtim.tv_sec) * kNanosecondsPerSecond +
                static_cast<std::uint64_t>(info.st_mtim.tv_nsec))};
    }

    Result<void> remove(const std::string& path) override {
        ANNALS_TRY_VOID(check_place(path));
        if (::unlink(path.c_str()) != 0) {
            return os_error("remove", path, errno);
        }
        return {};
    }

    Result<void> remove_directory(const std::string& path) override {
        if (::rmdir(path.c_str()) != 0) {
            return os_error("rmdir", path, errno);
        }
        return {};
    }

    Result<void> sync_directory(const std::string& path) override {
        const int fd =
            retried([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
        if (fd < 0) {
            return os_error("open", path, errno);
        }
        const int result = retried([&] { return ::fsync(fd); });
        const int error = errno;
        ::close(fd);
        if (result != 0) {
            // Which names the device has is now unknown, whatever the shortage was.
            Error failed = os_error("fsync", path, error);
            failed.code = Errc::io;
            return failed;
        }
        return {};
    }

    Result<std::unique_ptr<DirectoryLock>> lock(const std::string& directory) override {
        return lock_directory(directory);
    }

    bool exists(const std::string& path) override {
        return ::access(path.c_str(), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
    }

    bool in_memory(std::string_view bytes) const noexcept override {
        const auto [first, end] = pages_of(bytes);
        std::array<unsigned char, kPagesAtOnce> there;
        for (std::uintptr_t page = first; page < end; page += kPagesAtOnce) {
            const std::size_t count = std::min<std::size_t>(end - page, kPagesAtOnce);
            if (::mincore(reinterpret_cast<void*>(page * kPageBytes), count * kPageBytes,
                          there.data()) != 0) {
                static std::once_flag told;
                std::call_once(told, [error = errno] {
                    log_warning(
                        fmt::format("mincore: {}: network threads wait for the device, as it is "
                                    "not known what must be read from it",
                                    std::generic_category().message(error)));
                });
                return true;
            }
            if (std::any_of(there.begin(), there.begin() + static_cast<std::ptrdiff_t>(count),
                            [](unsigned char page_there) { return (page_there & 1) == 0; })) {
                return false;
            }
        }
        return true;
    }

    void will_read(std::string_view bytes) const noexcept override {
        const auto [first, end] = pages_of(bytes);
        // Only advice: if it is ignored, the bytes are read on first access.
        static_cast<void>(::madvise(reinterpret_cast<void*>(first * kPageBytes),
                                    (end - first) * kPageBytes, MADV_WILLNEED));
    }
};

}  // namespace

std::uint64_t FileFacts::origin() const noexcept {
    const std::uint64_t all[] = {device, number, bytes, static_cast<std::uint64_t>(changed_ns)};
    return hash64({reinterpret_cast<const char*>(all), sizeof all});
}

FileSystem& posix_file_system() {
    static PosixFileSystem instance;
    return instance;
}

}  // namespace annals::storage
