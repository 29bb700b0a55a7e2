// ScratchDirectory: a folder for a benchmark's store.
//
// Threads: one.

#pragma once

#include "tools/bench/working_folder.h"

#include <cstdlib>

namespace annals::storage {

/// A new folder below $ANNALS_BENCHMARK_DIR, or the current one.
class ScratchDirectory : public bench::WorkingFolder {
  public:
    ScratchDirectory() : WorkingFolder(base()) {}

  private:
    static const char* base() {
        const char* const directory = std::getenv("ANNALS_BENCHMARK_DIR");
        return directory != nullptr ? directory : ".";
    }
};

}  // namespace annals::storage
