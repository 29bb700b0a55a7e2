#include "storage/posix_directory_lock.h"

#include "storage/posix_call.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

namespace annals::storage {
namespace {

class PosixDirectoryLock;

/// The directories that this process has locked.
struct HeldDirectories {
    std::shared_mutex mutex;
    std::vector<const PosixDirectoryLock*> all;
};

HeldDirectories& held_directories() {
    static HeldDirectories held;
    return held;
}

class PosixDirectoryLock final : public DirectoryLock {
  public:
    /// `directory` is negative if it could not be opened.
    PosixDirectoryLock(std::string path, int file, int directory)
        : path_(std::move(path)), file_(file), directory_(directory) {
        HeldDirectories& held = held_directories();
        const std::unique_lock lock(held.mutex);
        held.all.push_back(this);
    }

    PosixDirectoryLock(const PosixDirectoryLock&) = delete;
    PosixDirectoryLock& operator=(const PosixDirectoryLock&) = delete;

    ~PosixDirectoryLock() override {
        {
            HeldDirectories& held = held_directories();
            const std::unique_lock lock(held.mutex);
            std::erase(held.all, this);
        }
        ::close(file_);
        if (directory_ >= 0) {
            ::close(directory_);
        }
    }

    /// The path that was locked.
    const std::string& path() const noexcept { return path_; }

    /// Whether `path` is below the locked path, which leads to another directory by now.
    bool misleads(std::string_view path) const noexcept {
        struct stat ours{};
        struct stat found{};
        return path.size() > path_.size() && path.starts_with(path_) && path[path_.size()] == '/' &&
               ::fstat(directory_, &ours) == 0 && ::stat(path_.c_str(), &found) == 0 &&
               (ours.st_dev != found.st_dev || ours.st_ino != found.st_ino);
    }

  private:
    const std::string path_;
    int file_;
    int directory_;
};

}  // namespace

Result<std::unique_ptr<DirectoryLock>> lock_directory(const std::string& directory) {
    const std::string path = directory + "/LOCK";
    const int fd =
        retried([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640); });
    if (fd < 0) {
        return os_error("open", path, errno);
    }
    const int folder =
        retried([&] { return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    auto held = std::make_unique<PosixDirectoryLock>(directory, fd, folder);
    const int refused = ::flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    // Locks the directory, too, if the file system can: then nobody does harm by removing LOCK as something left over.
    const bool folder_held =
        refused == 0 && ::flock(folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (refused == EWOULDBLOCK || folder_held) {
        return Error{Errc::usage, fmt::format("{}: in use by another process", directory)};
    }
    if (refused != 0) {
        return os_error("flock", path, refused);
    }
    return std::unique_ptr<DirectoryLock>(std::move(held));
}

Result<void> check_place(std::string_view path) {
    HeldDirectories& held = held_directories();
    const std::shared_lock lock(held.mutex);
    for (const PosixDirectoryLock* const directory : held.all) {
        if (directory->misleads(path)) {
            return Error{Errc::io, fmt::format("{}: a different directory has this name now",
                                               directory->path())};
        }
    }
    return {};
}

}  // namespace annals::storage
