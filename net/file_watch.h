// FileWatch: when a running server reads its files again.
//
// Layer:   net.
// Threads: belongs to one thread; accesses the file system.

#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::net {

/// Small files that are read again after a change, and as long as they can't be used. They are checked before they are
/// read, so that a change while reading is found by the next check.
class FileWatch {
  public:
    /// Adds `file`, which need not exist; an empty name never changes.
    void add(std::string file);

    /// Stops watching all files.
    void clear() noexcept { files_.clear(); }

    /// Checks the files. Returns whether they must be read: one was written, created or removed since it was added or
    /// last checked, or they could not be used when they were last read, which may be solved without changing their
    /// times, as when permissions change.
    bool must_read();

    /// Notes what came of reading them. If they can't be used after a change, why is logged behind `kept`.
    template <typename T>
    void note(const Result<T>& read, std::string_view kept) {
        failed_ = !read;
        if (failed_ && changed_) {
            warn(read.error(), kept);
        }
    }

  private:
    using Time = std::filesystem::file_time_type;

    static void warn(const Error& why, std::string_view kept);

    std::vector<std::pair<std::string, Time>> files_;  ///< and when each was last written
    bool changed_ = false;                             ///< found by the last check
    bool failed_ = false;                              ///< they could not be used
};

}  // namespace annals::net
