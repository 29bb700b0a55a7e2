// annals bench: the load tool.
//
// Layer:   tools. Workloads and how to measure: docs/benchmarks.md.
// Threads: main.

#pragma once

#include "tools/commands/commands.h"

namespace annals::tools {

/// Measures and prints a table; returns an ExitCode, kExitFaults if any response was wrong.
int run_bench(const ArgumentList& arguments);

}  // namespace annals::tools
