// What can be read of a head that was refused, so that the refusal is told in what the client asked for.
//
// Layer:   net; knows no socket.
// Threads: plain function.

#pragma once

#include "core/exchange.h"

#include <string_view>

namespace annals::net {

/// Puts into `request` the query and the headers of `head`, as much of it as has arrived and whatever is wrong with it. A
/// header line that has not ended is left out, and so is a parameter at the end of a target that has not. The method is
/// `head` or left as it is. Lifetime: the views point into `head`.
void read_refused_head(std::string_view head, core::Request& request);

}  // namespace annals::net
