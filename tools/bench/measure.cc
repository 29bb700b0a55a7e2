// One workload against one server.

#include "tools/bench/workloads.h"
#include "tools/commands/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace annals::bench {
namespace {

constexpr std::size_t kBodyBytes = 1400;
constexpr std::size_t kBodies = 256;

using Extras = std::vector<std::pair<std::string, double>>;

// The value of a counter without labels in /metrics.
std::optional<double> counter(const std::string& metrics, std::string_view name) {
    const std::string line = fmt::format("\n{} ", name);
    const std::size_t at = metrics.find(line);
    if (at == std::string::npos) {
        return std::nullopt;
    }
    double value = 0;
    const char* const begin = metrics.data() + at + line.size();
    const auto result = std::from_chars(begin, metrics.data() + metrics.size(), value);
    return result.ec == std::errc() ? std::optional(value) : std::nullopt;
}

// What the server has counted so far; nothing if it does not tell.
struct Counters {
    double commits = 0;
    double syncs = 0;
    double sync_seconds = 0;
    double bytes = 0;
};

std::optional<Counters> read_counters(const Site& site) {
    tools::HttpClient client(
        {.host = site.host, .port = site.port, .base_path = "", .tls = site.tls});
    tools::HttpRequest request;
    request.target = "/metrics";
    const Result<tools::HttpReply> reply = client.send(request);
    if (!reply || reply->status != 200) {
        return std::nullopt;
    }
    const auto commits = counter(reply->body, "annals_store_commits_total");
    const auto syncs = counter(reply->body, "annals_store_syncs_total");
    if (!commits || !syncs) {
        return std::nullopt;
    }
    return Counters{*commits, *syncs,
                    counter(reply->body, "annals_store_sync_seconds_total").value_or(0),
                    counter(reply->body, "annals_store_bytes_written_total").value_or(0)};
}

void add_counters(Extras& extras, const std::optional<Counters>& before,
                  const std::optional<Counters>& after) {
    if (!before || !after || after->syncs <= before->syncs) {
        return;
    }
    const double syncs = after->syncs - before->syncs;
    extras.emplace_back("commits per sync", (after->commits - before->commits) / syncs);
    extras.emplace_back("log bytes per sync", (after->bytes - before->bytes) / syncs);
    extras.emplace_back("mean sync us", (after->sync_seconds - before->sync_seconds) / syncs * 1e6);
}

double mean_size(const std::vector<Body>& bodies) {
    double sum = 0;
    for (const Body& body : bodies) {
        sum += static_cast<double>(body.text.size());
    }
    return sum / static_cast<double>(std::max<std::size_t>(bodies.size(), 1));
}

Result<LoadResult> preload(const Site& site, const Settings& settings,
                           const std::vector<Body>& bodies, std::vector<Known>& known) {
    LoadOptions options = load_options(site, settings, false);
    options.threads = 1;
    ANNALS_TRY(LoadResult load, run_load(options, preloads(site, bodies, settings.preload,
                                                           settings.connections, known)));
    if (known.empty()) {
        return Error{Errc::io, fmt::format("nothing could be created: {}", load.first_error), ""};
    }
    return load;
}

// Fills the store with linked resources: the bundles, or generated ones. Returns how many there are.
Result<std::uint64_t> preload_bundles(const Site& site, const Settings& settings,
                                      const std::vector<BundleText>& bundles) {
    LoadOptions options = load_options(site, settings, false);
    options.threads = 1;
    ANNALS_TRY(const LoadResult load,
               run_load(options, bundle_preload(site, bundles, settings.preload, settings.seed)));
    if (load.errors > 0) {
        return Error{Errc::io, fmt::format("a bundle was refused: {}", load.first_error), ""};
    }
    return load.units;
}

void add_sums(Extras& extras, const SearchSums& sums, bool counts) {
    const auto answers = static_cast<double>(std::max<std::uint64_t>(sums.answers, 1));
    extras.emplace_back(counts ? "mean total" : "mean matches on a page",
                        static_cast<double>(sums.matches) / answers);
    extras.emplace_back("mean answer bytes", static_cast<double>(sums.bytes) / answers);
}

}  // namespace

bool is_workload(const std::string& name) {
    constexpr std::string_view kNames[] = {"read", "search", "search-count", "create",
                                           "crud", "import", "history-apply"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

LoadOptions load_options(const Site& site, const Settings& settings, bool timed) {
    const auto nanoseconds = [](double seconds) {
        return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
    };
    return {.host = site.host,
            .port = site.port,
            .tls = site.tls,
            .warm_up = timed ? nanoseconds(settings.warm_up) : std::chrono::nanoseconds(0),
            .duration = timed ? nanoseconds(settings.seconds) : std::chrono::nanoseconds(0),
            .threads = static_cast<unsigned>(settings.client_threads),
            .cpu = settings.client_cpu};
}

Result<Measurement> measure(const std::string& workload, std::uint64_t connections,
                            const Site& site, const Settings& settings) {
    Measurement measurement;
    measurement.name = workload;
    measurement.unit = "requests/s";
    measurement.connections = connections;
    const bool counts = workload == "search-count";
    const bool search = counts || workload == "search";
    // What conversations refer to stays here until they have ended.
    std::vector<Body> bodies;
    std::vector<std::vector<Body>> nine;
    std::vector<BundleText> bundles;
    std::vector<Known> known;
    SearchMix mix;
    SearchSums sums;
    Conversations conversations;
    if (workload == "read") {
        bodies = bodies_near(kBodyBytes, kBodies, settings.seed);
        ANNALS_TRY_VOID(preload(site, settings, bodies, known));
        conversations = reads(site, known, connections, settings.seed);
        measurement.extras.emplace_back("resources", static_cast<double>(known.size()));
        measurement.extras.emplace_back("mean body bytes", mean_size(bodies));
    } else if (search) {
        measurement.unit = counts ? "counts/s" : "pages/s";
        measurement.operations.assign(kParameterTypes.begin(), kParameterTypes.end());
        if (!settings.files.empty()) {
            ANNALS_TRY(bundles, read_bundles(settings.files));
        }
        ANNALS_TRY(const std::uint64_t resources, preload_bundles(site, settings, bundles));
        ANNALS_TRY(mix, sample_search_mix(site));
        conversations = searches(site, mix, counts, connections, settings.seed, sums);
        measurement.extras.emplace_back("resources", static_cast<double>(resources));
        measurement.extras.emplace_back("parameters", static_cast<double>(mix.size()));
    } else if (workload == "create") {
        bodies = bodies_near(kBodyBytes, kBodies, settings.seed);
        conversations = creates(site, bodies, connections, true);
        measurement.extras.emplace_back("mean body bytes", mean_size(bodies));
    } else if (workload == "crud") {
        nine = bodies_of_nine_types(kBodyBytes, 32, settings.seed);
        conversations = cruds(site, nine, connections);
        measurement.operations = {"create", "read", "update", "delete"};
        double sum = 0;
        for (const std::vector<Body>& of_type : nine) {
            sum += mean_size(of_type);
        }
        measurement.extras.emplace_back("mean body bytes", sum / static_cast<double>(nine.size()));
    } else if (workload == "import") {
        measurement.unit = "resources/s";
        if (settings.files.empty()) {
            conversations = generated_imports(site, connections, settings.seed);
        } else {
            ANNALS_TRY(bundles, read_bundles(settings.files));
            conversations = file_imports(site, bundles, connections);
        }
    } else if (workload == "history-apply") {
        measurement.unit = "versions/s";
        conversations =
            history_applications(site, connections, settings.seed, settings.bundle_entries);
    } else {
        return Error{Errc::usage, fmt::format("unknown workload '{}'", workload), ""};
    }
    const std::optional<Counters> before = read_counters(site);
    ANNALS_TRY(measurement.load, run_load(load_options(site, settings, true), conversations));
    if (search) {
        add_sums(measurement.extras, sums, counts);
    } else if (workload != "read") {
        add_counters(measurement.extras, before, read_counters(site));
    }
    return measurement;
}

}  // namespace annals::bench
