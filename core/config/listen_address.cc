#include "core/config/listen_address.h"

#include "core/base/text.h"
#include "core/config/config_checks.h"

#include <fmt/format.h>

#include <cstdint>

namespace annals::core {

namespace {

bool is_port(std::string_view text) {
    return parse_number<std::uint16_t>(text) && text.size() <= 5;
}

}  // namespace

Result<ListenAddress> read_listen_address(std::string_view listen) {
    const std::size_t colon = listen.rfind(':');
    std::string_view host = listen.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string_view::npos) {
        host = {};  // an IPv6 address needs brackets
    }
    if (colon == std::string_view::npos || host.empty() || !is_port(listen.substr(colon + 1))) {
        return usage(fmt::format("listen must be HOST:PORT, not '{}'", one_line(listen)));
    }
    return ListenAddress{std::string(host), std::string(listen.substr(colon + 1))};
}

}  // namespace annals::core
