// ListenAddress: the parsed value of `listen`.
//
// Layer:   core/config.
// Threads: a plain function.

#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>

namespace annals::core {

struct ListenAddress {
    std::string host;  ///< a name or an address; an IPv6 address without its brackets
    std::string port;  ///< a number up to 65535
};

/// Reads HOST:PORT or [ADDRESS]:PORT. Errors: usage: one line that names the key.
Result<ListenAddress> read_listen_address(std::string_view listen);

}  // namespace annals::core
