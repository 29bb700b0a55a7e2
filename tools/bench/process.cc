#include "tools/bench/process.h"

#include "tools/bench/load.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

namespace annals::bench {
namespace {

constexpr auto kReadyMax = std::chrono::seconds(60);
constexpr auto kStopMax = std::chrono::seconds(30);
constexpr int kCouldNotStart = 2;  // an exit code of every subcommand

Error process_error(std::string_view what) {
    return Error{Errc::io, fmt::format("{}: {}", what, std::strerror(errno))};
}

std::string last_line(const std::string& path) {
    std::ifstream file(path);
    std::string last;
    for (std::string line; std::getline(file, line);) {
        last = line.empty() ? last : line;
    }
    return last;
}

}  // namespace

Result<Process> Process::run_function(const std::function<void(int out)>& body,
                                      std::string_view ready, int cpu) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return process_error("pipe");
    }
    const int parent = ::getpid();
    const int pid = ::fork();
    if (pid < 0) {
        ::close(ends[0]);
        ::close(ends[1]);
        return process_error("fork");
    }
    if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) {
            ::_exit(1);
        }
        ::close(ends[0]);
        pin_thread(cpu);
        body(ends[1]);
        ::_exit(0);
    }
    ::close(ends[1]);
    Process process(pid, ends[0]);
    ANNALS_TRY_VOID(process.wait_until_ready(ready));
    return process;
}

Result<Process> Process::run_self(const std::vector<std::string>& arguments, const std::string& log,
                                  std::string_view ready, int cpu) {
    std::vector<const char*> argv{"annals"};
    for (const std::string& argument : arguments) {
        argv.push_back(argument.c_str());
    }
    argv.push_back(nullptr);
    const auto run = [&](int out) {
        const int errors = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
        ::dup2(out, STDOUT_FILENO);
        ::dup2(errors, STDERR_FILENO);
        ::execv("/proc/self/exe", const_cast<char* const*>(argv.data()));
        ::_exit(127);
    };
    Result<Process> process = run_function(run, ready, cpu);
    if (!process) {
        // The log is removed with its folder.
        return Error{process.error().code,
                     fmt::format("{}: {}", process.error().detail, last_line(log))};
    }
    return process;
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      out_(std::exchange(other.out_, -1)),
      told_(std::move(other.told_)) {
}

Process& Process::operator=(Process&& other) noexcept {
    if (this != &other) {
        stop();
        pid_ = std::exchange(other.pid_, -1);
        out_ = std::exchange(other.out_, -1);
        told_ = std::move(other.told_);
    }
    return *this;
}

Process::~Process() {
    stop();
}

Result<void> Process::wait_until_ready(std::string_view ready) {
    if (ready.empty()) {
        return {};
    }
    const auto give_up = std::chrono::steady_clock::now() + kReadyMax;
    std::string said;
    while (true) {
        const std::size_t begin = said.find(ready);
        const std::size_t end = begin == std::string::npos ? begin : said.find('\n', begin);
        if (end != std::string::npos) {
            told_ = said.substr(begin + ready.size(), end - begin - ready.size());
            return {};
        }
        pollfd wait{out_, POLLIN, 0};
        if (std::chrono::steady_clock::now() > give_up) {
            return Error{Errc::io, "the server did not become ready within 60 seconds"};
        }
        if (::poll(&wait, 1, 1000) <= 0) {
            continue;
        }
        char text[512];
        const ssize_t got = ::read(out_, text, sizeof text);
        if (got <= 0) {
            const int code = stop();
            return Error{code == kCouldNotStart ? Errc::usage : Errc::io,
                         fmt::format("the server ended with code {} before it was ready", code)};
        }
        said.append(text, static_cast<std::size_t>(got));
    }
}

int Process::stop() {
    if (pid_ < 0) {
        return 0;
    }
    ::kill(pid_, SIGTERM);
    const auto give_up = std::chrono::steady_clock::now() + kStopMax;
    int status = 0;
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > give_up) {
            ::kill(pid_, SIGKILL);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    pid_ = -1;
    ::close(out_);
    out_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void Process::kill() noexcept {
    if (pid_ >= 0) {
        const int pid = std::exchange(pid_, -1);
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        ::close(std::exchange(out_, -1));
    }
}

std::uint64_t Process::resident_bytes() const {
    std::FILE* const file = std::fopen(fmt::format("/proc/{}/statm", pid_).c_str(), "r");
    if (file == nullptr) {
        return 0;
    }
    unsigned long long size = 0;
    unsigned long long resident = 0;
    const int read = std::fscanf(file, "%llu %llu", &size, &resident);
    std::fclose(file);
    return read == 2 ? resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace annals::bench
