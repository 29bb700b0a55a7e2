#include "codec/json/document.h"
#include "tools/bench/bench.h"
#include "tools/commands/progress.h"
#include "tools/commands/wrap.h"

#include <fmt/format.h>

namespace annals::bench {
namespace {

constexpr double kQuantiles[] = {0.5, 0.9, 0.99, 0.999};
constexpr std::string_view kQuantileNames[] = {"p50", "p90", "p99", "p99.9"};

double microseconds(std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1e3;
}

/// Of four quantiles, three have room: p90 is in the page and in JSON.
std::string row(std::string_view workload, double rate, std::string_view unit,
                const Histogram& latency, double limit) {
    return fmt::format("{:<22} {:>8.0f} {:<14} {:>8} {:>8} {:>8}  {}\n", workload, rate, unit,
                       quantile_text(latency, 0.5), quantile_text(latency, 0.99),
                       quantile_text(latency, 0.999),
                       limit > 0 ? fmt::format("{:.2f}", rate / limit) : "");
}

/// What is said about a row, below it.
std::string below(std::string_view text) {
    constexpr std::string_view kIndent = "    ";
    return tools::wrapped(fmt::format("{}{}", kIndent, text), tools::kColumns, kIndent) + "\n";
}

std::string limits_table(const Limits& limits) {
    std::string text = row("  bare GET", limits.gets, "requests/s", limits.get_latency, 0);
    text += row("  bare durable POST", limits.posts(), "requests/s", limits.post_latency, 0);
    text += below(fmt::format(
        "inline in the loop {:.0f}, committer thread {:.0f} requests/s; client busy {:.0f} % and "
        "{:.0f} %",
        limits.posts_inline, limits.posts_thread, limits.get_busy * 100, limits.post_busy * 100));
    for (std::size_t i = 0; i < kGroupSizes.size(); ++i) {
        text +=
            fmt::format("{:<22} {:>8.0f} records/s\n",
                        fmt::format("  append, {} per sync", kGroupSizes[i]), limits.appends[i]);
    }
    text += fmt::format("{:<22} p50 {}, p99 {}\n", "  sync of 4 KiB",
                        quantile_text(limits.sync_4k, 0.5), quantile_text(limits.sync_4k, 0.99));
    text += fmt::format("{:<22} p50 {}, p99 {}\n", "  sync of 64 KiB",
                        quantile_text(limits.sync_64k, 0.5), quantile_text(limits.sync_64k, 0.99));
    return text;
}

std::string latency_json(const Histogram& latency) {
    std::string text =
        fmt::format(R"({{"count":{},"mean_us":{:.1f})", latency.count(), latency.mean() / 1e3);
    for (std::size_t i = 0; i < std::size(kQuantiles); ++i) {
        text += fmt::format(R"(,"{}_us":{:.1f})", kQuantileNames[i],
                            microseconds(latency.quantile(kQuantiles[i])));
    }
    return text + fmt::format(R"(,"max_us":{:.1f}}})", microseconds(latency.max()));
}

std::string limits_json(const Limits& limits) {
    std::string text = fmt::format(
        R"({{"get_per_second":{:.1f},"get_latency":{},"get_client_busy":{:.3f},"post_client_busy":{:.3f},"post_per_second":{:.1f},"post_commit":"{}",)"
        R"("post_inline_per_second":{:.1f},"post_thread_per_second":{:.1f},"post_latency":{},"append":[)",
        limits.gets, latency_json(limits.get_latency), limits.get_busy, limits.post_busy,
        limits.posts(), limits.posts_inline > limits.posts_thread ? "inline" : "thread",
        limits.posts_inline, limits.posts_thread, latency_json(limits.post_latency));
    for (std::size_t i = 0; i < kGroupSizes.size(); ++i) {
        text += fmt::format(R"({}{{"records_per_sync":{},"records_per_second":{:.1f}}})",
                            i == 0 ? "" : ",", kGroupSizes[i], limits.appends[i]);
    }
    return text + fmt::format(R"(],"sync_4k":{},"sync_64k":{}}})", latency_json(limits.sync_4k),
                              latency_json(limits.sync_64k));
}

std::string measurement_json(const Measurement& measurement) {
    const LoadResult& load = measurement.load;
    std::string text = fmt::format(
        R"({{"workload":{},"connections":{},"unit":{},"rate":{:.1f},"seconds":{:.3f},"requests":{},)"
        R"("units":{},"errors":{},"bytes_received":{},"client_busy":{:.3f},"latency":{})",
        json::quoted(measurement.asked.workload->name), measurement.asked.connections,
        json::quoted(measurement.asked.workload->unit), measurement.rate(), load.seconds,
        load.requests, load.units, load.errors, load.bytes_received, load.busy,
        latency_json(load.all()));
    if (measurement.asked.workload->name == "history-apply") {
        text += fmt::format(R"(,"bundle_entries":{})", measurement.asked.bundle_entries);
    }
    if (measurement.rate_asked > 0) {
        text +=
            fmt::format(R"(,"rate_asked":{:.1f},"unsent":{})", measurement.rate_asked, load.unsent);
    }
    if (!load.first_error.empty()) {
        text += fmt::format(R"(,"first_error":{})", json::quoted(load.first_error));
    }
    for (std::size_t i = 0; i < measurement.operations.size(); ++i) {
        text +=
            fmt::format(R"({}{}:{})", i == 0 ? R"(,"operations":{)" : ",",
                        json::quoted(measurement.operations[i]), latency_json(load.operations[i]));
    }
    text += measurement.operations.empty() ? "" : "}";
    for (std::size_t i = 0; i < measurement.extras.size(); ++i) {
        text +=
            fmt::format(R"({}{}:{:.3f})", i == 0 ? R"(,"extras":{)" : ",",
                        json::quoted(measurement.extras[i].first), measurement.extras[i].second);
    }
    text += measurement.extras.empty() ? "" : "}";
    for (std::size_t i = 0; i < measurement.lags.size(); ++i) {
        text += fmt::format(R"({}[{:.3f},{:.6f}])", i == 0 ? R"(,"lags":[)" : ",",
                            measurement.lags[i].first, measurement.lags[i].second);
    }
    text += measurement.lags.empty() ? "" : "]";
    if (measurement.limit > 0) {
        text += fmt::format(R"(,"limit":{{"name":{},"rate":{:.1f},"ratio":{:.3f}}})",
                            json::quoted(measurement.limit_name), measurement.limit,
                            measurement.rate() / measurement.limit);
    }
    return text + "}";
}

}  // namespace

std::string duration_text(std::uint64_t nanoseconds) {
    const double us = microseconds(nanoseconds);
    return us < 1000      ? fmt::format("{:.0f} us", us)
           : us < 100'000 ? fmt::format("{:.2f} ms", us / 1e3)
                          : fmt::format("{:.0f} ms", us / 1e3);
}

std::string quantile_text(const Histogram& latency, double quantile) {
    return latency.count() == 0 ? "-" : duration_text(latency.quantile(quantile));
}

std::string described(const Machine& machine, std::string_view line_end) {
    return fmt::format("annals {} ({}), {}{}{}, {} cores, {:.1f} GiB, {}, data on {}",
                       machine.version, machine.build, machine.date, line_end, machine.cpu,
                       machine.cores,
                       static_cast<double>(machine.memory_bytes) / static_cast<double>(1U << 30),
                       machine.kernel, machine.file_system);
}

std::string placed(const Settings& settings) {
    const auto on = [](int core) {
        return core >= 0 ? fmt::format("on core {}", core) : std::string("on any core");
    };
    return fmt::format("server {}, client {}",
                       settings.server.empty() ? on(settings.server_cpu) : "at " + settings.server,
                       on(settings.client_cpu));
}

std::string remarks(const Report& report, const Measurement& measurement) {
    const LoadResult& load = measurement.load;
    std::string text;
    for (const auto& [name, value] : measurement.extras) {
        const int decimals = value >= 100 ? 0 : value > 0 && value < 1 ? 3 : 1;
        text += fmt::format("{} {:.{}f}, ", name, value, decimals);
    }
    text += fmt::format("client busy {:.0f} %", load.busy * 100);
    if (measurement.rate_asked > 0) {
        text += fmt::format(", {:.0f} requests/s requested, {} not sent in time",
                            measurement.rate_asked, load.unsent);
    }
    if (report.limits && measurement.asked.workload->name == "create") {
        text += fmt::format(", p50 is {:.1f} times that of a sync",
                            static_cast<double>(load.all().quantile(0.5)) /
                                static_cast<double>(report.limits->sync_4k.quantile(0.5)));
    }
    return text;
}

std::string table_of(const Report& report) {
    const Machine& machine = report.machine;
    const Settings& settings = report.settings;
    std::string text = described(machine, "\n") + "\n";
    text += fmt::format("{}; {} s each after {} s of warm-up, seed {}\n\n", placed(settings),
                        settings.seconds, settings.warm_up, settings.seed);
    text += fmt::format("{:<22} {:>8} {:<14} {:>8} {:>8} {:>8}  {}\n", "workload", "rate", "",
                        "p50", "p99", "p99.9", "ratio");
    if (report.limits) {
        text += limits_table(*report.limits);
    }
    for (const Measurement& measurement : report.measurements) {
        const LoadResult& load = measurement.load;
        text += row(measurement.asked.name(), measurement.rate(), measurement.asked.workload->unit,
                    load.all(), measurement.limit);
        for (std::size_t i = 0; i < measurement.operations.size(); ++i) {
            text += row("  " + measurement.operations[i],
                        static_cast<double>(load.operations[i].count()) / load.seconds,
                        "requests/s", load.operations[i], 0);
        }
        text +=
            below((measurement.limit > 0 ? fmt::format("limit: {} {:.0f}; ", measurement.limit_name,
                                                       measurement.limit)
                                         : "") +
                  remarks(report, measurement));
        if (load.errors > 0) {
            text += below(
                fmt::format("{} ERRORS, first: {}", load.errors, tools::plain(load.first_error)));
        }
    }
    return text;
}

std::string json_of(const Report& report) {
    const Machine& machine = report.machine;
    const Settings& settings = report.settings;
    std::string text = fmt::format(
        R"({{"machine":{{"cpu":{},"cores":{},"memory_bytes":{},"kernel":{},"file_system":{}}},)"
        R"("version":{},"build":{},"date":{},"settings":{{"seed":{},"seconds":{},"warm_up":{},)"
        R"("rate":{},"server_cpu":{},"client_cpu":{},"client_threads":{},"preload":{},"server":{}}})",
        json::quoted(machine.cpu), machine.cores, machine.memory_bytes,
        json::quoted(machine.kernel), json::quoted(machine.file_system),
        json::quoted(machine.version), json::quoted(machine.build), json::quoted(machine.date),
        settings.seed, settings.seconds, settings.warm_up, settings.rate, settings.server_cpu,
        settings.client_cpu, settings.client_threads, settings.preload,
        json::quoted(settings.server));
    if (report.limits) {
        text += R"(,"limits":)" + limits_json(*report.limits);
    }
    text += R"(,"workloads":[)";
    for (std::size_t i = 0; i < report.measurements.size(); ++i) {
        text += (i == 0 ? "" : ",") + measurement_json(report.measurements[i]);
    }
    return text + "]}\n";
}

}  // namespace annals::bench
