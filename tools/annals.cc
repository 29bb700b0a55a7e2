// annals: one binary, one table of subcommands.

#include "tools/commands/commands.h"
#include "tools/commands/progress.h"
#include "tools/commands/signals.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

namespace annals::tools {

namespace {

struct Command {
    std::string_view name;
    std::string_view summary;
    int (*run)(const ArgumentList& arguments);
};

constexpr Command kCommands[] = {
    {"serve", "serve a data directory over HTTP", serve},
    {"verify", "read a whole store and check every checksum", verify_store},
    {"backup", "copy a store, or bring an existing backup up to date", back_up_store},
    {"restore", "create a store from a backup, whole or up to a position or instant",
     restore_store},
    {"compact", "remove old versions and free the space of erased data", compact_store},
    {"export", "write a store's resources or its history as NDJSON", export_store},
    {"import", "load NDJSON and Bundles into a store or a server", import_files},
    {"replicate", "copy one server's history to another", replicate},
    {"generate", "generate realistic, seeded, linked clinical data of any size", run_generate},
    {"bench", "measure a server and compare it with what the machine can do", run_bench},
};

constexpr std::string_view kUsageLine =
    "usage: annals COMMAND [OPTION]... (annals --help lists the commands)";

std::string usage() {
    std::string text =
        "usage: annals COMMAND [OPTION]...\n\n"
        "A versioned FHIR R4 resource store.\n\ncommands:\n";
    for (const Command& command : kCommands) {
        text.append("  ").append(command.name);
        text.append(command.name.size() < 12 ? 12 - command.name.size() : 1, ' ');
        text.append(command.summary).append("\n");
    }
    text.append(
        "\nannals COMMAND --help explains a command; annals --version prints the version.\nExit "
        "codes: 0 done, 1 found or met faults, 2 could not start.\n");
    return text;
}

/// Without AVX2 and the like, as on many virtual machines by default, a program compiled for x86-64-v3 dies of SIGILL without
/// a word. So this runs before everything else in the program and is compiled for any x86-64.
__attribute__((constructor(101), target("arch=x86-64"))) void refuse_older_processors() {
    static constexpr char kLine[] =
        "annals: cannot start: this processor lacks AVX2, BMI2 or FMA (x86-64-v3); on a virtual "
        "machine, set the CPU type to 'host'\n";
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2") ||
        !__builtin_cpu_supports("fma")) {
        static_cast<void>(::write(STDERR_FILENO, kLine, sizeof kLine - 1));
        ::_exit(kExitUsage);
    }
}

/// /dev/null, or where there is none (a chroot), a directory, which takes no output either.
int open_nothing() {
    const int fd = ::open("/dev/null", O_RDWR);
    return fd >= 0 ? fd : ::open("/", O_RDONLY);
}

/// Log lines must not end up in a segment: if one of the three standard descriptors were closed at start, the first file opened
/// would get its number.
void hold_standard_descriptors() {
    for (int fd = open_nothing(); fd >= 0; fd = open_nothing()) {
        if (fd > STDERR_FILENO) {
            ::close(fd);
            return;
        }
    }
}

/// As the first process of a container, we only get signals that we handle: Ctrl-C and `docker stop` would wait for SIGKILL.
void take_signals_as_first_process() {
    if (::getpid() != 1) {
        return;
    }
    handle_unless_ignored({SIGHUP, SIGINT, SIGQUIT, SIGTERM},
                          [](int signal) { ::_exit(128 + signal); });
}

/// Gives threads at least 8 MiB of stack. By default they get what `ulimit -s` says (2 MiB if `unlimited`); with 128 kB, a
/// filter of forty parentheses crashed the process.
void give_threads_stacks() {
    constexpr std::size_t kStack = std::size_t{8} << 20U;
    pthread_attr_t defaults{};
    if (::pthread_getattr_default_np(&defaults) != 0) {
        return;
    }
    std::size_t stack = kStack;
    if (::pthread_attr_getstacksize(&defaults, &stack) == 0 && stack < kStack &&
        ::pthread_attr_setstacksize(&defaults, kStack) == 0) {
        ::pthread_setattr_default_np(&defaults);
    }
    ::pthread_attr_destroy(&defaults);
}

/// `code`, or a fault if output to stdout could not be written (a full device).
int after_telling(int code) {
    const int fault = std::fflush(stdout) == 0 ? 0 : errno;
    if (fault == 0 && std::ferror(stdout) == 0) {
        return code;
    }
    std::fprintf(stderr, "annals: stdout: %s\n",
                 fault == 0 ? "cannot be written" : std::strerror(fault));
    return code == kExitDone ? kExitFaults : code;
}

int run_command(const std::string& name, const ArgumentList& arguments) {
    const auto* const command = std::ranges::find(kCommands, name, &Command::name);
    if (command == std::end(kCommands)) {
        say_line("annals: unknown command '" + name + "'");
        say_line(kUsageLine);
        return kExitUsage;
    }
    return command->run(arguments);
}

bool asks_for_help(std::string_view argument) {
    return argument == "help" || argument == "--help" || argument == "-h";
}

int run(const ArgumentList& arguments) {
    hold_standard_descriptors();
    take_signals_as_first_process();
    give_threads_stacks();
    // A write beyond the file size limit (ulimit -f) then fails like one to a full device.
    std::signal(SIGXFSZ, SIG_IGN);
    if (arguments.empty()) {
        say_line("annals: no command given");
        say_line(kUsageLine);
        return kExitUsage;
    }
    const std::string& name = arguments.front();
    ArgumentList rest(arguments.begin() + 1, arguments.end());
    if (name == "help" && !rest.empty()) {
        if (rest.size() == 1 && !asks_for_help(rest.front())) {
            return run_command(rest.front(), {"--help"});
        }
        rest.erase(rest.begin());
    }
    const bool version = name == "--version";
    if (version || asks_for_help(name)) {
        if (!rest.empty()) {
            say_line("annals " + name +
                     ": The following argument was not expected: " + rest.front());
            say_line(kUsageLine);
            return kExitUsage;
        }
        std::fputs(version ? "annals " ANNALS_VERSION "\n" : usage().c_str(), stdout);
        return kExitDone;
    }
    return run_command(name, rest);
}

}  // namespace

}  // namespace annals::tools

int main(int argc, char** argv) {
    // Says `why` and `more` without allocating memory.
    const auto end = [](const char* why, const char* more) {
        const bool ran = annals::tools::Progress::has_begun();
        std::fprintf(stderr, "annals: %s%s%s\n", ran ? "" : "cannot start: ", why, more);
        return ran ? annals::tools::kExitFaults : annals::tools::kExitUsage;
    };
    try {
        return annals::tools::after_telling(
            annals::tools::run(annals::tools::ArgumentList(argv + 1, argv + argc)));
    } catch (const std::system_error& refused) {
        // A start can't do without threads and descriptors.
        const bool thread = refused.code() == std::errc::resource_unavailable_try_again;
        return end(refused.what(),
                   thread ? ": no more threads are available (ulimit -u, pids.max, memory)" : "");
    } catch (const std::bad_alloc&) {
        return end("not enough memory (ulimit -v)", "");
    }
}
