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

/// Answers that are encoded slice by slice at a time. Beyond, those that would be go out as they are.
inline constexpr std::size_t kEncodedSourcesMax = 128;

/// Encodes the body of `response` in the coding that `accept_encoding` likes best and says so in its headers.
/// Tiny bodies, and those that are compressed by their nature, stay as they are. What a streamed body's slice
/// holds can be decoded when the slice has arrived.
/// `lasts`: the very same bytes will be asked for again, so this thread keeps what becomes of them, if they are many.
void compress(core::Response& response, std::string_view accept_encoding, bool lasts = false);

}  // namespace annals::net
