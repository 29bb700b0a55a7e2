// annals backup: copies a store that is not in use.
//
// Layer:   tools.

#pragma once

#include "tools/commands/commands.h"

namespace annals::tools {

/// Makes or refreshes a backup in a directory.
int back_up_store(const ArgumentList& arguments);

}  // namespace annals::tools
