// The files of a store's search checkpoint in a simulated file system.
//
// Layer:   tests/support.
// Threads: plain functions.

#pragma once

#include "tests/support/sim_file_system.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace annals::test {

inline constexpr std::string_view kSearchFiles = "/data/search";

inline std::vector<std::string> checkpoint_files(const SimFileSystem& fs) {
    std::vector<std::string> files;
    for (const std::string& path : fs.paths()) {
        if (path.starts_with(kSearchFiles)) {
            files.push_back(path);
        }
    }
    return files;
}

inline bool mentions(const SimFileSystem& fs, std::string_view text) {
    return std::ranges::any_of(checkpoint_files(fs), [&](const std::string& path) {
        return fs.content(path).find(text) != std::string::npos;
    });
}

}  // namespace annals::test
