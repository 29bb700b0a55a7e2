// annals import: reads ndjson and Bundles into a server or directly into a data directory.

#include "core/config/config.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/commands/credentials.h"
#include "tools/commands/destination.h"
#include "tools/commands/import_packer.h"
#include "tools/commands/line_files.h"
#include "tools/commands/progress.h"
#include "tools/commands/signals.h"
#include "tools/commands/store_access.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>

namespace annals::tools {

namespace {

// Signal handlers may write lock-free atomics.
std::atomic<bool> g_stops_reading{false};
int g_nothing = -1;  ///< an open file with nothing in it

/// The first signal ends the reading, the second one the process.
void stop_reading_at_signals() {
    g_nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    handle_unless_ignored({SIGINT, SIGTERM}, [](int signal) {
        const int before = errno;
        if (g_stops_reading.exchange(true)) {
            ::_exit(128 + signal);
        }
        // A read of stdin about to begin finds its end.
        ::dup2(g_nothing, STDIN_FILENO);
        errno = before;
    });
}

struct ImportOptions {
    core::ConfigSources sources;
    std::string data;
    std::string server;
    std::optional<ServerUrl> to;  ///< the parsed `server`, if given
    Credentials credentials;
    std::vector<std::string> paths;
    std::uint64_t connections = 4;
    bool compresses = false;
    bool quiet = false;
};

namespace fs = std::filesystem;

/// A file's name without gzip's extension.
fs::path unpacked_name(const fs::path& path) {
    return path.extension() == ".gz" ? path.stem() : path.filename();
}

/// Whether a file in a folder is read: a compressed one only if the uncompressed one isn't beside it.
bool is_meant(const fs::path& path) {
    const fs::path name = unpacked_name(path);
    if (name.extension() != ".ndjson" && name.extension() != ".json") {
        return false;
    }
    std::error_code ec;
    const bool twice = name != path.filename() && fs::exists(path.parent_path() / name, ec);
    if (twice) {
        say_line(path.string() + ": skipped, as the uncompressed file is here as well");
    }
    return !twice;
}

/// All files to read, in the order of their names; folders are searched for .ndjson and .json, compressed or not.
Result<std::vector<std::string>> list_files(const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        std::error_code ec;
        if (path != "-" && !fs::exists(path, ec)) {
            return Error{Errc::usage,
                         fmt::format("{}: {}", path, ec ? ec.message() : "no such file or folder")};
        }
        if (path == "-" || !fs::is_directory(path, ec)) {
            files.push_back(path);
            continue;
        }
        std::vector<std::string> found;
        fs::path folder = path;  // the one that is read next
        for (auto at = fs::recursive_directory_iterator(path, ec);
             !ec && at != fs::recursive_directory_iterator(); at.increment(ec)) {
            std::error_code leads_nowhere;  // a dangling link
            if (at->is_regular_file(leads_nowhere) && is_meant(at->path())) {
                found.push_back(at->path().string());
            }
            folder = at->is_directory(leads_nowhere) ? at->path() : at->path().parent_path();
        }
        if (ec) {
            return Error{Errc::usage, fmt::format("{}: {}", folder.string(), ec.message())};
        }
        if (found.empty()) {
            say_line(path + ": contains no .ndjson or .json file, compressed or not");
        }
        std::sort(found.begin(), found.end());
        files.insert(files.end(), found.begin(), found.end());
    }
    return files;
}

/// 0 if the size of any of them is unknown.
std::uint64_t total_bytes(const std::vector<std::string>& files) {
    std::uint64_t total = 0;
    for (const std::string& file : files) {
        std::error_code ec;
        const std::uint64_t bytes = file == "-" ? 0 : fs::file_size(file, ec);
        if (bytes == 0 || ec) {
            return 0;
        }
        total += bytes;
    }
    return total;
}

/// Reads all files into the lanes. Errors: usage (a file can't be opened), io.
Result<void> read_files(const ImportOptions& options, ImportPacker& packer, ImportReport& report) {
    Progress progress("stored", total_bytes(report.files), options.quiet);
    std::uint64_t bytes_before = 0;
    std::string text;
    bool stopped = false;
    for (std::uint32_t number = 0; number < report.files.size(); ++number) {
        const std::string& path = report.files[number];
        const fs::path name = unpacked_name(path);
        const bool bundles_are_resources = name == "Bundle.ndjson";
        ANNALS_TRY(TextReader reader, TextReader::open(path, name.extension() == ".ndjson"));
        if (number == 0) {
            // Until then a signal ends the process: there is nothing to report.
            stop_reading_at_signals();
        }
        while (!report.gave_up()) {
            const Result<bool> more = reader.next(text);
            if (more && *more) {
                packer.take(text, Origin{number, reader.line(), -1}, bundles_are_resources);
                progress.update(report.done_count(), bytes_before + reader.bytes_read());
            }
            stopped = g_stops_reading;  // even if the read was interrupted
            if (stopped || (more && !*more)) {
                break;
            }
            if (!more) {
                return more.error();
            }
        }
        bytes_before += reader.bytes_read();
        if (report.gave_up() || stopped) {
            report.read_through(Origin{number, reader.line(), -1});
            break;
        }
    }
    packer.finish();
    progress.update(report.done_count(), bytes_before);
    return {};
}

Result<void> run(const ImportOptions& options, ImportReport& report) {
    std::unique_ptr<DirectStore> direct;
    std::vector<std::unique_ptr<ImportLane>> lanes;
    if (options.to) {
        Patience patience;
        patience.say = say_line;
        patience.last = [] { return g_stops_reading.load(); };
        for (std::uint64_t i = 0; i < options.connections; ++i) {
            lanes.push_back(
                std::make_unique<ImportLane>(connect_to_server(*options.to, patience), report));
        }
    } else {
        ANNALS_TRY(const core::Config config, offline_config(options.sources, options.data));
        ANNALS_TRY(direct, DirectStore::open(config));
        for (std::uint64_t i = 0; i < options.connections; ++i) {
            lanes.push_back(std::make_unique<ImportLane>(direct->connect(), report));
        }
    }
    ImportPacker packer(lanes, report);
    auto done = read_files(options, packer, report);
    if (!done) {
        packer.finish();  // what was read so far is still stored
    }
    lanes.clear();
    if (direct != nullptr) {
        if (auto closed = direct->close(); done && !closed) {
            done = std::move(closed);
        }
    }
    return done;
}

}  // namespace

int import_files(const ArgumentList& arguments) {
    ImportOptions options;
    Arguments reader("import",
                     "Loads NDJSON (resources or history entries) and Bundles of any type.");
    reader.text("--data", options.data, "data directory to import into; created if missing");
    reader.text("--server", options.server, "instead of --data: root of a running server");
    declare_credentials(reader, "", options.credentials);
    reader.flag("--compress", options.compresses,
                "with --server: send and receive compressed, for a slow line");
    reader.number("--connections", options.connections, "number of concurrent submissions");
    reader.text("--config", options.sources.file, "with --data: TOML file with settings");
    reader.texts("--set", options.sources.sets, "with --data: KEY=VALUE, a setting");
    reader.flag("-q,--quiet", options.quiet, "show no progress");
    reader.positionals("PATH", options.paths, "files and folders; - or nothing: stdin");
    if (const auto exit_code = reader.parse(arguments)) {
        return *exit_code;
    }
    auto server =
        asked_server(options.data, options.server, options.credentials, options.compresses);
    if (!server) {
        return reader.refuse(server.error().detail);
    }
    options.to = *std::move(server);
    if (options.to && (!options.sources.file.empty() || !options.sources.sets.empty())) {
        return reader.refuse("--config and --set need --data: a server has its own settings");
    }
    if (options.connections == 0 || options.connections > 256) {
        return reader.refuse("--connections must be a number from 1 to 256");
    }
    if (options.paths.empty()) {
        options.paths.emplace_back("-");
    }
    ImportReport report;
    auto files = list_files(options.paths);
    if (!files) {
        return fail(files.error().detail, kExitUsage);
    }
    report.files = std::move(*files);
    const auto done = run(options, report);
    const bool ran = report.done_count() + report.ignored_count() + report.missing_count() +
                         report.refused_count() >
                     0;
    if (!done) {
        const int exit_code = fail(done.error().detail, exit_code_of(done.error()));
        if (!ran) {
            return exit_code;
        }
    }
    std::printf("imported %llu: %llu there already, %llu refused\n",
                static_cast<unsigned long long>(report.done_count()),
                static_cast<unsigned long long>(report.ignored_count()),
                static_cast<unsigned long long>(report.refused_count()));
    tell_of_missing(report.missing_count());
    if (report.gave_up() && report.refused_count() > 0) {
        // Printed before the lines that were left out because of it.
        return fail(report.why(), kExitFaults);
    }
    return !done || report.refused_count() > 0 || report.gave_up() || report.cut_short()
               ? kExitFaults
               : kExitDone;
}

}  // namespace annals::tools
