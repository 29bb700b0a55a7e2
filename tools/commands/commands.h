// The subcommands of `annals`, each in a file of its name.
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

// Each returns an ExitCode. A new one is also entered in the table of tools/annals.cc.

/// Serves until SIGTERM, SIGINT or SIGHUP.
int serve(const ArgumentList& arguments);

/// Reads a whole store offline and prints what it contains and what is damaged.
int verify_store(const ArgumentList& arguments);

/// Makes or refreshes a backup in a directory.
int back_up_store(const ArgumentList& arguments);

/// Makes a store from a backup, as of its end, a position or an instant.
int restore_store(const ArgumentList& arguments);

/// Removes old versions, if asked to, and frees the space of everything erased.
int compact_store(const ArgumentList& arguments);

/// Writes DIR2/TYPE.ndjson for every type with live resources, or DIR2/history.ndjson.
int export_store(const ArgumentList& arguments);

/// Reads files, folders or stdin; reports refused lines on stderr.
int import_files(const ArgumentList& arguments);

/// Reads one server's system history and submits it to the other as history bundles.
int replicate(const ArgumentList& arguments);

/// Writes bundles to stdout or a folder.
int run_generate(const ArgumentList& arguments);

/// Measures and prints a table; kExitFaults if any response was wrong.
int run_bench(const ArgumentList& arguments);

}  // namespace annals::tools
