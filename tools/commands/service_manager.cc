#include "tools/commands/service_manager.h"

#include "core/base/log.h"

#include <fmt/format.h>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace annals::tools {

namespace {

/// A busy manager may have no room for more at the moment, and would wait forever for what was not sent.
constexpr timeval kLimit{.tv_sec = 5, .tv_usec = 0};

/// Returns errno, 0 on success.
int send_to(std::string_view name, std::string_view state) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (name.size() >= sizeof(address.sun_path)) {
        return ENAMETOOLONG;
    }
    std::ranges::copy(name, address.sun_path);
    if (name.front() == '@') {
        address.sun_path[0] = '\0';
    }
    const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
        return errno;
    }
    ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &kLimit, sizeof(kLimit));
    const auto sent =
        ::sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size()));
    const int error = sent < 0 ? errno : 0;
    ::close(descriptor);
    return error;
}

}  // namespace

void tell_service_manager(std::string_view state) {
    const char* name = std::getenv("NOTIFY_SOCKET");
    if (name == nullptr || *name == '\0') {
        return;
    }
    if (const int error = send_to(name, state); error != 0) {
        log_warning(fmt::format("NOTIFY_SOCKET: cannot send {}: {}", state, std::strerror(error)));
    }
}

}  // namespace annals::tools
