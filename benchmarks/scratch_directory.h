// ScratchDirectory: a folder for a benchmark's store.
//
// Threads: one.

#pragma once

#include "tools/bench/working_folder.h"

#include <cstdlib>
#include <memory>
#include <string>

namespace annals::storage {

/// A new folder below $ANNALS_BENCHMARK_DIR, or the current one.
class ScratchDirectory {
  public:
    const std::string& path() const { return folder_->path(); }

  private:
    static const char* base() {
        const char* const directory = std::getenv("ANNALS_BENCHMARK_DIR");
        return directory != nullptr ? directory : ".";
    }

    std::unique_ptr<bench::WorkingFolder> folder_ = *bench::WorkingFolder::create(base());
};

}  // namespace annals::storage
