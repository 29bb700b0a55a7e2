// Compression of responses: whole if small, else slice by slice between writes.
//
// Layer:   net.
// Spec:    RFC 9110 section 8.4; docs/operations.md.
// Threads: on the connection's thread.

#pragma once

#include "core/exchange.h"
#include "net/coding.h"

#include <cstddef>
#include <string_view>

namespace annals::net {

/// The most responses that are encoded slice by slice at a time; further ones are sent unencoded.
inline constexpr std::size_t kEncodedSourcesMax = 128;

/// Encodes the body of `response` in the coding that `accept_encoding` prefers, and sets the headers. Tiny bodies and
/// compressed formats stay as they are. Each slice of a streamed body can be decoded as soon as it has arrived.
/// `lasts`: the same bytes will be requested again, so if they are many this thread caches the encoded form.
void compress(core::Response& response, std::string_view accept_encoding, bool lasts = false);

}  // namespace annals::net
