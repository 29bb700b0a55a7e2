// The machine's own limits: the bare responders under the same load, and appends and syncs without a server.

#include "tools/bench/process.h"
#include "tools/bench/responder.h"
#include "tools/bench/working_folder.h"
#include "tools/bench/workloads.h"
#include "tools/bench/zeroed_file.h"

#include <chrono>
#include <thread>

namespace annals::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kRecordBytes = 1500;

Site site_at(const std::string& port) {
    return {"127.0.0.1", port, "/fhir", "127.0.0.1:" + port, "", false};
}

Result<LoadResult> respond(const Settings& settings, const ResponderOptions& options,
                           const std::vector<Body>& bodies) {
    ANNALS_TRY(Process process, Process::run_function([&](int out) { serve_barely(options, out); },
                                                      "ready ", settings.server_cpu));
    const Site site = site_at(process.told());
    const Conversations conversations =
        options.file.empty() ? fixed_gets(site, "/Observation/fixed", settings.connections)
                             : creates(site, bodies, settings.connections, false);
    LoadOptions load = load_options(site, settings, true);
    load.rate = 0;
    return run_load(load, conversations);
}

double rate_of(const LoadResult& load) {
    return load.seconds > 0 ? static_cast<double>(load.requests) / load.seconds : 0;
}

// Appends and syncs for a fraction of the time; returns syncs per second.
double sync_for(ZeroedFile& file, std::size_t bytes, double seconds, Histogram& latency) {
    const std::string data(bytes, 'a');
    const Clock::time_point begin = Clock::now();
    const Clock::time_point end =
        begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    std::uint64_t syncs = 0;
    Clock::time_point now = begin;
    while (now < end) {
        if (!file.append_and_sync(data)) {
            return 0;
        }
        const Clock::time_point then = Clock::now();
        latency.record(static_cast<std::uint64_t>((then - now).count()));
        now = then;
        ++syncs;
    }
    return static_cast<double>(syncs) / std::chrono::duration<double>(now - begin).count();
}

}  // namespace

Result<Limits> measure_limits(const Settings& settings) {
    ANNALS_TRY(const auto folder, WorkingFolder::create(settings.directory));
    const std::string path = folder->path() + "/zeros";
    ANNALS_TRY(ZeroedFile file, ZeroedFile::create(path, settings.disk_bytes));
    const std::vector<Body> bodies = usual_bodies(settings.seed);
    Limits limits;

    ResponderOptions options;
    ANNALS_TRY(const LoadResult gets, respond(settings, options, bodies));
    limits.gets = rate_of(gets);
    limits.get_latency = gets.all();
    limits.get_busy = gets.busy;

    options.file = path;
    options.file_bytes = settings.disk_bytes;
    ANNALS_TRY(const LoadResult posts_inline, respond(settings, options, bodies));
    limits.posts_inline = rate_of(posts_inline);
    options.commit = Commit::thread;
    ANNALS_TRY(const LoadResult posts_thread, respond(settings, options, bodies));
    limits.posts_thread = rate_of(posts_thread);
    const LoadResult& better =
        limits.posts_inline > limits.posts_thread ? posts_inline : posts_thread;
    limits.post_latency = better.all();
    limits.post_busy = better.busy;
    if (gets.errors + posts_inline.errors + posts_thread.errors > 0) {
        return Error{Errc::io, "the bare responder gave a wrong response"};
    }

    // Pinned to the server's core, like the log writer that it represents.
    std::thread disk([&] {
        pin_thread(settings.server_cpu);
        const double seconds = settings.seconds / 5;
        for (std::size_t i = 0; i < kGroupSizes.size(); ++i) {
            Histogram ignored;
            limits.appends[i] = static_cast<double>(kGroupSizes[i]) *
                                sync_for(file, kGroupSizes[i] * kRecordBytes, seconds, ignored);
        }
        sync_for(file, 4 << 10, seconds, limits.sync_4k);
        sync_for(file, 64 << 10, seconds, limits.sync_64k);
    });
    disk.join();
    return limits;
}

}  // namespace annals::bench
