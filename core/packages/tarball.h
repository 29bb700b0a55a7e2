// Tarball: the files of a gzipped tar archive, none of which is trusted.
//
// Layer:   core/packages; the one user of libarchive.
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
    std::size_t bytes_max = std::size_t{1} << 30;  ///< of all files, unpacked
    std::size_t path_bytes_max = 1000;
};

/// Hands over each file of the archive, in order: its path, as it stands in the archive and below its root, and what is
/// in it. Directories are passed over.
///
/// Errors: invalid: no gzipped tar archive, or a path that climbs or is absolute, or an entry that is a link or a device;
///         answer_too_costly: beyond `limits`; and what `take` says, after which no more is read.
Result<void> read_tarball(
    std::string_view archive, const TarballLimits& limits,
    const std::function<Result<void>(std::string_view path, std::string bytes)>& take);

}  // namespace annals::packages
