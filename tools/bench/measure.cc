// One workload against one server.

#include "core/base/text.h"
#include "tools/bench/workloads.h"
#include "tools/commands/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace annals::bench {
namespace {

using Extras = std::vector<std::pair<std::string, double>>;

// What conversations refer to; lives until they have ended.
struct Material {
    std::vector<Body> bodies;
    std::vector<std::vector<Body>> nine;
    std::vector<BundleText> bundles;
    std::vector<Known> known;
    SearchMix mix;
    SearchSums sums;
};

// The value of a metric without labels in the text of /metrics.
std::optional<double> metric_in(const std::string& metrics, std::string_view name) {
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

std::optional<std::string> read_metrics(const Site& site) {
    tools::HttpClient client(site.url(""));
    tools::HttpRequest request;
    request.target = "/metrics";
    request.headers = site.header_fields();
    Result<tools::HttpReply> reply = client.send(request);
    if (!reply || reply->status != 200) {
        return std::nullopt;
    }
    return std::move(reply->body);
}

// The server's counters so far; nothing if it does not report them.
struct Counters {
    double commits = 0;
    double syncs = 0;
    double sync_seconds = 0;
    double bytes = 0;
};

std::optional<Counters> read_counters(const Site& site) {
    const std::optional<std::string> metrics = read_metrics(site);
    if (!metrics) {
        return std::nullopt;
    }
    const auto commits = metric_in(*metrics, "annals_store_commits_total");
    const auto syncs = metric_in(*metrics, "annals_store_syncs_total");
    if (!commits || !syncs) {
        return std::nullopt;
    }
    return Counters{*commits, *syncs,
                    metric_in(*metrics, "annals_store_sync_seconds_total").value_or(0),
                    metric_in(*metrics, "annals_store_bytes_written_total").value_or(0)};
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
        return Error{Errc::io, fmt::format("nothing could be created: {}", load.first_error)};
    }
    return load;
}

void add_sums(Extras& extras, const SearchSums& sums, bool counts) {
    const auto answers = static_cast<double>(std::max<std::uint64_t>(sums.answers, 1));
    extras.emplace_back(counts ? "mean total" : "mean matches per page",
                        static_cast<double>(sums.matches) / answers);
    extras.emplace_back("mean response bytes", static_cast<double>(sums.bytes) / answers);
}

Result<Conversations> prepare_reads(const Asked& asked, const Site& site, const Settings& settings,
                                    Material& material, Measurement& measurement) {
    const std::string_view version = asked.workload->name == "vread" ? "/_history/1" : "";
    material.bodies = usual_bodies(settings.seed);
    ANNALS_TRY_VOID(preload(site, settings, material.bodies, material.known));
    measurement.extras.emplace_back("resources", static_cast<double>(material.known.size()));
    measurement.extras.emplace_back("mean body bytes", mean_size(material.bodies));
    return reads(site, material.known, version, asked.connections, settings.seed);
}

Result<Conversations> prepare_mix(const Asked& asked, const Site& site, const Settings& settings,
                                  Material& material, Measurement& measurement) {
    material.bodies = usual_bodies(settings.seed);
    ANNALS_TRY_VOID(preload(site, settings, material.bodies, material.known));
    measurement.operations.assign(kMixOperations.begin(), kMixOperations.end());
    return mixes(site, material.bodies, material.known, asked.connections, settings.seed);
}

Result<Conversations> prepare_searches(const Asked& asked, const Site& site,
                                       const Settings& settings, Material& material,
                                       Measurement& measurement) {
    const bool counts = asked.workload->name == "search-count";
    measurement.operations.assign(kParameterTypes.begin(), kParameterTypes.end());
    ANNALS_TRY(const std::uint64_t resources, fill(site, settings));
    ANNALS_TRY(material.mix, sample_search_mix(site));
    measurement.extras.emplace_back("resources", static_cast<double>(resources));
    measurement.extras.emplace_back("parameters", static_cast<double>(material.mix.size()));
    return searches(site, material.mix, counts, asked.connections, settings.seed, material.sums);
}

Result<Conversations> prepare_crud(const Asked& asked, const Site& site, const Settings& settings,
                                   Material& material, Measurement& measurement) {
    material.nine = bodies_of_nine_types(settings.seed);
    measurement.operations.assign(kMixOperations.begin(), kMixOperations.end());
    double sum = 0;
    for (const std::vector<Body>& of_type : material.nine) {
        sum += mean_size(of_type);
    }
    measurement.extras.emplace_back("mean body bytes",
                                    sum / static_cast<double>(material.nine.size()));
    return cruds(site, material.nine, asked.connections);
}

Result<Conversations> prepare_history(const Asked& asked, const Site& site,
                                      const Settings& settings, Measurement& measurement) {
    constexpr std::uint64_t kPage = 100;
    ANNALS_TRY(const std::uint64_t versions, fill(site, settings));
    measurement.extras.emplace_back("versions", static_cast<double>(versions));
    measurement.extras.emplace_back("versions per page", kPage);
    return history_reads(site, "Observation", kPage, asked.connections);
}

Result<Conversations> prepare(const Asked& asked, const Site& site, const Settings& settings,
                              Material& material, Measurement& measurement) {
    const std::string_view name = asked.workload->name;
    if (name == "read" || name == "vread") {
        return prepare_reads(asked, site, settings, material, measurement);
    }
    if (name == "search" || name == "search-count") {
        return prepare_searches(asked, site, settings, material, measurement);
    }
    if (name == "create") {
        material.bodies = usual_bodies(settings.seed);
        measurement.extras.emplace_back("mean body bytes", mean_size(material.bodies));
        return creates(site, material.bodies, asked.connections, true);
    }
    if (name == "crud") {
        return prepare_crud(asked, site, settings, material, measurement);
    }
    if (name == "mixed") {
        return prepare_mix(asked, site, settings, material, measurement);
    }
    if (name == "transaction-small") {
        return small_transactions(site, asked.connections, settings.seed);
    }
    if (name == "history-read") {
        return prepare_history(asked, site, settings, measurement);
    }
    if (name == "history-apply") {
        return history_applications(site, asked.connections, settings.seed, asked.bundle_entries);
    }
    if (settings.files.empty()) {
        return generated_imports(site, asked.connections, settings.seed);
    }
    ANNALS_TRY(material.bundles, read_bundles(settings.files));
    return file_imports(site, material.bundles, asked.connections);
}

}  // namespace

tools::ServerUrl Site::url(std::string base_path) const {
    return {.host = host,
            .port = port,
            .base_path = std::move(base_path),
            .tls = tls,
            .credentials = {.identity = identity}};
}

std::vector<std::pair<std::string, std::string>> Site::header_fields() const {
    std::vector<std::pair<std::string, std::string>> fields;
    std::string_view rest = headers;
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find("\r\n"));
        const std::size_t colon = line.find(':');
        fields.emplace_back(line.substr(0, colon), trimmed(line.substr(colon + 1)));
        rest.remove_prefix(line.size() + 2);
    }
    return fields;
}

std::optional<double> metric(const Site& site, std::string_view name) {
    const std::optional<std::string> metrics = read_metrics(site);
    return metrics ? metric_in(*metrics, name) : std::nullopt;
}

Result<std::uint64_t> fill(const Site& site, const Settings& settings) {
    std::vector<BundleText> bundles;
    if (!settings.files.empty()) {
        ANNALS_TRY(bundles, read_bundles(settings.files));
    }
    LoadOptions options = load_options(site, settings, false);
    options.threads = 1;
    ANNALS_TRY(const LoadResult load,
               run_load(options, bundle_preload(site, bundles, settings.preload, settings.seed)));
    if (load.errors > 0) {
        return Error{Errc::io, fmt::format("a bundle was refused: {}", load.first_error)};
    }
    return load.units;
}

LoadOptions load_options(const Site& site, const Settings& settings, bool timed) {
    const auto nanoseconds = [](double seconds) {
        return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
    };
    // Whether the client has a core to itself.
    const bool alone = settings.client_threads == 1 && settings.client_cpu >= 0 &&
                       settings.server_cpu >= 0 && settings.client_cpu != settings.server_cpu;
    return {.host = site.host,
            .port = site.port,
            .tls = site.tls,
            .identity = site.identity,
            .rate = timed ? settings.rate : 0,
            .warm_up = timed ? nanoseconds(settings.warm_up) : std::chrono::nanoseconds(0),
            .duration = timed ? nanoseconds(settings.seconds) : std::chrono::nanoseconds(0),
            .threads = static_cast<unsigned>(settings.client_threads),
            .cpu = settings.client_cpu,
            .polls = alone};
}

Result<Measurement> measure(const Asked& asked, const Site& site, const Settings& settings) {
    Measurement measurement;
    measurement.asked = asked;
    measurement.rate_asked = settings.rate;
    if (asked.workload->name == "export") {
        ANNALS_TRY_VOID(measure_exports(site, settings, measurement));
        return measurement;
    }
    Material material;
    ANNALS_TRY(const Conversations conversations,
               prepare(asked, site, settings, material, measurement));
    const std::optional<Counters> before = read_counters(site);
    ANNALS_TRY(measurement.load, run_load(load_options(site, settings, true), conversations));
    if (material.sums.answers > 0) {
        add_sums(measurement.extras, material.sums, asked.workload->name == "search-count");
    }
    add_counters(measurement.extras, before, read_counters(site));
    return measurement;
}

}  // namespace annals::bench
