// annals generate: realistic, seeded, linked clinical data of any size.
//
// Layer:   tools. What it makes: docs/generate.md.
// Threads: main.

#pragma once

#include "tools/commands/commands.h"

namespace annals::tools {

/// Writes bundles to stdout or a folder; returns an ExitCode.
int run_generate(const ArgumentList& arguments);

}  // namespace annals::tools
