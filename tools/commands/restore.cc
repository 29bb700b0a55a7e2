// annals restore: makes a new store from a backup.

#include "storage/restore.h"

#include "core/base/instant.h"
#include "core/base/text.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/commands/progress.h"
#include "tools/commands/store_access.h"

#include <fmt/format.h>

#include <cstdio>

namespace annals::tools {

namespace {

std::optional<Position> parse_position(const std::string& text) {
    const auto number = parse_number(text);
    return number && *number > 0 ? std::optional(Position{*number}) : std::nullopt;
}

}  // namespace

int restore_store(const ArgumentList& arguments) {
    std::string from;
    std::string data;
    std::string to_position;
    std::string to_instant;
    storage::RestoreOptions options;
    bool quiet = false;
    Arguments reader("restore",
                     "Creates a store from a backup, all of it or up to a position or instant.");
    reader.required_text("--from", from, "directory of the backup");
    reader.required_text("--data", data, "data directory to create; must not contain a store");
    reader.text("--to-position", to_position,
                "restore up to the last commit at or before this position");
    reader.text("--to-instant", to_instant,
                "restore up to the last commit at or before this instant");
    reader.flag("--unfinished", options.unfinished,
                "restore the intact part of a backup that is unfinished or incomplete");
    reader.flag("-q,--quiet", quiet, "show no progress");
    if (const auto exit_code = reader.parse(arguments)) {
        return *exit_code;
    }
    if (!to_position.empty()) {
        options.to_position = parse_position(to_position);
        if (!options.to_position) {
            return reader.refuse("--to-position must be a number of at least 1");
        }
    }
    if (!to_instant.empty()) {
        const auto instant = parse_instant(to_instant);
        if (!instant) {
            return reader.refuse("--to-instant must be an instant such as 2026-01-02T03:04:05Z");
        }
        options.to_instant = *instant;
    }
    for (const Result<void>& allowed : {check_permissions(from, false), check_writable(data)}) {
        if (!allowed) {
            return fail(allowed.error().detail, exit_code_of(allowed.error()));
        }
    }
    Progress progress("MiB", 0, quiet);
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
        progress.set_share_total(total);
        progress.update(done >> 20, done);
    };
    const auto done = storage::restore(storage::posix_file_system(), from, data, options);
    progress.finish();
    if (!done) {
        return fail(done.error().detail, exit_code_of(done.error()));
    }
    std::printf("restored up to position %llu, %s: %llu segments, %llu bytes\n",
                static_cast<unsigned long long>(done->position.value),
                format_instant(done->instant).c_str(),
                static_cast<unsigned long long>(done->segments),
                static_cast<unsigned long long>(done->bytes));
    if (!done->damages.empty()) {
        const storage::Damage& first = done->damages.front();
        return fail(
            fmt::format("{}: annals verify will find {} damages, the first at offset {} of {}: {}",
                        data, done->damages.size(), first.offset, first.segment, first.reason),
            kExitFaults);
    }
    return kExitDone;
}

}  // namespace annals::tools
