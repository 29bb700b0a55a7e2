// WorkingFolder: a new folder that goes away again, with all that is in it.
//
// Layer:   tools/bench.
// Threads: one.

#pragma once

#include <string>

namespace annals::bench {

/// Also when this process is killed: another one waits for that.
class WorkingFolder {
  public:
    /// Makes one below `directory`.
    explicit WorkingFolder(const std::string& directory);
    ~WorkingFolder();
    WorkingFolder(const WorkingFolder&) = delete;
    WorkingFolder& operator=(const WorkingFolder&) = delete;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
    int remover_ = -1;
    int held_ = -1;  ///< what the remover reads from; ends with the last process that has it
};

}  // namespace annals::bench
