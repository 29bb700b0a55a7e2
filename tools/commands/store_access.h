// How subcommands open a configuration and a store, and how they report and exit if they can't.
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

/// The exit code for an error at start: kExitFaults for damage and failing devices, kExitUsage
/// for everything that the caller can fix.
int exit_code_of(const Error& error) noexcept;

/// The settings from `sources` and the environment for a command that works on `data` directly: settings that only a
/// server requires may be missing. Errors: as load_config().
Result<core::Config> offline_config(core::ConfigSources sources, const std::string& data);

/// The options to open a store with under `config`.
storage::StoreOptions store_options(const core::Config& config);

/// Fails if the definitions of an installed package are missing, unless damage is allowed. Errors: corrupt, with the path.
Result<void> check_packages(const core::Config& config, const core::Service& service);

/// Whether this process may read everything in `folder`, if it exists. Errors: usage, with the path.
Result<void> check_readable(const std::string& folder);

/// Whether this process may read the files of the store or backup in `directory`, and change them if it `writes`: otherwise missing
/// permissions would be taken for damage. Errors: usage, with the path.
Result<void> check_permissions(const std::string& directory, bool writes);

/// Whether this process may read the packages that check_packages() requires. Errors: usage, with the path.
Result<void> check_package_permissions(const core::Config& config);

/// Whether this process may read and save how far subscriptions have been notified, if it is to. Errors: usage, with the path.
Result<void> check_subscription_permissions(const core::Config& config);

/// Keeps other processes from opening `directory` while the result lives. It is null if this process can't write to
/// the directory: then they are kept out until the process ends, provided that it may read the lock file.
/// Errors: usage (no store there, an unfinished restore, or one that we may not read; in use by another process).
Result<std::unique_ptr<storage::DirectoryLock>> lock_for_reading(const std::string& directory);

/// A store opened for reading, and the lock that keeps others from writing it meanwhile.
struct ReadOnlyStore {
    std::unique_ptr<storage::DirectoryLock> lock;
    std::unique_ptr<storage::Store> store;
};

/// Opens `directory` for reading, unless another process has it.
/// Errors: as lock_for_reading(), usage (a newer format), corrupt, io.
Result<ReadOnlyStore> open_read_only(const std::string& directory);

/// Whether this process may create files in the directory `path`, if it exists. Errors: usage.
Result<void> check_writable(const std::string& path);

/// Creates the output directory that an argument names, if it is missing.
/// Errors: usage (it can't be created: a file of that name, no permission).
Result<void> make_output_directory(const std::string& path);

}  // namespace annals::tools
