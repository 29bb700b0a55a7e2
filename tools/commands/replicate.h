// annals replicate: keeps one server's history up to date in another.
//
// Layer:   tools.

#pragma once

#include "tools/commands/commands.h"

namespace annals::tools {

/// Reads one server's system history and submits it to the other as history bundles.
int replicate(const ArgumentList& arguments);

}  // namespace annals::tools
