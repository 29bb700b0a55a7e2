#include "tools/commands/progress.h"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <utility>

namespace annals::tools {

namespace {

constexpr auto kInterval = std::chrono::milliseconds(200);

// Import lanes report lines while the main thread shows the progress.
std::mutex g_stderr;
std::size_t g_passing = 0;  ///< the length of the passing line; 0: none is shown
std::atomic<bool> g_begun{false};

void write_stderr(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

/// How much fits into a line of the terminal: "\r" does not lead back over the lines of a longer one.
std::size_t passing_max() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1
               ? size.ws_col - 1U
               : std::string_view::npos;
}

/// Moves to the start of the passing line, and erases it without a command that simple terminals (TERM=dumb) lack.
/// Requires: g_stderr is locked.
std::string erase_passing() {
    const std::size_t length = std::exchange(g_passing, 0);
    return length == 0 ? "" : fmt::format("\r{:{}}\r", "", length);
}

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

std::string plain(std::string_view text) {
    std::string line(text);
    for (std::size_t i = 0; i < line.size(); ++i) {
        const auto byte = static_cast<unsigned char>(line[i]);
        // Terminals also take some of the Unicode characters U+0080 to U+009F for commands.
        const bool second = byte >= 0x80 && byte < 0xa0 && i > 0 && line[i - 1] == '\xc2';
        if (second) {
            line[i - 1] = ' ';
        }
        if (second || byte < 0x20 || byte == 0x7f) {
            line[i] = ' ';
        }
    }
    return line;
}

void say_line(std::string_view text) {
    const std::string line = plain(text) + '\n';
    const std::lock_guard lock(g_stderr);
    write_stderr(erase_passing() + line);
}

void show_passing(std::string_view line) {
    const std::lock_guard lock(g_stderr);
    const std::string_view shown = line.substr(0, passing_max());
    // Overwritten in place: erased first, it would flicker.
    write_stderr(fmt::format("\r{:<{}}", shown, g_passing));
    g_passing = shown.size();
}

void clear_passing() {
    const std::lock_guard lock(g_stderr);
    write_stderr(erase_passing());
}

Progress::Progress(std::string what, std::uint64_t share_total, bool quiet)
    : what_(std::move(what)),
      share_total_(share_total),
      shown_(!quiet && ::isatty(STDERR_FILENO) == 1),
      started_(std::chrono::steady_clock::now()),
      next_(started_ + kInterval) {
    g_begun = true;
}

bool Progress::has_begun() noexcept {
    return g_begun;
}

Progress::~Progress() {
    finish();
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
    show_passing(line());
    dirty_ = true;
}

void Progress::finish() {
    if (!shown_ || !dirty_) {
        return;
    }
    say_line(line());
    dirty_ = false;
}

void Progress::finish_whole() {
    share_done_ = share_total_;
    finish();
}

std::string Progress::line() const {
    const double elapsed =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
    const double rate = elapsed > 0 ? static_cast<double>(units_) / elapsed : 0;
    std::string line = fmt::format("{} {}, {:.0f}/s", units_, what_, rate);
    if (share_total_ > 0) {
        const double share =
            std::min(1.0, static_cast<double>(share_done_) / static_cast<double>(share_total_));
        line += fmt::format(", {:.0f} %", share * 100);
        if (share > 0 && share < 1) {
            line += ", " + duration_text(elapsed / share - elapsed) + " left";
        }
    }
    return line;
}

}  // namespace annals::tools
