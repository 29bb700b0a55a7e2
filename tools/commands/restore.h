// annals restore: makes a new store from a backup.
//
// Layer:   tools.

#pragma once

#include "tools/commands/commands.h"

namespace annals::tools {

/// Makes a store from a backup, as of its end, a position or an instant.
int restore_store(const ArgumentList& arguments);

}  // namespace annals::tools
