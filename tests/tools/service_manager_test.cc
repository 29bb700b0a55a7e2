#include "tools/commands/service_manager.h"

#include "tests/tools/annals_command.h"

#include <gmock/gmock.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <thread>

namespace annals {
namespace {

using std::chrono::seconds;
using test::TemporaryDirectory;

/// A datagram socket bound to `path` (after '@': an abstract name), like a service manager's.
class NotifySocket {
  public:
    explicit NotifySocket(const std::string& path) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof(address.sun_path) - 1);
        if (path.front() == '@') {
            address.sun_path[0] = '\0';
        }
        const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
        EXPECT_EQ(::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), size), 0);
        constexpr timeval kLimit{.tv_sec = 20, .tv_usec = 0};
        ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &kLimit, sizeof(kLimit));
    }

    NotifySocket(const NotifySocket&) = delete;
    NotifySocket& operator=(const NotifySocket&) = delete;

    ~NotifySocket() { ::close(descriptor_); }

    /// The next message; empty if none arrived in time.
    std::string receive() {
        std::array<char, 256> message{};
        const auto size = ::recv(descriptor_, message.data(), message.size(), 0);
        return {message.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
    }

  private:
    int descriptor_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

TEST(Serve, TellsTheServiceManagerWhenItIsReadyAndWhenItStops) {
    const TemporaryDirectory directory;
    for (const std::string& name : {directory / "notify", "@" + (directory / "notify")}) {
        NotifySocket manager(name);
        test::ChildProcess server("/usr/bin/env",
                                  {"NOTIFY_SOCKET=" + name, kBinary, "serve", "--data",
                                   directory / "data", "--listen", "127.0.0.1:0"});
        EXPECT_EQ(manager.receive(), "READY=1") << server.errors();
        EXPECT_THAT(server.output(), testing::StartsWith("annals ready on "));
        server.kill(SIGTERM);
        EXPECT_EQ(manager.receive(), "STOPPING=1") << server.errors();
        EXPECT_EQ(server.wait(seconds(20)), 0);
    }
}

TEST(Serve, TellsAServiceManagerThatIsBusyWithOthers) {
    const TemporaryDirectory directory;
    const std::string name = directory / "notify";
    NotifySocket manager(name);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const int others = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    while (::sendto(others, "x", 1, 0, reinterpret_cast<const sockaddr*>(&address),
                    sizeof(address)) == 1) {
    }
    ::close(others);
    test::ChildProcess server("/usr/bin/env", {"NOTIFY_SOCKET=" + name, kBinary, "serve", "--data",
                                               directory / "data", "--listen", "127.0.0.1:0"});
    ASSERT_TRUE(server.wait_for_line("annals ready on ", seconds(30))) << server.errors();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::string message;
    do {
        message = manager.receive();
    } while (message == "x");
    EXPECT_EQ(message, "READY=1") << server.errors();
}

TEST(Serve, StartsWhereTheServiceManagerIsGone) {
    const TemporaryDirectory directory;
    for (const std::string& name : {directory / "nobody", std::string(200, 'x')}) {
        test::ChildProcess server("/usr/bin/env",
                                  {"NOTIFY_SOCKET=" + name, kBinary, "serve", "--data",
                                   directory / "data", "--listen", "127.0.0.1:0"});
        ASSERT_TRUE(server.wait_for_line("annals ready on ", seconds(30))) << server.errors();
        server.kill(SIGTERM);
        EXPECT_EQ(server.wait(seconds(20)), 0);
        EXPECT_THAT(server.errors(), testing::HasSubstr("NOTIFY_SOCKET: cannot send READY=1: "));
    }
}

/// Starts the binary with stderr connected to what JOURNAL_STREAM names, as systemd does.
std::vector<std::string> under_systemd(const std::vector<std::string>& arguments) {
    std::vector<std::string> words{
        "-c", R"(JOURNAL_STREAM=$(stat -L -c %d:%i /dev/fd/2) exec "$0" "$@")", kBinary};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
}

TEST(Serve, TellsTheJournalHowImportantItsLinesAre) {
    const TemporaryDirectory directory;
    test::ChildProcess server(
        "/bin/sh", under_systemd({"serve", "--data", directory / "data", "--listen", "127.0.0.1:0",
                                  "--set", "limits.max_memory=1MiB"}));
    ASSERT_TRUE(server.wait_for_line("annals ready on ", seconds(30))) << server.errors();
    EXPECT_THAT(server.errors(), testing::MatchesRegex("<4>2[^\n]* warning limits.max_body: "
                                                       "[^\n]*\n<6>2[^\n]* info opened .*"));
    const test::Finished refused =
        test::run_program("/bin/sh", under_systemd({"serve", "--data", directory / "data"}));
    EXPECT_THAT(refused.errors, testing::StartsWith("<3>annals: ")) << "in use";
    EXPECT_THAT(test::run_program("/bin/sh", under_systemd({"serve", "--data"})).errors,
                testing::StartsWith("<3>annals serve: "));
}

TEST(Serve, WritesNoPrioritiesWhereStderrHasBeenRedirected) {
    const TemporaryDirectory directory;
    const test::Finished refused = test::run_program(
        "/usr/bin/env", {"JOURNAL_STREAM=8:1", kBinary, "verify", "--data", directory / "nowhere"});
    EXPECT_THAT(refused.errors, testing::StartsWith("annals: "));
}

TEST(Serve, HasNobodyToTellWhereTheServiceManagersNameIsEmpty) {
    ::setenv("NOTIFY_SOCKET", "", 1);
    testing::internal::CaptureStderr();
    tools::tell_service_manager("READY=1");
    ::unsetenv("NOTIFY_SOCKET");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace annals
