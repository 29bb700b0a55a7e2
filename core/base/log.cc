#include "core/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace annals {
namespace {

/// A line, and the one about dropped ones before it, fit into a pipe that says it takes something.
constexpr std::size_t kLineBytesMax = 3900;

/// So long a reader of the lines may take nothing before they are dropped.
constexpr int kPatienceMs = 100;

spdlog::logger& logger() {
    static const std::shared_ptr<spdlog::logger> instance = [] {
        auto created = std::make_shared<spdlog::logger>(
            "annals", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        created->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v");
        created->flush_on(spdlog::level::info);
        return created;
    }();
    return *instance;
}

// What is told may hold text of clients: with an end of line in it they would write lines of their own.
bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

/// What reads the lines may stand still (a full pipe, a terminal that is held): writing to it would hold up every thread that has
/// something to say, the log writer's and those of the network among them, for as long as that lasts.
bool takes_a_line(int patience_ms) {
    pollfd lines{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    return ::poll(&lines, 1, patience_ms) != 0;
}

void write(spdlog::level::level_enum level, std::string_view line) {
    if (!logger().should_log(level)) {
        return;
    }
    static std::mutex mutex;
    static std::uint64_t dropped = 0;
    const std::lock_guard lock(mutex);
    if (!takes_a_line(dropped == 0 ? kPatienceMs : 0)) {
        ++dropped;
        return;
    }
    if (dropped > 0) {
        logger().warn("log: {} lines were dropped, for nobody read them",
                      std::exchange(dropped, 0));
    }
    std::string plain(line.substr(0, kLineBytesMax));
    std::ranges::replace_if(plain, is_control, ' ');
    logger().log(level, spdlog::string_view_t(plain.data(), plain.size()));
}

}  // namespace

void silence_log() {
    logger().set_level(spdlog::level::off);
}

void log_info(std::string_view line) {
    write(spdlog::level::info, line);
}

void log_warning(std::string_view line) {
    write(spdlog::level::warn, line);
}

void log_error(std::string_view line) {
    write(spdlog::level::err, line);
}

}  // namespace annals
