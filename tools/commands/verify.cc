// annals verify: checks whether a store still is what was written.

#include "storage/verify.h"

#include "storage/file_system.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/commands/progress.h"
#include "tools/commands/store_access.h"

#include <fmt/format.h>

#include <cstdio>

namespace annals::tools {

namespace {

Result<storage::VerifyReport> run(const std::string& data, bool quiet) {
    ANNALS_TRY(const auto lock, lock_for_reading(data));
    ANNALS_TRY_VOID(check_readable(data + "/search"));
    // In MiB, so that the rate is readable.
    std::unique_ptr<Progress> progress;
    const auto show = [&](std::uint64_t done, std::uint64_t total) {
        if (progress == nullptr) {
            progress = std::make_unique<Progress>("MiB", total, quiet);
        }
        progress->update(done >> 20, done);
    };
    return storage::verify(storage::posix_file_system(), data, show);
}

std::string describe(const storage::VerifyReport& report) {
    std::string text = fmt::format(
        "segments {}, bytes {}\ncommits {}, versions {} ({} deletions), erases {}\n"
        "visible versions {} of {} resources, {} live\n",
        report.segments, report.bytes, report.commits, report.versions, report.deletions,
        report.erases, report.visible_versions, report.resources, report.live);
    if (report.bodies_gone + report.bodies_left > 0) {
        text += fmt::format("erased versions: {} with their body removed, {} still to be removed\n",
                            report.bodies_gone, report.bodies_left);
    }
    if (report.torn_bytes > 0) {
        text += fmt::format(
            "torn tail of {} bytes, never acknowledged: it is cut when the store is opened\n",
            report.torn_bytes);
    }
    if (report.torn_journal) {
        text +=
            "erasure journal: one file is not whole, as after a crash while it was written; "
            "opening the store finishes its erasures\n";
    }
    if (report.search_runs > 0) {
        text += fmt::format("search checkpoint: {} runs of {} documents\n", report.search_runs,
                            report.search_documents);
    }
    if (report.search_other_format) {
        text +=
            "search checkpoint: written by another version of the program; opening the store "
            "rebuilds it\n";
    }
    for (const storage::Damage& damage : report.damages) {
        text += fmt::format("damage in {} at offset {}: {}\n", damage.segment, damage.offset,
                            damage.reason);
    }
    if (report.unfinished_backup) {
        text += "this backup is unfinished: make it again\n";
    }
    if (!report.damages.empty()) {
        text += fmt::format("damaged in {} places\n", report.damages.size());
    } else if (!report.unfinished_backup) {
        text += "sound\n";
    }
    return text;
}

}  // namespace

int verify_store(const ArgumentList& arguments) {
    std::string data;
    bool quiet = false;
    Arguments reader("verify", "Reads a whole store and checks every checksum, chain and index.");
    reader.required_text("--data", data, "data directory (must not be in use by another process)");
    reader.flag("-q,--quiet", quiet, "show no progress");
    if (const auto exit_code = reader.parse(arguments)) {
        return *exit_code;
    }
    const auto report = run(data, quiet);
    if (!report) {
        return fail(report.error().detail, exit_code_of(report.error()));
    }
    std::fputs(describe(*report).c_str(), stdout);
    const bool sound = report->damages.empty() && !report->unfinished_backup;
    return sound ? kExitDone : kExitFaults;
}

}  // namespace annals::tools
