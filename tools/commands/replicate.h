// annals replicate: one server's history, kept up to date in another.
//
// Layer:   tools.

#pragma once

#include "tools/commands/commands.h"

namespace annals::tools {

/// Reads system history of one server and submits it to the other as history bundles.
int replicate(const ArgumentList& arguments);

}  // namespace annals::tools
