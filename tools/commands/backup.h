// annals backup: a copy of a store that nobody writes at the moment.
//
// Layer:   tools.

#pragma once

#include "tools/commands/commands.h"

namespace annals::tools {

/// Makes or refreshes the backup in a directory.
int back_up_store(const ArgumentList& arguments);

}  // namespace annals::tools
