// paths: where a file that the configuration names lies.
//
// Layer:   net.
// Threads: plain functions.

#pragma once

#include <string>

namespace annals::net {

/// The directory that `path` is in; "." where it says none.
inline std::string directory_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

/// The last part of `path`.
inline std::string name_of(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

}  // namespace annals::net
