// The report as an HTML page: a table and plots as SVG, without scripts or external resources.

#include "codec/xml/characters.h"
#include "tools/bench/bench.h"
#include "tools/commands/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace annals::bench {
namespace {

constexpr double kWidth = 560;
constexpr double kHeight = 300;
constexpr double kLeft = 64;
constexpr double kRight = 26;
constexpr double kTop = 16;
constexpr double kBottom = 44;
/// Classes of the style sheet, which has a colour for each.
constexpr std::size_t kColours = 6;

constexpr std::string_view kStyle =
    ":root{color-scheme:light;--text:#1b1f24;--faint:#57606a;--rule:#d8dee4;--axis:#8c959f;"
    "--grid:#e5e9ee;--bad:#b3261e;--c0:#1f5fa8;--c1:#c2571a;--c2:#2b8a4b;--c3:#8a3fa0;"
    "--c4:#b3261e;--c5:#5c6470}"
    "@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;--text:#e2e6ea;"
    "--faint:#a2abb5;--rule:#363c44;--axis:#707984;--grid:#2b3037;--bad:#ff8a80;--c0:#6aa9f2;"
    "--c1:#ef9660;--c2:#62c584;--c3:#c893dd;--c4:#f0837b;--c5:#a6afba}}"
    ".c0{color:var(--c0)}.c1{color:var(--c1)}.c2{color:var(--c2)}.c3{color:var(--c3)}"
    ".c4{color:var(--c4)}.c5{color:var(--c5)}"
    "body{font:15px/1.5 system-ui,sans-serif;color:var(--text);max-width:1180px;margin:2em "
    "auto;padding:0 1em}"
    "h1{font-size:1.5em;margin-bottom:.2em}h2{font-size:1.15em;margin:2em 0 .5em;"
    "break-after:avoid}"
    "p.facts{color:var(--faint);margin:.2em 0}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;width:100%}"
    "th,td{text-align:right;padding:.25em .7em;white-space:nowrap}"
    "td{border-top:1px solid var(--rule)}"
    "th:first-child,td:first-child,td.text,th.text{text-align:left}"
    "th{font-weight:600;border-bottom:2px solid var(--axis)}tr{break-inside:avoid}"
    "tr.part{break-before:avoid}tr.part td{color:var(--faint);border:0}"
    "tr.part "
    "td:first-child{padding-left:2em}td.below{white-space:normal;overflow-wrap:anywhere}td.bad{"
    "color:var(--bad);font-weight:600}"
    ".bars{max-width:860px}.bars td{border:0}.bars .text{white-space:normal}"
    ".bars .bar{width:45%}.bars svg{display:block;height:1em}"
    "svg .all{fill:var(--rule)}svg .some{fill:currentColor}"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(500px,100%),1fr));gap:1."
    "5em}"
    "figure{margin:0;max-width:640px;break-inside:avoid}"
    "figcaption{font-weight:600;margin-bottom:.3em}"
    "svg{width:100%;height:auto;overflow:visible}"
    "svg text{font:12px system-ui,sans-serif;fill:var(--faint)}svg .grid{stroke:var(--grid)}"
    "svg .axis{stroke:var(--axis)}svg .line{fill:none;stroke-width:2;stroke:currentColor}"
    "@media screen and (max-width:600px){th,td{padding:.25em .4em}.bars .bar{width:25%}"
    "svg text{font-size:17px}}"
    "@media print{body{max-width:none;margin:0}.wide{overflow:visible}}";

std::string escaped(std::string_view text) {
    std::string out;
    xml::append_xml_characters(out, text);
    return out;
}

std::string number_text(double value) {
    return value >= 1e6    ? fmt::format("{:g} M", value / 1e6)
           : value >= 1e4  ? fmt::format("{:g} k", value / 1e3)
           : value >= 1000 ? fmt::format("{:.0f}", value)
                           : fmt::format("{:g}", value);
}

std::string nanoseconds_text(double value) {
    return value < 1e6   ? fmt::format("{:g} us", value / 1e3)
           : value < 1e9 ? fmt::format("{:g} ms", value / 1e6)
                         : fmt::format("{:g} s", value / 1e9);
}

struct Point {
    double x = 0;
    double y = 0;
    std::string tip;
};

struct Line {
    std::string name;
    std::vector<Point> points;
};

struct Tick {
    double at = 0;
    std::string text;
};

// A plot. Positions on both axes go from 0 to 1.
class Plot {
  public:
    Plot(std::string title, std::string x_title)
        : title_(std::move(title)), x_title_(std::move(x_title)) {}

    void x_tick(double at, const std::string& text) { x_ticks_.push_back({at, text}); }

    void y_tick(double at, const std::string& text) { y_ticks_.push_back({at, text}); }

    void line(Line line) { lines_.push_back(std::move(line)); }

    std::string svg() const {
        std::string out = fmt::format(
            R"(<figure><figcaption>{0}</figcaption><svg viewBox="0 0 {1} {2}" role="img" aria-label="{0}">)",
            escaped(title_), kWidth, kHeight + 20 * static_cast<double>(lines_.size()));
        for (const Tick& tick : y_ticks_) {
            out += fmt::format(
                R"(<line class="grid" x1="{0:.1f}" x2="{1:.1f}" y1="{2:.1f}" y2="{2:.1f}"/>)"
                R"(<text x="{3:.1f}" y="{4:.1f}" text-anchor="end">{5}</text>)",
                kLeft, kWidth - kRight, y_of(tick.at), kLeft - 6, y_of(tick.at) + 4,
                escaped(tick.text));
        }
        for (const Tick& tick : x_ticks_) {
            out += fmt::format(
                R"(<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}"/>)"
                R"(<text x="{0:.1f}" y="{3:.1f}" text-anchor="middle">{4}</text>)",
                x_of(tick.at), kTop, kHeight - kBottom, kHeight - kBottom + 16, escaped(tick.text));
        }
        out +=
            fmt::format(R"(<path class="axis" fill="none" d="M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}"/>)"
                        R"(<text x="{4:.1f}" y="{5:.1f}" text-anchor="middle">{6}</text>)",
                        kLeft, kTop, kHeight - kBottom, kWidth - kRight,
                        (kLeft + kWidth - kRight) / 2, kHeight - 10, escaped(x_title_));
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            out += line_svg(lines_[i], i % kColours, kHeight + 12 + 20 * static_cast<double>(i));
        }
        return out + "</svg></figure>";
    }

  private:
    static double x_of(double at) { return kLeft + at * (kWidth - kLeft - kRight); }

    static double y_of(double at) { return kHeight - kBottom - at * (kHeight - kTop - kBottom); }

    static std::string line_svg(const Line& line, std::size_t colour, double legend) {
        std::string path;
        std::string dots;
        for (const Point& point : line.points) {
            path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_of(point.x),
                                y_of(point.y));
            if (!point.tip.empty()) {
                dots += fmt::format(
                    R"(<circle cx="{:.1f}" cy="{:.1f}" r="3.5" fill="currentColor"><title>{}</title></circle>)",
                    x_of(point.x), y_of(point.y), escaped(point.tip));
            }
        }
        return fmt::format(
            R"(<g class="c{0}"><path class="line" d="{1}"/>{2}<path stroke="currentColor" stroke-width="3" )"
            R"(d="M{3} {4:.1f}h18"/></g><text x="{5}" y="{6:.1f}">{7}</text>)",
            colour, path, dots, kLeft, legend, kLeft + 26, legend + 4, escaped(line.name));
    }

    std::string title_;
    std::string x_title_;
    std::vector<Tick> x_ticks_;
    std::vector<Tick> y_ticks_;
    std::vector<Line> lines_;
};

// The smallest 1, 2 or 5 times a power of ten that is at least `value`.
double round_up(double value) {
    const double power = std::pow(10, std::floor(std::log10(std::max(value, 1e-9))));
    for (const double step : {1.0, 2.0, 5.0}) {
        if (step * power >= value) {
            return step * power;
        }
    }
    return 10 * power;
}

// Adds an axis from 0 to a round number above `most`; returns the value at its end.
double add_linear_ticks(Plot& plot, double most) {
    const double step = round_up(most / 5);
    const double top = step * std::max(1.0, std::ceil(most / step));
    for (double value = 0; value <= top * 1.0001; value += step) {
        plot.y_tick(value / top, number_text(value));
    }
    return top;
}

// An axis of nanoseconds with powers of ten from below `least` to above `most`; at() is a value's position on it.
struct Decades {
    double low = 0;
    double high = 1;

    // Values below the axis are put at its end.
    double at(double value) const {
        return std::max((std::log10(std::max(value, 1.0)) - low) / (high - low), 0.0);
    }
};

Decades add_decades(Plot& plot, double least, double most) {
    Decades decades{std::floor(std::log10(std::max(least, 1.0))),
                    std::ceil(std::log10(std::max(most, 10.0)))};
    decades.high = std::max(decades.high, decades.low + 1);
    for (double power = decades.low; power <= decades.high; ++power) {
        plot.y_tick((power - decades.low) / (decades.high - decades.low),
                    nanoseconds_text(std::pow(10, power)));
    }
    return decades;
}

// Measurements of one workload, by number of connections.
struct Group {
    std::string name;
    std::vector<const Measurement*> measurements;
};

std::vector<Group> groups_of(const Report& report) {
    std::vector<Group> groups;
    for (const Measurement& measurement : report.measurements) {
        const std::string full = measurement.asked.name();
        const std::string name = full.substr(0, full.find(':'));
        auto group = std::find_if(groups.begin(), groups.end(),
                                  [&](const Group& other) { return other.name == name; });
        if (group == groups.end()) {
            group = groups.insert(group, {name, {}});
        }
        group->measurements.push_back(&measurement);
    }
    return groups;
}

// Positions for numbers of connections: evenly spaced, in the order of the ladder.
double step_of(const Group& group, std::size_t i) {
    return group.measurements.size() == 1
               ? 0.5
               : static_cast<double>(i) / static_cast<double>(group.measurements.size() - 1);
}

void add_steps(Plot& plot, const Group& group) {
    for (std::size_t i = 0; i < group.measurements.size(); ++i) {
        plot.x_tick(step_of(group, i), std::to_string(group.measurements[i]->asked.connections));
    }
}

std::string throughput_plot(const Group& group) {
    const std::string_view unit = group.measurements.front()->asked.workload->unit;
    Plot plot(fmt::format("{}: {}", group.name, unit), "connections");
    double most = 1;
    for (const Measurement* measurement : group.measurements) {
        most = std::max(most, measurement->rate());
    }
    const double top = add_linear_ticks(plot, most);
    add_steps(plot, group);
    Line line{group.name, {}};
    for (std::size_t i = 0; i < group.measurements.size(); ++i) {
        const Measurement& measurement = *group.measurements[i];
        line.points.push_back(
            {step_of(group, i), measurement.rate() / top,
             fmt::format("{} connections: {:.0f} {}", measurement.asked.connections,
                         measurement.rate(), unit)});
    }
    plot.line(std::move(line));
    return plot.svg();
}

std::string latency_plot(const Group& group) {
    Plot plot(fmt::format("{}: latency by number of connections", group.name), "connections");
    double least = 1e18;
    double most = 0;
    for (const Measurement* measurement : group.measurements) {
        const Histogram latency = measurement->load.all();
        least = std::min(least, static_cast<double>(latency.quantile(0.5)));
        most = std::max(most, static_cast<double>(latency.quantile(0.999)));
    }
    const Decades decades = add_decades(plot, least, most);
    add_steps(plot, group);
    constexpr std::pair<double, std::string_view> kQuantiles[] = {
        {0.5, "p50"}, {0.9, "p90"}, {0.99, "p99"}, {0.999, "p99.9"}};
    for (const auto& [quantile, name] : kQuantiles) {
        Line line{std::string(name), {}};
        for (std::size_t i = 0; i < group.measurements.size(); ++i) {
            const std::uint64_t value = group.measurements[i]->load.all().quantile(quantile);
            line.points.push_back(
                {step_of(group, i), decades.at(static_cast<double>(value)),
                 fmt::format("{} connections, {}: {}", group.measurements[i]->asked.connections,
                             name, duration_text(value))});
        }
        plot.line(std::move(line));
    }
    return plot.svg();
}

// Latency by percentile; each further nine has the same width: 50 %, 90 %, 99 %, ...
std::string distribution_plot(const Group& group) {
    constexpr double kNines = 5;
    Plot plot(fmt::format("{}: latency by percentile", group.name), "percentile");
    double least = 1e18;
    double most = 0;
    std::vector<Histogram> latencies;
    for (const Measurement* measurement : group.measurements) {
        latencies.push_back(measurement->load.all());
        least = std::min(least, static_cast<double>(latencies.back().quantile(0.01)));
        most = std::max(most, static_cast<double>(latencies.back().max()));
    }
    const Decades decades = add_decades(plot, least, most);
    constexpr std::string_view kNames[] = {"0", "90", "99", "99.9", "99.99", "99.999"};
    for (std::size_t i = 0; i < std::size(kNames); ++i) {
        plot.x_tick(static_cast<double>(i) / kNines, std::string(kNames[i]));
    }
    for (std::size_t i = 0; i < latencies.size(); ++i) {
        Line line{group.measurements[i]->asked.name(), {}};
        for (double at = 0; at <= 1.0001; at += 0.02) {
            const double share = 1 - std::pow(10, -at * kNines);
            // Only as far as there are responses.
            if ((1 - share) * static_cast<double>(latencies[i].count()) < 0.999) {
                break;
            }
            line.points.push_back(
                {at, decades.at(static_cast<double>(latencies[i].quantile(share))), ""});
        }
        plot.line(std::move(line));
    }
    return plot.svg();
}

// The stores are polled every 10 ms: a lag below this is none.
constexpr double kLeastLagNs = 1e6;

// How far behind a follower was, by the time at which the source had the versions.
std::string lag_plot(const Measurement& measurement) {
    Plot plot(fmt::format("{}: lag over time", measurement.asked.name()), "seconds");
    double least = 1e18;
    double most = 0;
    double end = 0;
    for (const auto& [at, lag] : measurement.lags) {
        least = std::min(least, std::max(lag * 1e9, kLeastLagNs));
        most = std::max(most, lag * 1e9);
        end = std::max(end, at);
    }
    const Decades decades = add_decades(plot, least, most);
    const double step = round_up(end / 8);
    for (double at = 0; at <= end; at += step) {
        plot.x_tick(at / end, number_text(at));
    }
    Line line{"lag", {}};
    for (const auto& [at, lag] : measurement.lags) {
        line.points.push_back({at / end, decades.at(lag * 1e9), ""});
    }
    plot.line(std::move(line));
    return plot.svg();
}

// The best of each workload compared with the machine's limit: a grey bar, as long in every row. A faster workload's bar is
// longer.
std::string ratio_plot(const std::vector<Group>& groups) {
    std::vector<const Measurement*> bests;
    double longest = 1;
    for (const Group& group : groups) {
        const Measurement* const best = *std::max_element(
            group.measurements.begin(), group.measurements.end(),
            [](const Measurement* a, const Measurement* b) { return a->rate() < b->rate(); });
        if (best->limit > 0) {
            bests.push_back(best);
            longest = std::max(longest, best->rate() / best->limit);
        }
    }
    std::string rows;
    for (const Measurement* const best : bests) {
        const double ratio = best->rate() / best->limit;
        rows += fmt::format(
            R"(<tr><td>{}</td><td class="bar"><svg class="c0" viewBox="0 0 100 10" preserveAspectRatio="none">)"
            R"(<rect class="all" width="{:.1f}" height="10"/><rect class="some" width="{:.1f}" height="10"/></svg></td>)"
            R"(<td class="text">{:.2f} of {}</td></tr>)",
            escaped(best->asked.name()), 100 / longest, 100 * ratio / longest, ratio,
            escaped(best->limit_name));
    }
    return rows.empty()
               ? rows
               : fmt::format(
                     "<h2>Compared with what the machine can do</h2>"
                     R"(<p class="facts">Grey: the limit.</p><table class="bars">{}</table>)",
                     rows);
}

std::string table_row(std::string_view name, double rate, std::string_view unit,
                      const Histogram& latency, std::string_view limit, std::uint64_t errors,
                      bool part) {
    return fmt::format(
        R"(<tr{}><td>{}</td><td>{:.0f}</td><td class="text">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>)"
        R"(<td class="text">{}</td><td{}>{}</td></tr>)",
        part ? R"( class="part")" : "", escaped(name), rate, unit, quantile_text(latency, 0.5),
        quantile_text(latency, 0.9), quantile_text(latency, 0.99), quantile_text(latency, 0.999),
        escaped(limit), errors > 0 ? R"( class="bad")" : "", part ? "" : std::to_string(errors));
}

std::string sync_row(std::string_view name, const Histogram& latency) {
    return fmt::format(
        R"(<tr><td>{}</td><td></td><td></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td></td><td></td></tr>)",
        name, quantile_text(latency, 0.5), quantile_text(latency, 0.9),
        quantile_text(latency, 0.99), quantile_text(latency, 0.999));
}

std::string table(const Report& report) {
    std::string out =
        R"(<div class="wide"><table><thead><tr><th>workload</th><th>rate</th><th class="text"></th><th>p50</th><th>p90</th><th>p99</th>)"
        R"(<th>p99.9</th><th class="text">of the limit</th><th>errors</th></tr></thead><tbody>)";
    if (report.limits) {
        const Limits& limits = *report.limits;
        out += table_row("bare GET", limits.gets, "requests/s", limits.get_latency, "", 0, false);
        out += table_row("bare durable POST", limits.posts(), "requests/s", limits.post_latency, "",
                         0, false);
        for (std::size_t i = 0; i < kGroupSizes.size(); ++i) {
            out += fmt::format(
                R"(<tr><td>append, {} per sync</td><td>{:.0f}</td><td class="text">records/s</td><td colspan="6"></td></tr>)",
                kGroupSizes[i], limits.appends[i]);
        }
        out += sync_row("sync of 4 KiB", limits.sync_4k);
        out += sync_row("sync of 64 KiB", limits.sync_64k);
    }
    for (const Measurement& measurement : report.measurements) {
        out += table_row(measurement.asked.name(), measurement.rate(),
                         measurement.asked.workload->unit, measurement.load.all(),
                         measurement.limit > 0
                             ? fmt::format("{:.2f} of {}", measurement.rate() / measurement.limit,
                                           measurement.limit_name)
                             : "",
                         measurement.load.errors, false);
        for (std::size_t i = 0; i < measurement.operations.size(); ++i) {
            const Histogram& latency = measurement.load.operations[i];
            out += table_row(measurement.operations[i],
                             static_cast<double>(latency.count()) / measurement.load.seconds,
                             "requests/s", latency, "", 0, true);
        }
        std::string below = remarks(report, measurement);
        if (measurement.load.errors > 0) {
            below += "; first error: " + tools::plain(measurement.load.first_error);
        }
        out += fmt::format(R"(<tr class="part"><td colspan="9" class="text below">{}</td></tr>)",
                           escaped(below));
    }
    return out + "</tbody></table></div>";
}

}  // namespace

std::string html_of(const Report& report) {
    const Settings& settings = report.settings;
    std::string out = fmt::format(
        R"(<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>annals bench</title><style>{}</style></head>)"
        R"(<body><h1>annals bench</h1><p class="facts">{}</p>)"
        R"(<p class="facts">{}; {} s each after {} s of warm-up, seed {}</p><h2>Figures</h2>)",
        kStyle, described(report.machine, R"(</p><p class="facts">)"), escaped(placed(settings)),
        settings.seconds, settings.warm_up, settings.seed);
    out += table(report);
    const std::vector<Group> groups = groups_of(report);
    out += ratio_plot(groups);
    for (const Group& group : groups) {
        const Measurement& first = *group.measurements.front();
        if (!first.lags.empty()) {
            out += fmt::format(R"(<h2>{}</h2><div class="plots">)", escaped(group.name));
            for (const Measurement* measurement : group.measurements) {
                out += measurement->lags.empty() ? "" : lag_plot(*measurement);
            }
            out += distribution_plot(group) + "</div>";
        }
        if (first.asked.workload->own_server) {
            continue;
        }
        out += fmt::format(R"(<h2>{}</h2><div class="plots">)", escaped(group.name));
        if (group.measurements.size() > 1) {
            out += throughput_plot(group) + latency_plot(group);
        }
        out += distribution_plot(group) + "</div>";
    }
    return out + "</body></html>\n";
}

}  // namespace annals::bench
