// annals bench: the load tool.

#include "tools/bench/bench.h"

#include "core/base/parts.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/commands/credentials.h"
#include "tools/commands/progress.h"
#include "tools/commands/store_access.h"

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

// A second for each workload: to see whether it works, not how fast. Options on the command line hold nevertheless.
void make_smoke(const Arguments& declared, bench::Settings& settings) {
    const auto set = [&](const char* option, auto& setting, auto value) {
        if (!declared.given(option)) {
            setting = value;
        }
    };
    set("--seconds", settings.seconds, 0.5);
    set("--warm-up", settings.warm_up, 0.1);
    set("--preload", settings.preload, 300U);
    set("--connections", settings.connections, 8U);
    set("--bundle-connections", settings.bundle_connections, 2U);
    set("--bundle-entries", settings.bundle_entries, 100U);
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
    declared.positionals(
        "WORKLOAD", settings.workloads,
        names +
            "; read:16 runs with 16 connections, history-apply/100 with 100 entries per bundle "
            "(default: limits, read, search, search-count, create, crud, import, history-apply)");
    declared.text("--server", settings.server,
                  "root of a running server, such as http://127.0.0.1:8080/fhir; whatever is "
                  "written stays there, including the data that read and the searches load first "
                  "(default: start a fresh server for each workload)");
    declared.number("--connections", settings.connections,
                    "connections of all workloads except import, history-apply and history-read");
    declared.number("--bundle-connections", settings.bundle_connections,
                    "connections of import, history-apply and history-read");
    declared.text(
        "--ladder", asked.ladder,
        "run each workload with each of these numbers of connections, such as 1,8,64,256,1000");
    declared.number(
        "--rate", settings.rate,
        "open loop: send this many requests per second, however fast the responses arrive; latency "
        "is measured from when each request was due (default: as fast as the responses arrive)");
    declare_credentials(declared, "", asked.credentials);
    declared.number("--bundle-entries", settings.bundle_entries, "entries per history bundle");
    declared.texts("--files", settings.files,
                   "file or folder of bundles for import and the searches (default: generated)");
    declared.number("--preload", settings.preload,
                    "resources stored before reads, searches or a restart are measured");
    declared.number("--seconds", settings.seconds, "seconds that each workload is measured");
    declared.number("--warm-up", settings.warm_up, "seconds of warm-up before that");
    declared.number("--seed", settings.seed, "seed of the generated data");
    declared.text(
        "--server-cpu", asked.server_cpu,
        "core of the server that bench starts, or any for all cores (default: the first)");
    declared.text("--client-cpu", asked.client_cpu,
                  "core of the client, or any for all cores (default: the second)");
    declared.number("--client-threads", settings.client_threads, "threads of the client");
    declared.number("--server-threads", settings.server_threads,
                    "threads of the server that bench starts (default: 1 on a core of its own, "
                    "else one per core)");
    declared.texts("--set", settings.sets,
                   "KEY=VALUE, a setting of the server that bench starts; may be repeated");
    declared.text("--directory", settings.directory,
                  "where the server that bench starts keeps its data during the measurement");
    declared.text("--json", asked.json,
                  "write all figures to this file as JSON; -: to stdout, instead of the table");
    declared.text("--html", asked.html,
                  "write a page with plots to this file; -: to stdout, instead of the table");
    declared.flag(
        "--smoke", asked.smoke,
        "half a second per workload with few connections, to see whether everything works");
    declared.flag("-q,--quiet", asked.quiet, "show no progress");
    declared.footer(
        "annals bench limits read create\nannals bench limits read create --ladder 1,8,64,256,1000 "
        "--html report.html\nannals bench read --server https://fhir.example.org/fhir "
        "--token-file token");
}

// Turns the command line's options into settings. Errors: usage.
Result<void> settle(const Arguments& declared, Asked& asked) {
    bench::Settings& settings = asked.settings;
    if (settings.workloads.empty()) {
        settings.workloads = {"limits", "read", "search", "search-count",
                              "create", "crud", "import", "history-apply"};
    }
    if (!asked.ladder.empty()) {
        const std::optional<std::vector<std::string>> steps =
            climb(settings.workloads, asked.ladder);
        if (!steps) {
            return Error{Errc::usage,
                         "--ladder must be numbers of connections separated by commas"};
        }
        settings.workloads = *steps;
    }
    if (!settings.server.empty() && (!settings.sets.empty() || settings.server_threads != 0)) {
        return Error{
            Errc::usage,
            "--set and --server-threads cannot be used with --server, which has its own settings"};
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
        return Error{Errc::usage, "only one of --json and --html can go to stdout"};
    }
    const std::optional<int> on_server = read_core(asked.server_cpu, split ? cores[0] : -1);
    const std::optional<int> on_client = read_core(asked.client_cpu, split ? cores[1] : -1);
    if (!on_server || !on_client) {
        return Error{
            Errc::usage,
            "--server-cpu and --client-cpu must be the number of an existing core, any or auto"};
    }
    settings.server_cpu = *on_server;
    settings.client_cpu = *on_client;
    if (asked.smoke) {
        make_smoke(declared, settings);
    }
    // NaN fails every comparison.
    constexpr double kMost = 1e6;
    if (!(settings.seconds > 0 && settings.seconds <= kMost) ||
        !(settings.rate == 0 || (settings.rate >= 1 / kMost && settings.rate <= kMost)) ||
        !(settings.warm_up >= 0 && settings.warm_up <= kMost) || settings.connections == 0 ||
        settings.bundle_connections == 0 || settings.bundle_entries == 0 || settings.preload == 0 ||
        settings.client_threads == 0) {
        return Error{Errc::usage,
                     "times and numbers must be greater than 0, times and rates at most a million"};
    }
    return {};
}

// Checks outputs before measuring: afterwards would be too late to find out. Errors: usage.
Result<void> check_places(const Asked& asked) {
    std::error_code error;
    std::filesystem::create_directories(asked.settings.directory, error);
    if (error) {
        return Error{Errc::usage, fmt::format("{}: {}", asked.settings.directory, error.message())};
    }
    ANNALS_TRY_VOID(check_writable(asked.settings.directory));
    for (const std::string* const file : {&asked.json, &asked.html}) {
        if (!file->empty() && !can_be_written(*file)) {
            return Error{Errc::usage, fmt::format("{}: {}", *file, std::strerror(errno))};
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
    Arguments declared("bench", "Measures a server and compares it with what the machine can do.");
    declare(declared, asked);
    if (const std::optional<int> code = declared.parse(arguments)) {
        return *code;
    }
    if (const Result<void> settled = settle(declared, asked); !settled) {
        return declared.refuse(settled.error().detail);
    }
    if (const Result<void> writable = check_places(asked); !writable) {
        return fail(writable.error().detail, kExitUsage);
    }
    return measure(declared, asked);
}

}  // namespace annals::tools
