// annals compact: offline, what history cleanup and compaction do beside a server.
//
// Layer:   tools.

#pragma once

#include "tools/commands/commands.h"

namespace annals::tools {

/// Removes old versions, if asked to, and gives back the room of all that was erased.
int compact_store(const ArgumentList& arguments);

}  // namespace annals::tools
