#include "tools/commands/patience.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace annals::tools {

void Patience::wait(const std::string& why, std::chrono::milliseconds time) const {
    if (say) {
        say(fmt::format("{}; retrying in {} ms", why, time.count()));
    }
    using Clock = std::chrono::steady_clock;
    const auto wake = Clock::now() + time;
    while (Clock::now() < wake && !ends()) {
        std::this_thread::sleep_for(
            std::min<Clock::duration>(std::chrono::milliseconds(100), wake - Clock::now()));
    }
}

}  // namespace annals::tools
