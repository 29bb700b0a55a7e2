#include "tools/commands/store_access.h"

#include "codec/json/document.h"
#include "core/definitions.h"
#include "storage/backup_manifest.h"
#include "storage/format.h"
#include "storage/segment_folder.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace annals::tools {

namespace {

/// Keeps processes that may write `directory`, which this one may not, out of it until this one ends. False if one has it open.
bool keep_writers_out(const std::string& directory) {
    const int fd = ::open((directory + "/LOCK").c_str(), O_RDONLY | O_CLOEXEC);
    return fd < 0 || ::flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/// Errors: usage (this process lacks that permission on `path`, or nothing can have that name).
Result<void> check_allowed(const std::string& path, int mode) {
    if (::access(path.c_str(), mode) != 0 &&
        (errno == EACCES || errno == EROFS || errno == ENAMETOOLONG || errno == ELOOP)) {
        return Error{Errc::usage, fmt::format("{}: {}", path, std::strerror(errno))};
    }
    return {};
}

/// The same for a directory. A file, which lacks the permission to be searched, is refused where a directory is used.
Result<void> check_directory(const std::string& path, int mode) {
    std::error_code ec;
    return std::filesystem::is_regular_file(path, ec) ? Result<void>() : check_allowed(path, mode);
}

}  // namespace

int exit_code_of(const Error& error) noexcept {
    switch (error.code) {
        case Errc::corrupt:
        case Errc::io:
        case Errc::internal:
        case Errc::no_store:
            return kExitFaults;
        default:
            return kExitUsage;
    }
}

Result<core::Config> offline_config(core::ConfigSources sources, const std::string& data) {
    sources.environment = core::config_environment();
    sources.sets.push_back("data=" + json::quoted(data));
    // Nothing listens there.
    sources.sets.emplace_back("listen=\"127.0.0.1:0\"");
    ANNALS_TRY(core::Config config, core::load_config(sources));
    config.data = data;         // a file name need not be valid text, while TOML must
    config.auth.mode = "none";  // whoever runs this has access to the directory
    return config;
}

storage::StoreOptions store_options(const core::Config& config) {
    storage::StoreOptions options;
    if (config.durability == "interval") {
        options.durability = storage::Durability::interval;
    } else if (config.durability == "none") {
        options.durability = storage::Durability::none;
    }
    options.sync_interval_ms = static_cast<std::uint32_t>(config.sync_interval.count());
    // Whatever was stored must be readable, and fit into a history Bundle of its own to be passed on.
    options.body_bytes_max = config.limits.max_body;
    options.pack_segments = config.storage_compression;
    options.pack_after = config.storage_compression_after;
    options.kept_bytes = config.storage_written_memory;
    options.read_only = config.read_only;
    options.allow_damaged = config.allow_damaged;
    options.search = core::search_setup(config);
    return options;
}

Result<void> check_packages(const core::Config& config, const core::Service& service) {
    return config.allow_damaged ? Result<void>() : service.definitions().packages().loaded();
}

Result<void> check_readable(const std::string& folder) {
    storage::FileSystem& files = storage::posix_file_system();
    if (!files.exists(folder)) {
        return {};
    }
    ANNALS_TRY_VOID(check_allowed(folder, R_OK | X_OK));
    if (const auto names = files.list(folder)) {
        for (const std::string& name : *names) {
            ANNALS_TRY_VOID(check_allowed(fmt::format("{}/{}", folder, name), R_OK));
        }
    }
    return {};
}

Result<void> check_permissions(const std::string& directory, bool writes) {
    ANNALS_TRY_VOID(check_directory(directory, X_OK));
    const std::string segments = directory + "/segments";
    ANNALS_TRY_VOID(check_readable(segments));
    ANNALS_TRY_VOID(check_readable(directory + "/erase"));
    ANNALS_TRY_VOID(check_allowed(fmt::format("{}/{}", directory, storage::kBackupManifest), R_OK));
    if (!writes) {
        return {};
    }
    ANNALS_TRY_VOID(check_writable(segments));
    ANNALS_TRY_VOID(check_writable(directory + "/erase"));
    // The other segments need never be written to again.
    const auto numbers = storage::segment_numbers(storage::posix_file_system(), segments);
    return numbers && !numbers->empty()
               ? check_allowed(
                     fmt::format("{}/{}", segments, storage::segment_name(numbers->back())), W_OK)
               : Result<void>();
}

Result<void> check_package_permissions(const core::Config& config) {
    if (config.allow_damaged) {
        return {};
    }
    const std::string packages = config.data + "/packages";
    ANNALS_TRY_VOID(check_allowed(packages, X_OK));
    return check_readable(packages + "/installed");
}

Result<void> check_subscription_permissions(const core::Config& config) {
    if (!config.subscriptions.enabled || config.read_only) {
        return {};
    }
    const std::string notified = config.data + "/subscriptions";
    ANNALS_TRY_VOID(check_readable(notified));
    return check_writable(notified);
}

Result<std::unique_ptr<storage::DirectoryLock>> lock_for_reading(const std::string& directory) {
    storage::FileSystem& files = storage::posix_file_system();
    // Locking creates a file; directories that are not a store stay unchanged.
    if (!files.exists(directory + "/segments")) {
        return Error{Errc::usage, directory + ": there is no store here"};
    }
    ANNALS_TRY_VOID(check_permissions(directory, false));
    ANNALS_TRY_VOID(storage::check_restored(files, directory));
    auto lock = files.lock(directory);
    if (!lock && lock.error().code != Errc::usage) {
        if (!keep_writers_out(directory)) {
            return Error{Errc::usage, directory + ": in use by another process"};
        }
        return std::unique_ptr<storage::DirectoryLock>();
    }
    return lock;
}

Result<ReadOnlyStore> open_read_only(const std::string& directory) {
    ReadOnlyStore result;
    ANNALS_TRY(result.lock, lock_for_reading(directory));
    storage::StoreOptions options;
    options.read_only = true;
    ANNALS_TRY(result.store,
               storage::Store::open(storage::posix_file_system(), directory, options));
    return result;
}

Result<void> check_writable(const std::string& path) {
    return check_directory(path, W_OK | X_OK);
}

Result<void> make_output_directory(const std::string& path) {
    if (const Result<void> made = storage::posix_file_system().make_directory(path); !made) {
        return Error{Errc::usage, made.error().detail};
    }
    return check_writable(path);
}

}  // namespace annals::tools
