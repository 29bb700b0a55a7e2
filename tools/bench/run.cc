// All that was asked for: the limits, then each workload against a server of its own.

#include "core/base/random.h"
#include "tools/bench/bench.h"
#include "tools/bench/process.h"
#include "tools/commands/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>

namespace annals::bench {
namespace {

// A folder that goes away again.
class WorkingFolder {
  public:
    explicit WorkingFolder(std::string path) : path_(std::move(path)) {}

    ~WorkingFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    WorkingFolder(const WorkingFolder&) = delete;
    WorkingFolder& operator=(const WorkingFolder&) = delete;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

Result<Site> site_of(std::string_view url) {
    ANNALS_TRY(const tools::ServerUrl server, tools::parse_server_url(url));
    return Site{server.host, server.port, server.base_path, server.authority(), server.tls};
}

// "create:16"
struct Asked {
    std::string name;
    std::uint64_t connections = 0;
};

Result<Asked> read_workload(const std::string& text, const Settings& settings) {
    const std::size_t colon = text.find(':');
    Asked asked{text.substr(0, colon), settings.connections};
    if (asked.name == "import" || asked.name == "history-apply") {
        asked.connections = settings.bundle_connections;
    }
    if (!is_workload(asked.name)) {
        return Error{
            Errc::usage,
            fmt::format("unknown workload '{}'; there are limits, read, search, search-count, "
                        "create, crud, import and history-apply",
                        asked.name),
            ""};
    }
    if (colon != std::string::npos) {
        const char* const begin = text.data() + colon + 1;
        const auto result = std::from_chars(begin, text.data() + text.size(), asked.connections);
        if (result.ec != std::errc() || result.ptr != text.data() + text.size()) {
            return Error{Errc::usage,
                         fmt::format("'{}': a number of connections follows the colon", text), ""};
        }
    }
    if (asked.connections == 0 || asked.connections > 10'000) {
        return Error{Errc::usage, "the number of connections is from 1 to 10000", ""};
    }
    return asked;
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

Result<Measurement> measure_on_own_server(const Asked& asked, const Settings& settings) {
    const WorkingFolder folder(
        fmt::format("{}/annals-bench-{:016x}", settings.directory, random_u64()));
    std::filesystem::create_directories(folder.path());
    ANNALS_TRY(Process server,
               Process::run_self(server_arguments(settings, folder.path()), folder.path() + "/log",
                                 "annals ready on ", settings.server_cpu));
    ANNALS_TRY(const Site site, site_of(server.told()));
    ANNALS_TRY(Measurement measurement, measure(asked.name, asked.connections, site, settings));
    measurement.extras.emplace_back("server MB resident",
                                    static_cast<double>(server.resident_bytes()) / 1e6);
    if (const int code = server.stop(); code != 0) {
        return Error{Errc::io, fmt::format("the server ended with code {}", code), ""};
    }
    return measurement;
}

void add_limit(Measurement& measurement, const Limits& limits) {
    if (measurement.name == "read" || measurement.name == "search" ||
        measurement.name == "search-count") {
        measurement.limit_name = "bare GET";
        measurement.limit = limits.gets;
    } else if (measurement.name == "create") {
        measurement.limit_name = "bare durable POST";
        measurement.limit = limits.posts();
    } else if (measurement.name == "crud") {
        measurement.limit_name = "1 bare GET, 3 POSTs";
        if (limits.gets > 0 && limits.posts() > 0) {
            measurement.limit = 4 / (1 / limits.gets + 3 / limits.posts());
        }
    } else {
        measurement.limit_name = "append, 256 a sync";
        measurement.limit = limits.appends.back();
    }
}

}  // namespace

std::uint64_t Report::errors() const {
    std::uint64_t sum = 0;
    for (const Measurement& measurement : measurements) {
        sum += measurement.load.errors;
    }
    return sum;
}

Result<Report> run_all(const Settings& settings, bool talk) {
    Report report;
    report.settings = settings;
    report.machine = describe_machine(settings.directory);
    std::vector<Asked> all;
    bool limits = false;
    for (const std::string& workload : settings.workloads) {
        if (workload == "limits") {
            limits = true;
        } else {
            ANNALS_TRY(Asked asked, read_workload(workload, settings));
            all.push_back(std::move(asked));
        }
    }
    const auto say = [&](std::string_view what) {
        if (talk) {
            fmt::print(stderr, "\r\033[Kannals: {}", what);
            std::fflush(stderr);
        }
    };
    if (limits) {
        say("limits of the machine");
        const WorkingFolder folder(
            fmt::format("{}/annals-bench-{:016x}", settings.directory, random_u64()));
        std::filesystem::create_directories(folder.path());
        Settings inside = settings;
        inside.directory = folder.path();
        ANNALS_TRY(report.limits, measure_limits(inside));
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        say(fmt::format("{} with {} connections ({} of {})", all[i].name, all[i].connections, i + 1,
                        all.size()));
        Measurement measurement;
        if (settings.server.empty()) {
            ANNALS_TRY(measurement, measure_on_own_server(all[i], settings));
        } else {
            ANNALS_TRY(const Site site, site_of(settings.server));
            ANNALS_TRY(measurement, measure(all[i].name, all[i].connections, site, settings));
        }
        if (report.limits) {
            add_limit(measurement, *report.limits);
        }
        report.measurements.push_back(std::move(measurement));
    }
    if (talk) {
        fmt::print(stderr, "\r\033[K");
    }
    return report;
}

}  // namespace annals::bench
