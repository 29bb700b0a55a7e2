#include "tests/support/child_process.h"

#include "core/base/check.h"
#include "tests/support/files.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

extern char** environ;

namespace annals::test {

namespace {

constexpr std::chrono::milliseconds kPoll{5};

std::string temporary_file() {
    std::string path = (std::filesystem::temp_directory_path() / "annals-child-XXXXXX").string();
    const int fd = ::mkstemp(path.data());
    ANNALS_CHECK(fd >= 0);
    ::close(fd);
    return path;
}

}  // namespace

// Output goes to files: a child that nobody reads from never blocks.
ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
                           const std::string& stdin_path)
    : output_path_(temporary_file()), errors_path_(temporary_file()) {
    std::vector<std::string> words = {program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, stdin_path.c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, output_path_.c_str(), O_WRONLY | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, errors_path_.c_str(), O_WRONLY | O_TRUNC, 0600);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    // The tests may run under nohup, or in the background of a script; a child would then ignore SIGHUP or SIGINT.
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGHUP);
    sigaddset(&defaults, SIGINT);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int failed =
        ::posix_spawn(&pid_, program.c_str(), &actions, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    ANNALS_CHECK(failed == 0, program);
}

ChildProcess::~ChildProcess() {
    if (running()) {
        kill(SIGKILL);
        wait(std::chrono::seconds(10));
    }
    std::error_code ec;
    std::filesystem::remove(output_path_, ec);
    std::filesystem::remove(errors_path_, ec);
}

void ChildProcess::kill(int signal) {
    if (!status_) {
        ::kill(pid_, signal);
    }
}

bool ChildProcess::running() {
    return !wait(std::chrono::milliseconds(0)).has_value();
}

std::optional<int> ChildProcess::wait(std::chrono::milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!status_) {
        int status = 0;
        const pid_t done = ::waitpid(pid_, &status, WNOHANG);
        if (done == pid_) {
            status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
            break;
        }
        if (std::chrono::steady_clock::now() >= end) {
            return std::nullopt;
        }
        std::this_thread::sleep_for(kPoll);
    }
    return status_;
}

std::optional<std::string> ChildProcess::wait_for_line(const std::string& prefix,
                                                       std::chrono::milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (true) {
        const bool ended = !running();
        std::istringstream text(output());
        std::string line;
        while (std::getline(text, line)) {
            if (line.starts_with(prefix) && !text.eof()) {
                return line;
            }
        }
        if (ended || std::chrono::steady_clock::now() >= end) {
            return std::nullopt;
        }
        std::this_thread::sleep_for(kPoll);
    }
}

std::string ChildProcess::output() const {
    return read_whole_file(output_path_);
}

std::string ChildProcess::errors() const {
    return read_whole_file(errors_path_);
}

Finished run_program(const std::string& program, const std::vector<std::string>& arguments,
                     std::chrono::milliseconds limit, const std::string& stdin_path) {
    ChildProcess child(program, arguments, stdin_path);
    Finished finished;
    if (const auto code = child.wait(limit)) {
        finished.exit_code = *code;
    } else {
        child.kill(SIGKILL);
        child.wait(std::chrono::seconds(10));
    }
    finished.output = child.output();
    finished.errors = child.errors();
    return finished;
}

int lasting_port() {
    constexpr int kFirst = 10'000;
    int end = 32'768;
    std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> end;
    if (end <= kFirst) {
        end = 65'536;  // all are ephemeral
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::mt19937 random(std::random_device{}());
    while (true) {
        const int port = std::uniform_int_distribution(kFirst, end - 1)(random);
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ANNALS_CHECK(fd >= 0);
        const bool is_free =
            ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
        ::close(fd);
        if (is_free) {
            return port;
        }
    }
}

std::string url_when_ready(ChildProcess& server) {
    const std::string prefix = "annals ready on ";
    const auto line = server.wait_for_line(prefix, std::chrono::seconds(30));
    return line ? line->substr(prefix.size()) : std::string();
}

RunningServer::RunningServer(const std::string& binary, const std::string& data,
                             const std::vector<std::string>& more_arguments, int port)
    : process_(binary, [&] {
          std::vector<std::string> arguments = {"serve", "--data", data, "--listen",
                                                "127.0.0.1:" + std::to_string(port)};
          arguments.insert(arguments.end(), more_arguments.begin(), more_arguments.end());
          return arguments;
      }()) {
    url_ = url_when_ready(process_);
    port_ = std::atoi(url_.substr(url_.rfind(':') + 1).c_str());
}

}  // namespace annals::test
