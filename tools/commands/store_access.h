// How subcommands come to a configuration and a store, and what they say and exit with when they don't.
//
// Layer:   tools.
// Threads: plain functions.

#pragma once

#include "core/base/result.h"
#include "core/config/config.h"
#include "core/service.h"
#include "storage/file_system.h"
#include "storage/store.h"
#include "tools/commands/commands.h"

#include <memory>
#include <string>

namespace annals::tools {

/// The exit code that an error of starting means: kExitFaults for damage and failing devices, kExitUsage
/// for everything that the caller can put right.
int exit_code_of(const Error& error) noexcept;

/// The settings of `sources` and of the environment for a command that works on `data` by itself: what a server would ask for
/// before it listens is not asked for. Errors: as load_config().
Result<core::Config> offline_config(core::ConfigSources sources, const std::string& data);

/// What the store is opened with under `config`.
storage::StoreOptions store_options(const core::Config& config);

/// Refuses to go on without what an installed package defines, unless damage is allowed for. Errors: corrupt, with the path.
Result<void> check_packages(const core::Config& config, const core::Service& service);

/// Whether this process may read all that is in `folder`, if there is one. Errors: usage, with the path.
Result<void> check_readable(const std::string& folder);

/// Whether this process may read what a store, or a backup, in `directory` is read from, and change it if it `writes`: what it may not is
/// no damage, which a store that can't be read is told for. Errors: usage, with the path.
Result<void> check_permissions(const std::string& directory, bool writes);

/// Keeps other processes from opening `directory` while the result lives; null where this process can't write
/// the directory: then until the process ends, as far as it may read the lock.
/// Errors: usage (no store there, half of one that was being restored, or one that we may not read; held by another process).
Result<std::unique_ptr<storage::DirectoryLock>> lock_for_reading(const std::string& directory);

/// A store that is read, and what keeps others from writing it meanwhile.
struct ReadOnlyStore {
    std::unique_ptr<storage::DirectoryLock> lock;
    std::unique_ptr<storage::Store> store;
};

/// Opens `directory` to read it, as long as no other process holds it.
/// Errors: as lock_for_reading(), usage (a newer format), corrupt, io.
Result<ReadOnlyStore> open_read_only(const std::string& directory);

/// Whether this process may make files in the directory `path`, if there is one. Errors: usage.
Result<void> check_writable(const std::string& path);

/// Makes the directory that an argument names for what is to be written, if it is missing.
/// Errors: usage (it can't be one: a file of that name, no permission).
Result<void> make_output_directory(const std::string& path);

}  // namespace annals::tools
