// annals import: ndjson and Bundles into a server or straight into a data directory.
//
// Layer:   tools.

#pragma once

#include "tools/commands/commands.h"

namespace annals::tools {

/// Reads files, folders or stdin; says on stderr which lines were refused.
int import_files(const ArgumentList& arguments);

}  // namespace annals::tools
