// annals serve: the server.
//
// Layer:   tools.

#pragma once

#include "tools/commands/commands.h"

namespace annals::tools {

/// Serves until SIGTERM, SIGINT or SIGHUP.
int serve(const ArgumentList& arguments);

}  // namespace annals::tools
