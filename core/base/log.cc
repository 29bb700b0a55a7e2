#include "core/base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace annals {
namespace {

/// A line, together with the one about dropped lines before it, fits into a pipe that poll() reports as writable.
constexpr std::size_t kLineBytesMax = 3900;

/// How long a reader of the lines may block before lines are dropped.
constexpr int kPatienceMs = 100;

/// Whether systemd has connected stderr to its journal: then it names the device and inode. (A program whose stderr was
/// redirected afterwards has inherited that name.)
bool is_journal() {
    const char* const named = std::getenv("JOURNAL_STREAM");
    struct stat facts{};
    return named != nullptr && ::fstat(STDERR_FILENO, &facts) == 0 &&
           named == std::to_string(facts.st_dev) + ":" + std::to_string(facts.st_ino);
}

/// What the journal takes for the priority of a line that begins with it (sd-daemon(3)).
std::string_view priority_of(spdlog::level::level_enum level) {
    return level >= spdlog::level::err ? "<3>" : level == spdlog::level::warn ? "<4>" : "<6>";
}

class PriorityFlag : public spdlog::custom_flag_formatter {
  public:
    void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
                spdlog::memory_buf_t& line) override {
        const std::string_view priority = priority_of(message.level);
        line.append(priority.data(), priority.data() + priority.size());
    }

    std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
        return std::make_unique<PriorityFlag>();
    }
};

spdlog::logger& logger() {
    static const std::shared_ptr<spdlog::logger> instance = [] {
        auto created = std::make_shared<spdlog::logger>(
            "annals", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        auto lines = std::make_unique<spdlog::pattern_formatter>();
        lines->add_flag<PriorityFlag>('*').set_pattern(std::string(is_journal() ? "%*" : "") +
                                                       "%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v");
        created->set_formatter(std::move(lines));
        created->flush_on(spdlog::level::info);
        return created;
    }();
    return *instance;
}

// Lines may contain text from clients, which could use line ends to forge lines of their own.
bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

/// Whether a line can be written without blocking. The reader may have stopped (a full pipe, a held terminal), and writing to
/// it would block every thread that logs, the log writer's and the network's among them.
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
        logger().warn("log: {} lines were dropped because nobody read them",
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

std::string_view error_priority() {
    return is_journal() ? priority_of(spdlog::level::err) : std::string_view();
}

}  // namespace annals
