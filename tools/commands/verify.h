// annals verify: checks whether a store still is what was written.
//
// Layer:   tools.

#pragma once

#include "tools/commands/commands.h"

namespace annals::tools {

/// Reads a whole store offline and prints what it contains and what is damaged.
int verify_store(const ArgumentList& arguments);

}  // namespace annals::tools
