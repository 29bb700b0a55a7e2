// annals compact: history cleanup and compaction of a store that no server uses.
//
// Layer:   tools.

#pragma once

#include "tools/commands/commands.h"

namespace annals::tools {

/// Removes old versions, if asked to, and frees the space of everything erased.
int compact_store(const ArgumentList& arguments);

}  // namespace annals::tools
