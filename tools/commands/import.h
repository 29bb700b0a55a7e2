// annals import: reads ndjson and Bundles into a server or directly into a data directory.
//
// Layer:   tools.

#pragma once

#include "tools/commands/commands.h"

namespace annals::tools {

/// Reads files, folders or stdin; reports refused lines on stderr.
int import_files(const ArgumentList& arguments);

}  // namespace annals::tools
