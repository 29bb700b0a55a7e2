// annals restore: a new store out of a backup.
//
// Layer:   tools.

#pragma once

#include "tools/commands/commands.h"

namespace annals::tools {

/// Makes a store of a backup, as it was at its end, at a position or at an instant.
int restore_store(const ArgumentList& arguments);

}  // namespace annals::tools
