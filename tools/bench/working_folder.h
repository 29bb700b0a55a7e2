// WorkingFolder: a new folder that is removed again with all its contents.
//
// Layer:   tools/bench.
// Threads: one.

#pragma once

#include "core/base/result.h"

#include <memory>
#include <string>

namespace annals::bench {

/// Removed even if this process is killed: another process waits for that.
class WorkingFolder {
  public:
    /// Makes one below `directory`. Errors: io.
    static Result<std::unique_ptr<WorkingFolder>> create(const std::string& directory);
    ~WorkingFolder();
    WorkingFolder(const WorkingFolder&) = delete;
    WorkingFolder& operator=(const WorkingFolder&) = delete;

    const std::string& path() const { return path_; }

  private:
    explicit WorkingFolder(std::string path);

    std::string path_;
    int remover_ = -1;
    int held_ = -1;  ///< a pipe that the remover reads; ends with the last process that has it
};

}  // namespace annals::bench
