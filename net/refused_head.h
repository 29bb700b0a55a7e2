// What can be read of a refused head, so that the refusal comes in the format that the client asked for.
//
// Layer:   net; knows no socket.
// Threads: plain function.

#pragma once

#include "core/exchange.h"

#include <string_view>

namespace annals::net {

/// Puts the query and headers of `head` into `request`, as far as they have arrived, whatever is wrong with them. An
/// incomplete header line is left out, and so is the last parameter of an incomplete target. The method is set to
/// `head` or left as it is. Lifetime: the views point into `head`.
void read_refused_head(std::string_view head, core::Request& request);

}  // namespace annals::net
