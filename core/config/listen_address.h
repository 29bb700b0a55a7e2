// ListenAddress: the value of `listen`, read.
//
// Layer:   core/config.
// Threads: a plain function.

#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>

namespace annals::core {

struct ListenAddress {
    std::string host;  ///< a name or an address, that of IPv6 without its brackets
    std::string port;  ///< a number below 65536
};

/// Reads HOST:PORT or [ADDRESS]:PORT. Errors: usage, one line that names the key.
Result<ListenAddress> read_listen_address(std::string_view listen);

}  // namespace annals::core
