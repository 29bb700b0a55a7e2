// The subcommands of `annals`: what each one offers to tools/annals.cc.
//
// Layer:   tools.
// Threads: each runs on the main thread, once per process.

#pragma once

#include <string>
#include <vector>

namespace annals::tools {

/// What a subcommand ends with (contract of every one of them).
enum ExitCode : int {
    kExitDone = 0,    ///< it did what it was asked
    kExitFaults = 1,  ///< it ran and found or met faults
    kExitUsage = 2,   ///< it could not start: arguments, configuration, a port or directory in use
};

/// What stands after the subcommand's name on the command line.
using ArgumentList = std::vector<std::string>;

}  // namespace annals::tools
