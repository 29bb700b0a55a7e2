#include "tools/commands/progress.h"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>

namespace annals::tools {

namespace {

constexpr auto kInterval = std::chrono::milliseconds(200);

std::string duration_text(double seconds) {
    const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
    if (whole < 60) {
        return fmt::format("{} s", whole);
    }
    if (whole < 3600) {
        return fmt::format("{} min {} s", whole / 60, whole % 60);
    }
    return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

Progress::Progress(std::string what, std::uint64_t share_total, bool quiet)
    : what_(std::move(what)),
      share_total_(share_total),
      shown_(!quiet && ::isatty(STDERR_FILENO) == 1),
      started_(std::chrono::steady_clock::now()),
      next_(started_ + kInterval) {
}

Progress::~Progress() {
    finish();
}

double Progress::seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
}

void Progress::update(std::uint64_t units, std::uint64_t share_done) {
    units_ = units;
    share_done_ = share_done;
    if (!shown_) {
        return;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) {
        return;
    }
    next_ = now + kInterval;
    show();
}

void Progress::finish() {
    if (!shown_ || !dirty_) {
        return;
    }
    show();
    std::fputc('\n', stderr);
    dirty_ = false;
}

void Progress::show() {
    const double elapsed = seconds();
    const double rate = elapsed > 0 ? static_cast<double>(units_) / elapsed : 0;
    std::string line = fmt::format("\r{} {}, {:.0f}/s", units_, what_, rate);
    if (share_total_ > 0) {
        const double share =
            std::min(1.0, static_cast<double>(share_done_) / static_cast<double>(share_total_));
        line += fmt::format(", {:.0f} %", share * 100);
        if (share > 0 && share < 1) {
            line += ", " + duration_text(elapsed / share - elapsed) + " left";
        }
    }
    line += "\x1b[K";
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
    dirty_ = true;
}

}  // namespace annals::tools
