// FileWatch: which of the files that a running server was given have changed.
//
// Layer:   net.
// Threads: belongs to one thread; it asks the file system.

#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace annals::net {

/// Small files that are read again once they have changed. They are looked at before they are read, so that what changes
/// meanwhile is found at the next look.
class FileWatch {
  public:
    /// Watches `file`, too, which need not be there; one without a name never changes.
    void add(std::string file);

    /// Watches none any more.
    void clear() noexcept { files_.clear(); }

    /// Whether one of them has been written, has come or has gone since it was added or looked at last.
    bool look();

  private:
    using Time = std::filesystem::file_time_type;

    std::vector<std::pair<std::string, Time>> files_;  ///< and when each was written last
};

}  // namespace annals::net
