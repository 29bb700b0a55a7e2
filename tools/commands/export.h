// annals export: a store's resources or its whole history, as ndjson.
//
// Layer:   tools.

#pragma once

#include "tools/commands/commands.h"

namespace annals::tools {

/// Writes DIR2/TYPE.ndjson for every type with live resources, or DIR2/history.ndjson.
int export_store(const ArgumentList& arguments);

}  // namespace annals::tools
