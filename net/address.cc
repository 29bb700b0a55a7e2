#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace annals::net {

namespace {

constexpr std::array<unsigned char, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::size_t kNetworkBytes = 8;

}  // namespace

bool PeerAddress::is_v4() const noexcept {
    return std::equal(kMapped.begin(), kMapped.end(), bytes.begin());
}

PeerAddress PeerAddress::network() const noexcept {
    PeerAddress network = *this;
    if (!is_v4()) {
        std::fill(network.bytes.begin() + kNetworkBytes, network.bytes.end(), 0);
    }
    return network;
}

std::string PeerAddress::text() const {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const bool v4 = is_v4();
    if (::inet_ntop(v4 ? AF_INET : AF_INET6, bytes.data() + (v4 ? kMapped.size() : 0), text.data(),
                    text.size()) == nullptr) {
        return {};
    }
    return text.data();
}

PeerAddress peer_address(int fd) noexcept {
    PeerAddress address;
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) {
        return address;
    }
    if (peer.ss_family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, &peer, sizeof v4);
        std::copy(kMapped.begin(), kMapped.end(), address.bytes.begin());
        std::memcpy(address.bytes.data() + kMapped.size(), &v4.sin_addr, sizeof v4.sin_addr);
    } else if (peer.ss_family == AF_INET6) {
        sockaddr_in6 v6{};
        std::memcpy(&v6, &peer, sizeof v6);
        std::memcpy(address.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
    }
    return address;
}

}  // namespace annals::net
