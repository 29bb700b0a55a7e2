// A store that follows another: how far it lags behind while that is written to.

#include "storage/file_system.h"
#include "tools/bench/bench.h"
#include "tools/bench/process.h"
#include "tools/bench/workloads.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace annals::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{10};
constexpr std::chrono::seconds kCatchUpMax{60};
constexpr std::string_view kVersions = "annals_store_versions";

// The number of versions in both stores at one time.
struct Sample {
    double at = 0;
    double source = 0;
    double target = 0;
};

// Polls both stores on a thread of its own.
class Watch {
  public:
    Watch(const Site& source, const Site& target)
        : begin_(Clock::now()), thread_([this, source, target] {
              while (!done_) {
                  look(source, target);
                  std::this_thread::sleep_for(kTick);
              }
          }) {}

    ~Watch() { stop(); }

    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    double now() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

    /// The newest sample; zeros if there is none yet.
    Sample newest() const {
        const std::lock_guard lock(mutex_);
        return samples_.empty() ? Sample{} : samples_.back();
    }

    const std::vector<Sample>& stop() {
        done_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
        return samples_;
    }

  private:
    void look(const Site& source, const Site& target) {
        const double at = now();
        const auto ahead = metric(source, kVersions);
        const auto behind = metric(target, kVersions);
        if (ahead && behind) {
            const std::lock_guard lock(mutex_);
            samples_.push_back({at, *ahead, *behind});
        }
    }

    Clock::time_point begin_;
    mutable std::mutex mutex_;
    std::vector<Sample> samples_;
    std::atomic<bool> done_ = false;
    std::thread thread_;
};

// Adds a lag for each sample with something new in the source: the time until the target had it.
void add_lags(const std::vector<Sample>& samples, Measurement& measurement) {
    std::size_t reached = 0;
    double seen = 0;
    for (const Sample& sample : samples) {
        if (sample.source == seen) {
            continue;
        }
        seen = sample.source;
        while (reached < samples.size() &&
               (samples[reached].target < seen || samples[reached].at < sample.at)) {
            ++reached;
        }
        if (reached == samples.size()) {
            return;
        }
        const double lag = samples[reached].at - sample.at;
        measurement.lags.emplace_back(sample.at, lag);
        measurement.load.operations[0].record(static_cast<std::uint64_t>(lag * 1e9));
    }
}

Result<void> wait_until_caught_up(const Watch& watch) {
    const Clock::time_point end = Clock::now() + kCatchUpMax;
    while (Clock::now() < end) {
        const Sample newest = watch.newest();
        if (newest.source > 0 && newest.target >= newest.source) {
            return {};
        }
        std::this_thread::sleep_for(kTick);
    }
    return Error{Errc::io,
                 fmt::format("the follower did not catch up within {} s", kCatchUpMax.count())};
}

}  // namespace

Result<void> measure_replication(const Settings& settings, const std::string& folder,
                                 Measurement& measurement) {
    const std::string source_folder = folder + "/source";
    const std::string target_folder = folder + "/target";
    for (const std::string& made : {source_folder, target_folder}) {
        ANNALS_TRY_VOID(storage::posix_file_system().make_directory(made));
    }
    ANNALS_TRY(Process source, start_server(settings, source_folder, settings.client_cpu));
    ANNALS_TRY(Process target, start_server(settings, target_folder, settings.server_cpu));
    ANNALS_TRY(const Site from, site_of(source.told(), settings));
    ANNALS_TRY(const Site to, site_of(target.told(), settings));
    ANNALS_TRY(Process follower,
               Process::run_self({"replicate", "--from", source.told(), "--to", target.told(),
                                  "--follow", "--state", folder + "/state", "-q"},
                                 folder + "/log", {}, settings.client_cpu));

    const std::vector<Body> bodies = usual_bodies(settings.seed);
    Watch watch(from, to);
    const double begin = watch.now();
    LoadOptions options = load_options(from, settings, true);
    options.polls = false;  // the source and the follower run on the client's core
    ANNALS_TRY(LoadResult load,
               run_load(options, creates(from, bodies, measurement.asked.connections, true)));
    const Sample at_end = watch.newest();
    const double seconds = watch.now() - begin;
    ANNALS_TRY_VOID(wait_until_caught_up(watch));
    const double caught_up = watch.now() - begin - seconds;
    add_lags(watch.stop(), measurement);

    measurement.rate_asked = settings.rate;
    measurement.load.requests = load.requests;
    measurement.load.errors = load.errors;
    measurement.load.first_error = load.first_error;
    measurement.load.busy = load.busy;
    measurement.load.unsent = load.unsent;
    measurement.load.units = static_cast<std::uint64_t>(at_end.target);
    measurement.load.seconds = seconds;
    measurement.extras.emplace_back("creates/s at the source",
                                    static_cast<double>(load.units) / load.seconds);
    measurement.extras.emplace_back("versions behind at the end", at_end.source - at_end.target);
    measurement.extras.emplace_back("seconds to catch up", caught_up);
    follower.stop();
    ANNALS_TRY_VOID(stop_server(source));
    return stop_server(target);
}

}  // namespace annals::bench
