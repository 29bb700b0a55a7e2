// annals backup: copies a store that is not in use.

#include "storage/backup.h"

#include "storage/segment_folder.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/commands/progress.h"
#include "tools/commands/store_access.h"

#include <cstdio>

namespace annals::tools {

int back_up_store(const ArgumentList& arguments) {
    std::string data;
    std::string to;
    bool quiet = false;
    Arguments reader(
        "backup", "Copies a store to a directory, or brings an existing backup there up to date.");
    reader.required_text("--data", data, "data directory (must not be in use by another process)");
    reader.required_text("--to", to, "directory of the backup; created if missing");
    reader.flag("-q,--quiet", quiet, "show no progress");
    if (const auto exit_code = reader.parse(arguments)) {
        return *exit_code;
    }
    auto lock = lock_for_reading(data);
    if (!lock) {
        return fail(lock.error().detail, exit_code_of(lock.error()));
    }
    storage::FileSystem& files = storage::posix_file_system();
    // Both refuse a newer format. Without a lock, erasures can't be finished either.
    const auto usable = *lock != nullptr ? storage::finish_erasures(files, data)
                                         : storage::check_format(files, data + "/segments");
    if (!usable) {
        return fail(usable.error().detail, exit_code_of(usable.error()));
    }
    if (const auto made = make_output_directory(to); !made) {
        return fail(made.error().detail, kExitUsage);
    }
    Progress progress("MiB", 0, quiet);
    storage::BackupOptions options;
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
        progress.set_share_total(total);
        progress.update(done >> 20, done);
    };
    const auto done = storage::back_up(
        files, data, to, [&] { return storage::find_log_end(files, data); }, options);
    progress.finish();
    if (!done) {
        return fail(done.error().detail, exit_code_of(done.error()));
    }
    std::printf(
        "backed up to position %llu: %llu segments, of which %llu were already there, %llu linked, "
        "%llu copied (%llu bytes)\n",
        static_cast<unsigned long long>(done->position.value),
        static_cast<unsigned long long>(done->segments),
        static_cast<unsigned long long>(done->kept), static_cast<unsigned long long>(done->linked),
        static_cast<unsigned long long>(done->copied),
        static_cast<unsigned long long>(done->bytes_copied));
    return kExitDone;
}

}  // namespace annals::tools
