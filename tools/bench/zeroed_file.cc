#include "tools/bench/zeroed_file.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace annals::bench {

Result<ZeroedFile> ZeroedFile::create(const std::string& path, std::uint64_t bytes) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) {
        return Error{Errc::io, fmt::format("{}: {}", path, std::strerror(errno))};
    }
    ZeroedFile file(fd, bytes);
    const std::string zeros(1 << 20, '\0');
    for (std::uint64_t at = 0; at < bytes; at += zeros.size()) {
        const std::size_t size = std::min<std::uint64_t>(zeros.size(), bytes - at);
        if (::pwrite(fd, zeros.data(), size, static_cast<off_t>(at)) !=
            static_cast<ssize_t>(size)) {
            return Error{Errc::io, fmt::format("{}: {}", path, std::strerror(errno))};
        }
    }
    if (::fsync(fd) != 0) {
        return Error{Errc::io, fmt::format("{}: {}", path, std::strerror(errno))};
    }
    return file;
}

Result<ZeroedFile> ZeroedFile::open(const std::string& path, std::uint64_t bytes) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return Error{Errc::io, fmt::format("{}: {}", path, std::strerror(errno))};
    }
    return ZeroedFile(fd, bytes);
}

ZeroedFile::ZeroedFile(ZeroedFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), bytes_(other.bytes_), end_(other.end_) {
}

ZeroedFile::~ZeroedFile() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

bool ZeroedFile::append_and_sync(std::string_view data) {
    if (end_ + data.size() > bytes_) {
        end_ = 0;
    }
    while (!data.empty()) {
        const ssize_t written = ::pwrite(fd_, data.data(), data.size(), static_cast<off_t>(end_));
        if (written < 0) {
            return false;
        }
        data.remove_prefix(static_cast<std::size_t>(written));
        end_ += static_cast<std::uint64_t>(written);
    }
    return ::fdatasync(fd_) == 0;
}

}  // namespace annals::bench
