// Tarball: reads the files of a gzipped tar archive, which may be malicious.
//
// Layer:   core/packages; the only user of libarchive.
// Spec:    POSIX ustar and pax; RFC 1952.
// Threads: plain functions.

#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace annals::packages {

struct TarballLimits {
    std::size_t files_max = 50'000;
    std::size_t file_bytes_max = 64 << 20;
    std::size_t bytes_max = std::size_t{1} << 30;  ///< of all files together, unpacked
    std::size_t path_bytes_max = 1000;
};

/// Passes the path, relative to the archive's root, and the content of each file to `take`, in order. Directories are skipped.
///
/// Errors: invalid (no gzipped tar archive; an absolute path or one with ".."; a link or device); answer_too_costly (beyond
/// `limits`); an error of `take`, after which nothing more is read.
Result<void> read_tarball(
    std::string_view archive, const TarballLimits& limits,
    const std::function<Result<void>(std::string_view path, std::string bytes)>& take);

}  // namespace annals::packages
