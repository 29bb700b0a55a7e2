// FileWatch: which of a running server's files have changed.
//
// Layer:   net.
// Threads: belongs to one thread; accesses the file system.

#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace annals::net {

/// Small files that are read again after a change. They are checked before they are read, so that a change
/// while reading is found by the next check.
class FileWatch {
  public:
    /// Adds `file`, which need not exist; an empty name never changes.
    void add(std::string file);

    /// Stops watching all files.
    void clear() noexcept { files_.clear(); }

    /// Whether one of them was written, created or removed since it was added or last checked.
    bool look();

  private:
    using Time = std::filesystem::file_time_type;

    std::vector<std::pair<std::string, Time>> files_;  ///< and when each was last written
};

}  // namespace annals::net
