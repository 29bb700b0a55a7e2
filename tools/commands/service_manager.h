// Tells a service manager about a server's life: sd_notify's protocol, without its library.
//
// Layer:   tools (annals serve).
// Threads: any.

#pragma once

#include <string_view>

namespace annals::tools {

/// Sends `state` ("READY=1", "STOPPING=1") to the socket in the environment's NOTIFY_SOCKET: a path, or an abstract name
/// after '@'. Does nothing if it isn't set; what can't be sent within some seconds is logged as a warning.
void tell_service_manager(std::string_view state);

}  // namespace annals::tools
