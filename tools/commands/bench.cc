#include "tools/commands/bench.h"

#include "core/base/parts.h"
#include "tools/bench/bench.h"
#include "tools/commands/arguments.h"
#include "tools/commands/credentials.h"
#include "tools/commands/progress.h"

#include <fmt/format.h>

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

namespace annals::tools {
namespace {

// The cores that this process may use.
std::vector<int> allowed_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> cores;
    if (::sched_getaffinity(0, sizeof set, &set) == 0) {
        for (int core = 0; core < CPU_SETSIZE; ++core) {
            if (CPU_ISSET(static_cast<unsigned>(core), &set)) {
                cores.push_back(core);
            }
        }
    }
    return cores;
}

// "auto": `automatic`; "any": -1; else the number of a core of this machine. Nothing for anything else.
std::optional<int> read_core(const std::string& text, int automatic) {
    if (text == "auto") {
        return automatic;
    }
    if (text == "any") {
        return -1;
    }
    if (text.empty() || text.size() > 3 ||
        text.find_first_not_of("0123456789") != std::string::npos) {
        return std::nullopt;
    }
    const int core = std::stoi(text);
    return core < ::sysconf(_SC_NPROCESSORS_CONF) ? std::optional(core) : std::nullopt;
}

/// Means stdout instead of a file.
constexpr std::string_view kStdout = "-";

/// If it returns false, errno says why.
bool write_file(const std::string& path, const std::string& text) {
    if (path == kStdout) {
        return std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    }
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) {
        return false;
    }
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return std::fclose(file) == 0 && written;
}

bool can_be_written(const std::string& path) {
    if (path == kStdout) {
        return true;
    }
    std::error_code ignored;
    const bool there = std::filesystem::exists(path, ignored);
    std::FILE* const file = std::fopen(path.c_str(), "ab");
    const bool written = file != nullptr && std::fclose(file) == 0;
    if (written && !there) {
        std::filesystem::remove(path, ignored);
    }
    return written;
}

// Each workload with each number of connections; limits and workloads with their own number once.
std::optional<std::vector<std::string>> climb(const std::vector<std::string>& names,
                                              const std::string& ladder) {
    std::vector<std::string> all;
    for (const std::string& name : names) {
        if (name == "limits" || name.find(':') != std::string::npos) {
            all.push_back(name);
            continue;
        }
        std::string_view rest = ladder;
        while (!rest.empty()) {
            const std::string_view step = take_until(rest, ',');
            if (step.empty() || step.find_first_not_of("0123456789") != std::string_view::npos) {
                return std::nullopt;
            }
            all.push_back(fmt::format("{}:{}", name, step));
        }
    }
    return all;
}

// A second for each workload: to see whether it works, not how fast.
void make_smoke(bench::Settings& settings) {
    settings.seconds = 0.5;
    settings.warm_up = 0.1;
    settings.preload = 300;
    settings.connections = 8;
    settings.bundle_connections = 2;
    settings.bundle_entries = 100;
    settings.disk_bytes = 16 << 20;
}

// What was asked for on the command line.
struct Asked {
    bench::Settings settings;
    std::string server_cpu = "auto";
    std::string client_cpu = "auto";
    std::string json;
    std::string html;
    std::string ladder;
    Credentials credentials;
    bool smoke = false;
    bool quiet = false;
};

void declare(Arguments& declared, Asked& asked) {
    bench::Settings& settings = asked.settings;
    std::string names = "limits";
    for (const bench::Workload& workload : bench::workloads()) {
        names.append(", ").append(workload.name);
    }
    declared.positionals("WORKLOAD", settings.workloads,
                         names +
                             "; read:16 has its own number of connections, history-apply/100 its "
                             "own number of entries (limits, read, search, search-count, create, "
                             "crud, import, history-apply)");
    declared.text(
        "--server", settings.server,
        "root of a running server, such as http://127.0.0.1:8080/fhir, which keeps what is "
        "written, "
        "also by read and the searches to have something there (starts its own, fresh for each "
        "workload)");
    declared.number("--connections", settings.connections,
                    "of all but import, history-apply and history-read (64)");
    declared.number("--bundle-connections", settings.bundle_connections,
                    "of import, history-apply and history-read (4)");
    declared.text("--ladder", asked.ladder,
                  "1,8,64,256,1000: each workload with each of these numbers of connections");
    declared.number("--rate", settings.rate,
                    "open loop: so many requests a second whenever the answers come; latency "
                    "counts from when each was due (as fast as the answers come)");
    declare_credentials(declared, "", asked.credentials);
    declared.number("--bundle-entries", settings.bundle_entries,
                    "entries of a history bundle (1000)");
    declared.texts("--files", settings.files,
                   "file or folder of bundles for import and the searches (generated)");
    declared.number("--preload", settings.preload,
                    "resources in the store before it is read, searched or opened (10000)");
    declared.number("--seconds", settings.seconds, "how long each workload is measured (5)");
    declared.number("--warm-up", settings.warm_up, "seconds before that (1)");
    declared.number("--seed", settings.seed, "of what is generated (1)");
    declared.text("--server-cpu", asked.server_cpu,
                  "core of our own server; any: all of them (the first)");
    declared.text("--client-cpu", asked.client_cpu,
                  "core of the client; any: all of them (the second)");
    declared.number("--client-threads", settings.client_threads, "threads of the client (1)");
    declared.number("--server-threads", settings.server_threads,
                    "threads of our own server (1 on a core of its own, else as many as cores)");
    declared.texts("--set", settings.sets,
                   "KEY=VALUE, a setting of our own server; may be repeated");
    declared.text("--directory", settings.directory,
                  "where our own server keeps its data while it is measured (.)");
    declared.text("--json", asked.json, "file for all figures; -: stdout, instead of the table");
    declared.text("--html", asked.html, "file for a page with plots; - as well");
    declared.flag("--smoke", asked.smoke,
                  "half a second each with few connections: does it work at all?");
    declared.flag("-q,--quiet", asked.quiet, "no progress");
    declared.footer(
        "annals bench limits read create\nannals bench limits read create --ladder 1,8,64,256,1000 "
        "--html report.html\nannals bench read --server https://fhir.example.org/fhir "
        "--token-file token --rate 500");
}

// Turns the command line's options into settings. Errors: usage.
Result<void> settle(Asked& asked) {
    bench::Settings& settings = asked.settings;
    if (settings.workloads.empty()) {
        settings.workloads = {"limits", "read", "search", "search-count",
                              "create", "crud", "import", "history-apply"};
    }
    if (!asked.ladder.empty()) {
        const std::optional<std::vector<std::string>> steps =
            climb(settings.workloads, asked.ladder);
        if (!steps) {
            return Error{Errc::usage, "--ladder takes numbers of connections with commas between",
                         ""};
        }
        settings.workloads = *steps;
    }
    if (!settings.server.empty() && (!settings.sets.empty() || settings.server_threads != 0)) {
        return Error{Errc::usage,
                     "--set and --server-threads go without --server, which has its own", ""};
    }
    if (settings.server.empty()) {
        ANNALS_TRY_VOID(settle_credentials(asked.credentials));
    } else {
        ANNALS_TRY(ServerUrl server, server_with(settings.server, asked.credentials));
        asked.credentials = std::move(server.credentials);
    }
    ANNALS_TRY(settings.headers, header_lines(asked.credentials));
    ANNALS_TRY(settings.identity, read_identity(asked.credentials));
    const std::vector<int> cores = allowed_cores();
    const bool split = cores.size() > 1 && settings.client_threads == 1;
    if (asked.json == kStdout && asked.html == kStdout) {
        return Error{Errc::usage, "only one of --json and --html can go to stdout", ""};
    }
    const std::optional<int> on_server = read_core(asked.server_cpu, split ? cores[0] : -1);
    const std::optional<int> on_client = read_core(asked.client_cpu, split ? cores[1] : -1);
    if (!on_server || !on_client) {
        return Error{
            Errc::usage,
            "--server-cpu and --client-cpu take the number of a core that is there, any or auto",
            ""};
    }
    settings.server_cpu = *on_server;
    settings.client_cpu = *on_client;
    if (asked.smoke) {
        make_smoke(settings);
    }
    // NaN fails every comparison.
    constexpr double kMost = 1e6;
    if (!(settings.seconds > 0 && settings.seconds <= kMost) ||
        !(settings.rate == 0 || (settings.rate >= 1 / kMost && settings.rate <= kMost)) ||
        !(settings.warm_up >= 0 && settings.warm_up <= kMost) || settings.connections == 0 ||
        settings.bundle_connections == 0 || settings.bundle_entries == 0 || settings.preload == 0 ||
        settings.client_threads == 0) {
        return Error{
            Errc::usage,
            "times and numbers must be greater than nothing, times and rates a million at most",
            ""};
    }
    return {};
}

// Checks outputs before measuring: afterwards would be too late to find out. Errors: usage.
Result<void> check_places(const Asked& asked) {
    std::error_code error;
    std::filesystem::create_directories(asked.settings.directory, error);
    if (error) {
        return Error{Errc::usage, fmt::format("{}: {}", asked.settings.directory, error.message()),
                     ""};
    }
    for (const std::string* const file : {&asked.json, &asked.html}) {
        if (!file->empty() && !can_be_written(*file)) {
            return Error{Errc::usage, fmt::format("{}: {}", *file, std::strerror(errno)), ""};
        }
    }
    return {};
}

int measure(const Arguments& declared, const Asked& asked) {
    const bool talk = !asked.quiet && ::isatty(STDERR_FILENO) == 1;
    bench::Report report;
    const Result<void> ran = bench::run_all(asked.settings, talk, report);
    clear_passing();
    const bool measured = report.limits.has_value() || !report.measurements.empty();
    if (!ran && !measured) {
        return ran.error().code == Errc::usage ? declared.refuse(ran.error().detail)
                                               : fail(ran.error().detail, kExitFaults);
    }
    if (asked.json != kStdout && asked.html != kStdout) {
        std::fputs(bench::table_of(report).c_str(), stdout);
    }
    if (!asked.json.empty() && !write_file(asked.json, bench::json_of(report))) {
        return fail(fmt::format("{}: {}", asked.json, std::strerror(errno)), kExitFaults);
    }
    if (!asked.html.empty() && !write_file(asked.html, bench::html_of(report))) {
        return fail(fmt::format("{}: {}", asked.html, std::strerror(errno)), kExitFaults);
    }
    if (!ran) {
        std::fflush(stdout);
        return fail("ended early: " + ran.error().detail, kExitFaults);
    }
    return report.errors() == 0 ? kExitDone : kExitFaults;
}

}  // namespace

int run_bench(const ArgumentList& arguments) {
    Asked asked;
    Arguments declared("bench", "Measures a server, and beside it what the machine could do.");
    declare(declared, asked);
    if (const std::optional<int> code = declared.parse(arguments)) {
        return *code;
    }
    if (const Result<void> settled = settle(asked); !settled) {
        return declared.refuse(settled.error().detail);
    }
    if (const Result<void> writable = check_places(asked); !writable) {
        return fail(writable.error().detail, kExitUsage);
    }
    return measure(declared, asked);
}

}  // namespace annals::tools
