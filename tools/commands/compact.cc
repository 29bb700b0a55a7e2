// annals compact: history cleanup and compaction of a store that no server uses.

#include "core/config/history_limits.h"
#include "storage/file_system.h"
#include "storage/format.h"
#include "storage/history_cleanup.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/commands/progress.h"
#include "tools/commands/store_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <future>

namespace annals::tools {

namespace {

struct Wanted {
    core::ConfigSources sources;
    std::string data;
    std::uint64_t max_history_versions = 0;
    std::vector<std::string> types;
    bool dry_run = false;
    bool quiet = false;
};

bool no_pause(std::chrono::milliseconds) {
    return false;
}

Result<std::string> foresee(const Wanted& wanted, const storage::HistoryLimits& limits) {
    ANNALS_TRY(const ReadOnlyStore opened, open_read_only(wanted.data));
    ANNALS_TRY(const storage::CleanupReport surplus,
               storage::clean_history(*opened.store, limits, true, no_pause));
    const storage::CompactionProgress dead = opened.store->measure_compaction();
    return fmt::format(
        "history: {} versions of {} resources would be removed\ncompaction: {} bytes in {} "
        "segments would be freed\n",
        surplus.versions, surplus.resources, dead.dead_bytes, dead.segments_left);
}

/// At most this much is rewritten: all but the newest segment, whose file has room for what comes.
std::uint64_t sealed_bytes(const storage::Store& store, const std::string& data) {
    std::uint64_t bytes = store.metrics().log_bytes;
    if (const auto end = store.log_end(); end && end->segment != 0) {
        const auto newest = storage::posix_file_system().open(
            fmt::format("{}/segments/{}", data, storage::segment_name(end->segment)),
            storage::FileSystem::Mode::read);
        const Result<std::uint64_t> size = newest ? (*newest)->size() : newest.error();
        bytes -= size ? std::min(bytes, *size) : 0;
    }
    return bytes;
}

Result<std::string> run(const Wanted& wanted, const core::Config& config,
                        const storage::HistoryLimits& limits) {
    if (!storage::posix_file_system().exists(wanted.data + "/segments")) {
        return Error{Errc::usage, wanted.data + ": there is no store here"};
    }
    ANNALS_TRY_VOID(check_permissions(wanted.data, true));
    storage::StoreOptions options = store_options(config);
    options.read_only = options.allow_damaged = false;  // these are for serving it
    ANNALS_TRY(const auto store,
               storage::Store::open(storage::posix_file_system(), wanted.data, options));
    ANNALS_TRY(const storage::CleanupReport cleaned,
               storage::clean_history(*store, limits, false, no_pause));
    // At once: these versions are gone, whatever becomes of the compaction.
    std::fputs(fmt::format("history: {} versions of {} resources removed\n", cleaned.versions,
                           cleaned.resources)
                   .c_str(),
               stdout);
    std::fflush(stdout);
    store->compact(true);
    auto done = std::async(std::launch::async, [&] { return store->wait_compacted(); });
    // In MiB, so that the rate is readable.
    Progress progress("MiB", sealed_bytes(*store, wanted.data), wanted.quiet);
    const auto show = [&] {
        const storage::CompactionProgress now = store->compaction();
        const std::uint64_t bytes = now.bytes_read + now.pack_bytes_read;
        progress.update(bytes >> 20, bytes);
    };
    while (done.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
        show();
    }
    ANNALS_TRY_VOID(done.get());
    show();
    progress.finish_whole();
    const storage::CompactionProgress compacted = store->compaction();
    return fmt::format(
        "compaction: {} bytes in {} segments freed\n"
        "compression: {} bytes in {} segments became {}\n",
        compacted.bytes_freed, compacted.segments_done, compacted.pack_bytes_read,
        compacted.segments_packed, compacted.pack_bytes_written);
}

}  // namespace

int compact_store(const ArgumentList& arguments) {
    Wanted wanted;
    Arguments reader("compact",
                     "Frees the space of erased data, and removes old versions on request.");
    reader.required_text("--data", wanted.data,
                         "data directory (must not be in use by another process)");
    reader.number("--max-history-versions", wanted.max_history_versions,
                  "number of most recent versions to keep of each resource; 0: all");
    reader.texts("--keep", wanted.types, "the same for one type: Patient=5");
    reader.text("--config", wanted.sources.file, "TOML file with the server's settings");
    reader.texts("--set", wanted.sources.sets, "KEY=VALUE, a setting");
    reader.flag("--dry-run", wanted.dry_run, "only report what would be removed");
    reader.flag("-q,--quiet", wanted.quiet, "show no progress");
    if (const auto exit_code = reader.parse(arguments)) {
        return *exit_code;
    }
    core::Config kept;
    kept.max_history_versions = wanted.max_history_versions;
    kept.history_cleanup_types = wanted.types;
    const auto limits = core::history_limits(kept);
    if (!limits) {
        return reader.refuse("--keep: " + limits.error().detail);
    }
    const auto config = offline_config(wanted.sources, wanted.data);
    if (!config) {
        return fail(config.error().detail, kExitUsage);
    }
    const auto text = wanted.dry_run ? foresee(wanted, *limits) : run(wanted, *config, *limits);
    if (!text) {
        return fail(text.error().detail, exit_code_of(text.error()));
    }
    std::fputs(text->c_str(), stdout);
    return kExitDone;
}

}  // namespace annals::tools
