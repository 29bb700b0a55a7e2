// WorkingFolder: a new folder that goes away again, with all that is in it.
//
// Layer:   tools/bench.
// Threads: one.

#pragma once

#include "core/base/random.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>

namespace annals::bench {

class WorkingFolder {
  public:
    /// Makes one below `directory`.
    explicit WorkingFolder(const std::string& directory)
        : path_(fmt::format("{}/annals-bench-{:016x}", directory, random_u64())) {
        std::filesystem::create_directories(path_);
    }

    ~WorkingFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    WorkingFolder(const WorkingFolder&) = delete;
    WorkingFolder& operator=(const WorkingFolder&) = delete;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace annals::bench
