#include "tools/commands/store_access.h"

namespace annals::tools {

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

storage::StoreOptions store_options(const core::Config& config) {
    storage::StoreOptions options;
    if (config.durability == "interval") {
        options.durability = storage::Durability::interval;
    } else if (config.durability == "none") {
        options.durability = storage::Durability::none;
    }
    options.sync_interval_ms = static_cast<std::uint32_t>(config.sync_interval.count());
    options.read_only = config.read_only;
    options.allow_damaged = config.allow_damaged;
    return options;
}

Result<ReadOnlyStore> open_read_only(const std::string& directory) {
    storage::FileSystem& files = storage::posix_file_system();
    if (!files.exists(directory)) {
        return Error{Errc::usage, directory + ": no such data directory", ""};
    }
    ReadOnlyStore result;
    auto lock = files.lock(directory);
    if (lock) {
        result.lock = std::move(*lock);
    } else if (lock.error().code == Errc::usage) {
        return std::move(lock.error());
    }
    storage::StoreOptions options;
    options.read_only = true;
    ANNALS_TRY(result.store, storage::Store::open(files, directory, options));
    return result;
}

}  // namespace annals::tools
