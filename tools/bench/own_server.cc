// Workloads with servers of our own, started for them: all of the others, and those about starting servers and their footprint.

#include "tools/bench/bench.h"
#include "tools/bench/process.h"
#include "tools/bench/working_folder.h"
#include "tools/commands/server_url.h"

#include <fmt/format.h>

#include <chrono>

namespace annals::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::vector<std::string> server_arguments(const Settings& settings, const std::string& folder) {
    std::vector<std::string> arguments{"serve", "--data", folder + "/data", "--listen",
                                       "127.0.0.1:0"};
    std::uint64_t threads = settings.server_threads;
    if (threads == 0 && settings.server_cpu >= 0) {
        threads = 1;
    }
    if (threads != 0) {
        arguments.insert(arguments.end(), {"--set", fmt::format("threads={}", threads)});
    }
    for (const std::string& set : settings.sets) {
        arguments.insert(arguments.end(), {"--set", set});
    }
    return arguments;
}

void add_memory(Measurement& measurement, const Process& server) {
    measurement.extras.emplace_back("server MB resident",
                                    static_cast<double>(server.resident_bytes()) / 1e6);
}

// How long a server takes to start, after a clean stop and after a kill.
Result<void> measure_recovery(const Settings& settings, const std::string& folder,
                              Measurement& measurement) {
    ANNALS_TRY(Process server, start_server(settings, folder, settings.server_cpu));
    ANNALS_TRY(const Site site, site_of(server.told(), settings));
    ANNALS_TRY(const std::uint64_t versions, fill(site, settings));
    ANNALS_TRY_VOID(stop_server(server));
    Clock::time_point begin = Clock::now();
    ANNALS_TRY(server, start_server(settings, folder, settings.server_cpu));
    const double after_stop = seconds_since(begin);
    server.kill();
    begin = Clock::now();
    ANNALS_TRY(server, start_server(settings, folder, settings.server_cpu));
    const double after_kill = seconds_since(begin);
    measurement.load.requests = 1;
    measurement.load.units = versions;
    measurement.load.seconds = after_kill;
    measurement.load.operations[0].record(static_cast<std::uint64_t>(after_kill * 1e9));
    measurement.extras.emplace_back("versions", static_cast<double>(versions));
    measurement.extras.emplace_back("seconds after a stop", after_stop);
    measurement.extras.emplace_back("seconds after a kill", after_kill);
    add_memory(measurement, server);
    return stop_server(server);
}

// Disk space and memory per version.
Result<void> measure_footprint(const Settings& settings, const std::string& folder,
                               Measurement& measurement) {
    ANNALS_TRY(Process server, start_server(settings, folder, settings.server_cpu));
    ANNALS_TRY(const Site site, site_of(server.told(), settings));
    add_memory(measurement, server);
    measurement.extras.back().first = "empty server MB resident";
    const Clock::time_point begin = Clock::now();
    ANNALS_TRY(const std::uint64_t versions, fill(site, settings));
    measurement.load.seconds = seconds_since(begin);
    measurement.load.units = versions;
    measurement.load.requests = 1;
    measurement.load.operations[0].record(
        static_cast<std::uint64_t>(measurement.load.seconds * 1e9));
    measurement.extras.emplace_back("versions", static_cast<double>(versions));
    constexpr std::pair<std::string_view, std::string_view> kMetrics[] = {
        {"annals_store_bytes_written_total", "log bytes per version"},
        {"annals_store_index_bytes", "index bytes per version"},
        {"annals_search_index_bytes", "search index bytes per version"},
    };
    for (const auto& [name, said] : kMetrics) {
        if (const std::optional<double> value = metric(site, name)) {
            measurement.extras.emplace_back(said, *value / static_cast<double>(versions));
        }
    }
    add_memory(measurement, server);
    return stop_server(server);
}

}  // namespace

Result<Process> start_server(const Settings& settings, const std::string& folder, int cpu) {
    return Process::run_self(server_arguments(settings, folder), folder + "/log",
                             "annals ready on ", cpu);
}

Result<void> stop_server(Process& server) {
    if (const int code = server.stop(); code != 0) {
        return Error{Errc::io, fmt::format("the server ended with code {}", code)};
    }
    return {};
}

Result<Site> site_of(std::string_view url, const Settings& settings) {
    ANNALS_TRY(const tools::ServerUrl server, tools::parse_server_url(url));
    return Site{server.host,      server.port, server.base_path, server.authority(),
                settings.headers, server.tls,  settings.identity};
}

Result<Measurement> measure_on_own_server(const Asked& asked, const Settings& settings) {
    ANNALS_TRY(const auto working, WorkingFolder::create(settings.directory));
    const std::string& folder = working->path();
    if (asked.workload->own_server) {
        Measurement measurement;
        measurement.asked = asked;
        if (asked.workload->name == "recover") {
            ANNALS_TRY_VOID(measure_recovery(settings, folder, measurement));
        } else if (asked.workload->name == "replicate") {
            ANNALS_TRY_VOID(measure_replication(settings, folder, measurement));
        } else {
            ANNALS_TRY_VOID(measure_footprint(settings, folder, measurement));
        }
        return measurement;
    }
    ANNALS_TRY(Process server, start_server(settings, folder, settings.server_cpu));
    ANNALS_TRY(const Site site, site_of(server.told(), settings));
    ANNALS_TRY(Measurement measurement, measure(asked, site, settings));
    add_memory(measurement, server);
    ANNALS_TRY_VOID(stop_server(server));
    return measurement;
}

}  // namespace annals::bench
