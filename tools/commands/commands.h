// The subcommands of `annals`, as tools/annals.cc uses them.
//
// Layer:   tools.
// Threads: each runs on the main thread, once per process.

#pragma once

#include <string>
#include <vector>

namespace annals::tools {

/// The exit codes that all subcommands have in common.
enum ExitCode : int {
    kExitDone = 0,    ///< success
    kExitFaults = 1,  ///< it ran and found or met faults
    kExitUsage = 2,   ///< it could not start: arguments, configuration, a port or directory in use
};

/// What follows the subcommand's name on the command line.
using ArgumentList = std::vector<std::string>;

}  // namespace annals::tools
