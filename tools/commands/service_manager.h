// What a service manager is told of a server's life: sd_notify's protocol, without its library.
//
// Layer:   tools (annals serve).
// Threads: any.

#pragma once

#include <string_view>

namespace annals::tools {

/// Sends `state` ("READY=1", "STOPPING=1") to the socket that the environment names by NOTIFY_SOCKET: a path, or behind '@' a name
/// without a file. Does nothing where there is none; what can't be told within some seconds is a warning in the log.
void tell_service_manager(std::string_view state);

}  // namespace annals::tools
