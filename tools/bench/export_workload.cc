// Full exports, from the kick-off to the last byte of the last file.

#include "codec/json/document.h"
#include "tools/bench/bench.h"
#include "tools/commands/bundle_answers.h"
#include "tools/commands/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace annals::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Shorter than Retry-After, since the export is measured and not the pauses; but long enough that a server
// needn't slow us down.
constexpr std::chrono::duration<double> kFirstPause(0.005);
constexpr std::chrono::duration<double> kLongestPause(0.1);
constexpr double kPauseGrowth = 1.125;

// The results of one export.
struct Exported {
    std::uint64_t resources = 0;
    std::uint64_t bytes = 0;
    double making = 0;  ///< seconds until the files were available
};

Result<tools::HttpReply> ask(tools::HttpClient& client, const Site& site, std::string_view method,
                             std::string target, bool begins = false) {
    tools::HttpRequest request;
    request.method = method;
    request.target = std::move(target);
    request.headers = site.header_fields();
    if (begins) {
        request.headers.emplace_back("Prefer", "respond-async");
        request.headers.emplace_back("Accept", "application/fhir+json");
    }
    return client.send(request);
}

Error refused(std::string_view what, const tools::HttpReply& reply) {
    json::Parser parser;
    return {Errc::io, fmt::format("{} was answered {}: {}", what, reply.status,
                                  tools::outcome_text(parser, reply.body))};
}

Result<Exported> export_once(tools::HttpClient& client, const Site& site) {
    const Clock::time_point begin = Clock::now();
    ANNALS_TRY(const tools::HttpReply accepted,
               ask(client, site, "GET", site.base + "/$export", true));
    const auto location = accepted.header("Content-Location");
    if (accepted.status != 202 || !location) {
        return refused("$export", accepted);
    }
    const std::string status = tools::request_target(*location);
    tools::HttpReply manifest;
    auto pause = kFirstPause;
    do {
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * kPauseGrowth, kLongestPause);
        ANNALS_TRY(manifest, ask(client, site, "GET", status));
    } while (manifest.status == 202);
    if (manifest.status != 200) {
        return refused("the status of an export", manifest);
    }
    Exported exported;
    exported.making = std::chrono::duration<double>(Clock::now() - begin).count();
    json::Parser parser;
    ANNALS_TRY(const json::Document document, parser.parse(manifest.body));
    for (const json::Value output : document.root()["output"].elements()) {
        ANNALS_TRY(const tools::HttpReply file,
                   ask(client, site, "GET", tools::request_target(output["url"].string())));
        if (file.status != 200) {
            return refused("a file of an export", file);
        }
        exported.resources +=
            static_cast<std::uint64_t>(std::count(file.body.begin(), file.body.end(), '\n'));
        exported.bytes += file.body.size();
    }
    ANNALS_TRY_VOID(ask(client, site, "DELETE", status));
    return exported;
}

}  // namespace

Result<void> measure_exports(const Site& site, const Settings& settings, Measurement& measurement) {
    ANNALS_TRY(const std::uint64_t filled, fill(site, settings));
    tools::HttpClient client(site.url(site.base));
    LoadResult& load = measurement.load;
    double making = 0;
    const Clock::time_point begin = Clock::now();
    do {
        const Clock::time_point one = Clock::now();
        ANNALS_TRY(const Exported exported, export_once(client, site));
        load.operations[0].record(static_cast<std::uint64_t>((Clock::now() - one).count()));
        ++load.requests;
        load.units += exported.resources;
        load.bytes_received += exported.bytes;
        making += exported.making;
        load.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    } while (load.seconds < settings.seconds);
    const auto exports = static_cast<double>(load.requests);
    measurement.extras.emplace_back("versions in the store", static_cast<double>(filled));
    measurement.extras.emplace_back("resources per export",
                                    static_cast<double>(load.units) / exports);
    measurement.extras.emplace_back("MB per export",
                                    static_cast<double>(load.bytes_received) / exports / 1e6);
    measurement.extras.emplace_back("ms until the files are there", making / exports * 1e3);
    return {};
}

}  // namespace annals::bench
