// PeerAddress: the peer of a socket, as a key and as text.
//
// Layer:   net.
// Threads: plain values.

#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

namespace annals::net {

/// An IPv6 address, or an IPv4 address mapped to IPv6.
struct PeerAddress {
    std::array<unsigned char, 16> bytes{};

    bool operator==(const PeerAddress&) const = default;

    bool is_v4() const noexcept;

    /// The network of one subscriber: of IPv6 the first 64 bits, the rest 0.
    PeerAddress network() const noexcept;

    /// "192.0.2.1", "2001:db8::1".
    std::string text() const;
};

/// The peer of a connected socket; all zeros if it is no longer connected.
PeerAddress peer_address(int fd) noexcept;

struct AddressHash {
    std::size_t operator()(const PeerAddress& address) const noexcept {
        return std::hash<std::string_view>()(
            {reinterpret_cast<const char*>(address.bytes.data()), address.bytes.size()});
    }
};

}  // namespace annals::net
