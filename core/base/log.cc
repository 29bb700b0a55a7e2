#include "core/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>

namespace annals {
namespace {

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

void write(spdlog::level::level_enum level, std::string_view line) {
    std::string plain(line);
    std::ranges::replace_if(plain, is_control, ' ');
    logger().log(level, spdlog::string_view_t(plain.data(), plain.size()));
}

}  // namespace

void set_log_level(LogLevel level) {
    switch (level) {
        case LogLevel::debug:
            logger().set_level(spdlog::level::debug);
            return;
        case LogLevel::info:
            logger().set_level(spdlog::level::info);
            return;
        case LogLevel::warning:
            logger().set_level(spdlog::level::warn);
            return;
        case LogLevel::error:
            logger().set_level(spdlog::level::err);
            return;
        case LogLevel::off:
            logger().set_level(spdlog::level::off);
            return;
    }
}

void log_debug(std::string_view line) {
    write(spdlog::level::debug, line);
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
