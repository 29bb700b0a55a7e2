// UTF-8 of texts that come from outside and are said back: diagnostics, links.
//
// Layer:   core. (Bodies are checked by codec/json.)
// Spec:    RFC 3629.
// Threads: plain functions.

#pragma once

#include <string>
#include <string_view>

namespace annals::core {

/// True if `text` is UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view text) noexcept;

/// `text` with every byte that is not part of valid UTF-8 as U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace annals::core
