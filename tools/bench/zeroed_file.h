// ZeroedFile: a file of pre-written zeros, the fastest for a log to append to.
//
// Layer:   tools/bench.
// Threads: one at a time.

#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace annals::bench {

class ZeroedFile {
  public:
    /// Creates `path` with `bytes` zeros and syncs it. Errors: io.
    static Result<ZeroedFile> create(const std::string& path, std::uint64_t bytes);

    /// A file made by create(), possibly in another process. Errors: io.
    static Result<ZeroedFile> open(const std::string& path, std::uint64_t bytes);

    ZeroedFile(ZeroedFile&& other) noexcept;
    ZeroedFile& operator=(ZeroedFile&&) = delete;
    ~ZeroedFile();

    /// Writes `data` after what was written before and syncs it; starts over at the end of the file.
    /// False if the system refuses. Requires: data fits into the file.
    bool append_and_sync(std::string_view data);

  private:
    ZeroedFile(int fd, std::uint64_t bytes) : fd_(fd), bytes_(bytes) {}

    int fd_;
    std::uint64_t bytes_;
    std::uint64_t end_ = 0;
};

}  // namespace annals::bench
