// Bench: what is measured, how, and the results.
//
// Layer:   tools/bench. The workloads are defined in docs/benchmarks.md.
// Threads: main; run_load() starts more while it runs.

#pragma once

#include "core/base/result.h"
#include "tools/bench/load.h"
#include "tools/commands/server_url.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::bench {

class Process;

struct Settings {
    /// "read", or "create:16" with its own number of connections.
    std::vector<std::string> workloads;
    std::string server;             ///< root of a running server; empty: start our own
    std::string directory = ".";    ///< for our own server's data and the disk limits
    std::vector<std::string> sets;  ///< --set options for our own server
    std::string headers;  ///< lines to send with each request, each with its line end: credentials
    std::shared_ptr<const tools::TlsIdentity> identity;  ///< shown to servers that ask; may be null
    std::vector<std::string> files;  ///< what `import` and the searches send; empty: generated
    std::uint64_t connections = 64;
    std::uint64_t bundle_connections = 4;  ///< of `import` and `history-apply`
    std::uint64_t bundle_entries = 1000;
    std::uint64_t preload = 10'000;  ///< resources that `read` and the searches choose from
    std::uint64_t seed = 1;
    std::uint64_t client_threads = 1;
    std::uint64_t server_threads =
        0;  ///< 0: one if it is pinned to a core, else as many as there are cores
    double seconds = 5;
    double warm_up = 1;
    double rate = 0;  ///< open loop: requests/s; 0: closed loops
    int server_cpu = -1;
    int client_cpu = -1;
    std::uint64_t disk_bytes = 512ULL << 20;  ///< of the pre-written file
};

/// Where a server listens.
struct Site {
    std::string host;
    std::string port;
    std::string base;  ///< "/fhir"
    std::string authority;
    std::string headers;  ///< lines to send with each request
    bool tls = false;
    std::shared_ptr<const tools::TlsIdentity> identity{};  ///< shown if asked for; may be null

    /// Its root, or another path on it, for the clients in tools/commands.
    tools::ServerUrl url(std::string base_path) const;

    /// The headers, one by one.
    std::vector<std::pair<std::string, std::string>> header_fields() const;
};

/// Which limit of the machine a workload's rate is compared with.
enum class Bound : std::uint8_t { get, post, crud, mix, append };

/// A workload, as docs/benchmarks.md defines it.
struct Workload {
    std::string_view name;
    std::string_view unit;
    Bound bound;
    bool bundles = false;     ///< uses Settings::bundle_connections
    bool own_server = false;  ///< starts and stops servers: can't use a running one
};

std::span<const Workload> workloads() noexcept;

/// A workload to be run.
struct Asked {
    const Workload* workload = nullptr;
    std::uint64_t connections = 0;
    std::uint64_t bundle_entries = 0;  ///< of history bundles

    std::string name() const;  ///< "read:64", "history-apply/1000:4"
};

/// A workload's results.
struct Measurement {
    Asked asked;
    double rate_asked = 0;  ///< open loop; 0: closed loops
    LoadResult load;
    std::vector<std::string> operations;  ///< names of load.operations, if there are several
    std::vector<std::pair<std::string, double>> extras;  ///< "commits per sync"
    /// Of `replicate`: seconds since the start, lag in seconds.
    std::vector<std::pair<double, double>> lags;
    std::string limit_name;
    double limit = 0;  ///< in the same unit; 0: not measured

    double rate() const {
        return load.seconds > 0 ? static_cast<double>(load.units) / load.seconds : 0;
    }
};

inline constexpr std::array<std::size_t, 4> kGroupSizes{1, 16, 64, 256};

/// What the machine can do with almost no software in between.
struct Limits {
    double gets = 0;  ///< requests/s of the bare responder
    Histogram get_latency;
    double get_busy = 0;      ///< LoadResult::busy of the client meanwhile
    double posts_inline = 0;  ///< the loop syncs
    double posts_thread = 0;  ///< another thread syncs
    Histogram post_latency;   ///< of the faster one
    double post_busy = 0;
    std::array<double, kGroupSizes.size()> appends{};  ///< records/s, with this many per sync
    Histogram sync_4k;                                 ///< write and fdatasync of 4 KiB
    Histogram sync_64k;

    double posts() const { return posts_inline > posts_thread ? posts_inline : posts_thread; }
};

/// The machine that it ran on.
struct Machine {
    std::string cpu;
    unsigned cores = 0;
    std::uint64_t memory_bytes = 0;
    std::string kernel;
    std::string file_system;
    std::string build;
    std::string version;
    std::string date;
};

struct Report {
    Settings settings;
    Machine machine;
    std::optional<Limits> limits;
    std::vector<Measurement> measurements;

    std::uint64_t errors() const;
};

/// Measures the limits with the bare responders. Errors: io.
Result<Limits> measure_limits(const Settings& settings);

/// One workload against a server at `site`. Errors: usage (unreadable files), io.
/// Requires: not Workload::own_server.
Result<Measurement> measure(const Asked& asked, const Site& site, const Settings& settings);

/// One workload against servers of its own, in its own folder below settings.directory. Errors: as measure().
Result<Measurement> measure_on_own_server(const Asked& asked, const Settings& settings);

/// Full exports, one after another, of a store that is filled first. Errors: io.
Result<void> measure_exports(const Site& site, const Settings& settings, Measurement& measurement);

/// How far a replica lags behind while its source is written to: with two servers of our own, below
/// `folder`. Errors: io.
Result<void> measure_replication(const Settings& settings, const std::string& folder,
                                 Measurement& measurement);

/// Starts a server of our own with its data below `folder`, on core `cpu`. Errors: io.
Result<Process> start_server(const Settings& settings, const std::string& folder, int cpu);

/// Errors: io (it did not shut down cleanly).
Result<void> stop_server(Process& server);

/// The server at `url`, with the settings' headers. Errors: usage.
Result<Site> site_of(std::string_view url, const Settings& settings);

/// Fills the store at `site` with Settings::preload generated resources as history bundles, or with the bundles of
/// Settings::files. Returns how many versions there are.
Result<std::uint64_t> fill(const Site& site, const Settings& settings);

/// The value of a metric without labels at `site`; nothing if the server doesn't report it.
std::optional<double> metric(const Site& site, std::string_view name);

/// run_load() options for `site`; with `timed` false, it runs until the conversations end, without warm-up.
LoadOptions load_options(const Site& site, const Settings& settings, bool timed);

Machine describe_machine(const std::string& directory);

/// As a table for people, completely for programs, and as one self-contained HTML page with plots.
std::string table_of(const Report& report);
std::string json_of(const Report& report);
std::string html_of(const Report& report);

/// What it ran on, in two lines. Where server and client were. What is to be said of a workload beside its row. "1.25 ms".
std::string described(const Machine& machine, std::string_view line_end);
std::string placed(const Settings& settings);
std::string remarks(const Report& report, const Measurement& measurement);
std::string duration_text(std::uint64_t nanoseconds);

/// "1.25 ms"; "-" if there was no response.
std::string quantile_text(const Histogram& latency, double quantile);

/// Runs everything that the settings ask for, limits first, each workload against a fresh server
/// unless settings.server names one. Reports progress on stderr if `talk`. On failure, `report` has what was
/// measured before.
Result<void> run_all(const Settings& settings, bool talk, Report& report);

}  // namespace annals::bench
