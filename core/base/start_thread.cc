#include "core/base/start_thread.h"

#include "core/base/log.h"
#include "core/base/thread_name.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <system_error>
#include <utility>

namespace annals {

namespace {

constexpr std::chrono::seconds kWarningInterval{10};

void warn(const std::string& why) {
    using Clock = std::chrono::steady_clock;
    static std::atomic<Clock::duration> next{Clock::duration::min()};
    const Clock::duration time = Clock::now().time_since_epoch();
    Clock::duration due = next.load();
    if (time >= due && next.compare_exchange_strong(due, time + kWarningInterval)) {
        log_warning(why);
    }
}

}  // namespace

Result<std::jthread> start_thread(const char* name, std::function<void()> work) {
    try {
        return std::jthread([name, work = std::move(work)] {
            name_thread(name);
            work();
        });
    } catch (const std::system_error& refused) {
        std::string why =
            fmt::format("cannot start a thread for {}: {}", name, refused.code().message());
        warn(why);
        return Error{Errc::overloaded, std::move(why)};
    }
}

}  // namespace annals
