// Runs everything asked for: the limits, then each workload against a server of its own.

#include "core/base/text.h"
#include "tools/bench/bench.h"
#include "tools/commands/progress.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::bench {
namespace {

constexpr auto kWorkloads = std::to_array<Workload>({
    {"read", "requests/s", Bound::get},
    {"vread", "requests/s", Bound::get},
    {"search", "pages/s", Bound::get},
    {"search-count", "counts/s", Bound::get},
    {"create", "requests/s", Bound::post},
    {"crud", "requests/s", Bound::crud},
    {"mixed", "requests/s", Bound::mix},
    {"transaction-small", "transactions/s", Bound::post},
    {"import", "resources/s", Bound::append, true},
    {"history-apply", "versions/s", Bound::append, true},
    {"history-read", "versions/s", Bound::append, true},
    {"export", "resources/s", Bound::append, true},
    {"replicate", "versions/s", Bound::post, false, true},
    {"recover", "versions/s", Bound::append, true, true},
    {"footprint", "versions/s", Bound::append, true, true},
});

/// Bundles are made in memory; this is twice what a server takes by default.
constexpr std::uint64_t kBundleEntriesMax = 100'000;

void add_limit(Measurement& measurement, const Limits& limits) {
    // `gets` and `posts`: how many bare GETs and bare durable POSTs a round has.
    const auto of_both = [&](double gets, double posts) {
        return limits.gets > 0 && limits.posts() > 0
                   ? (gets + posts) / (gets / limits.gets + posts / limits.posts())
                   : 0;
    };
    switch (measurement.asked.workload->bound) {
        case Bound::get:
            measurement.limit_name = "bare GET";
            measurement.limit = limits.gets;
            break;
        case Bound::post:
            measurement.limit_name = "bare durable POST";
            measurement.limit = limits.posts();
            break;
        case Bound::crud:
            measurement.limit_name = "1 bare GET, 3 POSTs";
            measurement.limit = of_both(1, 3);
            break;
        case Bound::mix:
            measurement.limit_name = "6 bare GETs, 4 POSTs";
            measurement.limit = of_both(6, 4);
            break;
        case Bound::append:
            measurement.limit_name = "append, 256 per sync";
            measurement.limit = limits.appends.back();
            break;
    }
}

/// Reads "read", "create:16", "history-apply/100:4". Errors: usage.
Result<Asked> read_workload(const std::string& text, const Settings& settings) {
    const std::size_t colon = text.find(':');
    const std::size_t slash = text.substr(0, colon).find('/');
    const std::string name = text.substr(0, std::min(colon, slash));
    const auto* const row =
        std::find_if(kWorkloads.begin(), kWorkloads.end(),
                     [&](const Workload& workload) { return workload.name == name; });
    if (row == kWorkloads.end()) {
        std::string names = "limits";
        for (const Workload& workload : kWorkloads) {
            names.append(", ").append(workload.name);
        }
        return Error{Errc::usage, fmt::format("unknown workload '{}'; known: {}", name, names)};
    }
    Asked asked{row, row->bundles ? settings.bundle_connections : settings.connections,
                settings.bundle_entries};
    if (colon != std::string::npos) {
        asked.connections = parse_number(std::string_view(text).substr(colon + 1)).value_or(0);
    }
    if (asked.connections == 0 || asked.connections > 10'000) {
        return Error{Errc::usage,
                     fmt::format("'{}': the number of connections must be from 1 to 10000", text)};
    }
    if (slash != std::string::npos) {
        asked.bundle_entries =
            parse_number(std::string_view(text).substr(0, colon).substr(slash + 1)).value_or(0);
        if (name != "history-apply") {
            return Error{Errc::usage,
                         fmt::format("'{}': only history-apply/N takes a number of entries", text)};
        }
    }
    if (asked.bundle_entries == 0 || asked.bundle_entries > kBundleEntriesMax) {
        return Error{Errc::usage, fmt::format("'{}': the number of entries must be from 1 to {}",
                                              text, kBundleEntriesMax)};
    }
    return asked;
}

}  // namespace

std::span<const Workload> workloads() noexcept {
    return kWorkloads;
}

std::string Asked::name() const {
    return workload->name == "history-apply"
               ? fmt::format("{}/{}:{}", workload->name, bundle_entries, connections)
               : fmt::format("{}:{}", workload->name, connections);
}

std::uint64_t Report::errors() const {
    std::uint64_t sum = 0;
    for (const Measurement& measurement : measurements) {
        sum += measurement.load.errors;
    }
    return sum;
}

Result<void> run_all(const Settings& settings, bool talk, Report& report) {
    report.settings = settings;
    report.machine = describe_machine(settings.directory);
    std::vector<Asked> all;
    bool limits = false;
    for (const std::string& workload : settings.workloads) {
        if (workload == "limits") {
            limits = true;
        } else {
            ANNALS_TRY(const Asked asked, read_workload(workload, settings));
            if (asked.workload->own_server && !settings.server.empty()) {
                return Error{
                    Errc::usage,
                    fmt::format("{} starts its own servers and cannot be used with --server",
                                workload)};
            }
            all.push_back(asked);
        }
    }
    const auto say = [&](std::string_view what) {
        if (talk) {
            tools::show_passing(fmt::format("annals: {}", what));
        }
    };
    if (limits) {
        say("limits of the machine");
        ANNALS_TRY(report.limits, measure_limits(settings));
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        say(fmt::format("{} ({} of {})", all[i].name(), i + 1, all.size()));
        Measurement measurement;
        if (settings.server.empty()) {
            ANNALS_TRY(measurement, measure_on_own_server(all[i], settings));
        } else {
            ANNALS_TRY(const Site site, site_of(settings.server, settings));
            ANNALS_TRY(measurement, measure(all[i], site, settings));
        }
        if (report.limits) {
            add_limit(measurement, *report.limits);
        }
        report.measurements.push_back(std::move(measurement));
    }
    return {};
}

}  // namespace annals::bench
