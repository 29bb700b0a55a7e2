// annals export: a store's resources or its whole history, as ndjson.

#include "storage/store.h"
#include "tools/commands/arguments.h"
#include "tools/commands/bundle_answers.h"
#include "tools/commands/commands.h"
#include "tools/commands/credentials.h"
#include "tools/commands/history_line.h"
#include "tools/commands/history_reader.h"
#include "tools/commands/line_files.h"
#include "tools/commands/progress.h"
#include "tools/commands/store_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

namespace annals::tools {

namespace {

constexpr std::size_t kVersionsPerStep = 1000;
const std::string kBaseUrl = "http://localhost/fhir";
constexpr Instant kEndOfTime{std::numeric_limits<std::int64_t>::max()};

struct ExportOptions {
    std::string data;
    std::string server;
    std::optional<ServerUrl> from;  ///< the parsed `server`, if given
    std::string to;
    std::string base_url = kBaseUrl;
    Credentials credentials;
    bool history = false;
    bool compresses = false;
    bool quiet = false;
};

/// A server's root that needs no escaping in JSON.
bool is_root(const std::string& url) {
    return parse_server_url(url) && std::all_of(url.begin(), url.end(), [](char c) {
               return c > ' ' && c < 0x7f && c != '"' && c != '\\';
           });
}

struct Exported {
    std::uint64_t count = 0;
    std::uint64_t damaged = 0;  ///< of these, the ones that the server could not read
};

Result<void> write_history(const storage::Store& store, const ExportOptions& options,
                           Progress& progress, std::uint64_t& count) {
    ANNALS_TRY(LineWriter writer, LineWriter::create(options.to + "/history.ndjson"));
    storage::HistoryQuery query;
    query.order = storage::HistoryOrder::oldest_first;
    query.bound = store.last_position();
    query.count = kVersionsPerStep;
    std::string line;
    while (true) {
        const storage::HistoryPage page = store.history(query);
        for (const storage::VersionInfo& info : page.versions) {
            ANNALS_TRY(const storage::StoredVersion version, store.load(info));
            line.clear();
            append_history_line(line, version, options.base_url);
            ANNALS_TRY_VOID(writer.line(line));
        }
        count += page.versions.size();
        progress.update(count, count);
        if (!page.more || page.versions.empty()) {
            break;
        }
        query.after = page.versions.back();
    }
    ANNALS_TRY_VOID(writer.finish());
    return writer.publish();
}

Result<void> write_live(const storage::Store& store, const ExportOptions& options,
                        Progress& progress, std::uint64_t& count) {
    std::map<TypeId, LineWriter> writers;
    std::uint32_t from = 0;
    while (from < store.resource_count()) {
        const auto versions = store.current_at(std::nullopt, kEndOfTime, store.last_position(),
                                               from, kVersionsPerStep);
        for (const storage::VersionInfo& info : versions) {
            auto writer = writers.find(info.type);
            if (writer == writers.end()) {
                const std::string path =
                    fmt::format("{}/{}.ndjson", options.to, resource_type_name(info.type));
                ANNALS_TRY(LineWriter made, LineWriter::create(path));
                writer = writers.emplace(info.type, std::move(made)).first;
            }
            ANNALS_TRY(const storage::StoredVersion version, store.load(info));
            ANNALS_TRY_VOID(writer->second.line(version.body));
        }
        count += versions.size();
        progress.update(count, from);
    }
    for (auto& [type, writer] : writers) {
        ANNALS_TRY_VOID(writer.finish());
    }
    for (auto writer = writers.begin(); writer != writers.end(); ++writer) {
        if (Result<void> published = writer->second.publish(); !published) {
            // All or none: the next run writes them all again.
            std::for_each(writers.begin(), writer, [](auto& other) { other.second.withdraw(); });
            return published;
        }
    }
    return {};
}

/// The server's own entries, oldest first. A version that is damaged there has an entry with status 500 and no resource.
Result<void> write_from_server(const ExportOptions& options, Progress& progress,
                               Exported& exported) {
    Patience patience;
    patience.say = say_line;
    HistoryReader reader(*options.from, patience);
    ANNALS_TRY(std::string target, reader.first_target({}, kVersionsPerStep));
    ANNALS_TRY_VOID(make_output_directory(options.to));
    ANNALS_TRY(LineWriter writer, LineWriter::create(options.to + "/history.ndjson"));
    while (!target.empty()) {
        ANNALS_TRY(const HistoryPage page, reader.read(target));
        for (const json::Value entry : page.document.root()["entry"].elements()) {
            if (is_remark(entry)) {
                continue;
            }
            ANNALS_TRY_VOID(writer.line(entry.raw()));
            ++exported.count;
            const json::Value response = entry["response"];
            if (!entry["resource"] && response["status"].string().starts_with('5')) {
                ++exported.damaged;
                say_line(fmt::format("history.ndjson:{}: {}", exported.count,
                                     outcome_text(response["outcome"])));
            }
        }
        progress.set_share_total(page.total.value_or(0));
        progress.update(exported.count, exported.count);
        target = page.next;
    }
    ANNALS_TRY_VOID(writer.finish());
    return writer.publish();
}

Result<void> run(const ExportOptions& options, Exported& exported) {
    if (options.from) {
        Progress progress("versions", 0, options.quiet);
        return write_from_server(options, progress, exported);
    }
    ANNALS_TRY(const ReadOnlyStore opened, open_read_only(options.data));
    ANNALS_TRY_VOID(make_output_directory(options.to));
    const storage::Store& store = *opened.store;
    if (options.history) {
        Progress progress("versions", store.totals().versions, options.quiet);
        return write_history(store, options, progress, exported.count);
    }
    Progress progress("resources", store.resource_count(), options.quiet);
    return write_live(store, options, progress, exported.count);
}

}  // namespace

int export_store(const ArgumentList& arguments) {
    ExportOptions options;
    Arguments reader("export", "Writes a store's resources, or all of its history, as NDJSON.");
    reader.text("--data", options.data, "data directory (must not be in use by another process)");
    reader.text("--server", options.server,
                "instead of --data: root of a running server, whose history is exported");
    declare_credentials(reader, "", options.credentials);
    reader.required_text("--to", options.to, "directory for the files; created if missing");
    reader.flag("--history", options.history,
                "write history.ndjson: all versions and deletions in commit order");
    reader.flag("--compress", options.compresses,
                "with --server: receive compressed, for a slow line");
    reader.text("--base-url", options.base_url, "base of each fullUrl in history.ndjson");
    reader.flag("-q,--quiet", options.quiet, "show no progress");
    if (const auto exit_code = reader.parse(arguments)) {
        return *exit_code;
    }
    auto server =
        asked_server(options.data, options.server, options.credentials, options.compresses);
    if (!server) {
        return reader.refuse(server.error().detail);
    }
    options.from = *std::move(server);
    if (options.from && options.base_url != kBaseUrl) {
        return reader.refuse("--base-url needs --data: a server states its own base URL");
    }
    if (options.from && !options.history) {
        return reader.refuse("--server exports history only: add --history");
    }
    if (!options.from && !is_root(options.base_url)) {
        return reader.refuse("--base-url must be a server's root, such as http://HOST/fhir");
    }
    while (options.base_url.ends_with('/')) {
        options.base_url.pop_back();
    }
    Exported exported;
    if (auto done = run(options, exported); !done) {
        // A server that refuses or fails midway had been reached: the start did not fail.
        const bool ran = options.from && done.error().code != Errc::usage;
        return fail(done.error().detail, ran ? kExitFaults : exit_code_of(done.error()));
    }
    std::fprintf(stdout, "exported %llu %s to %s\n",
                 static_cast<unsigned long long>(exported.count),
                 options.history ? "versions" : "resources", options.to.c_str());
    if (exported.damaged > 0) {
        return fail(
            fmt::format("{} of these are damaged at the server: their lines have no resource",
                        exported.damaged),
            kExitFaults);
    }
    return kExitDone;
}

}  // namespace annals::tools
