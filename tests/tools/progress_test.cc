#include "tools/commands/progress.h"

#include <gtest/gtest.h>

#include <pty.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace annals::tools {
namespace {

/// What `work` writes to stderr if that is a terminal with this many columns; 0: it does not say how many.
std::string on_a_terminal(const std::function<void()>& work, unsigned short columns = 0) {
    int master = -1;
    int slave = -1;
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    if (::openpty(&master, &slave, nullptr, nullptr, &size) != 0) {
        return "no terminal to be had";
    }
    const int kept = ::dup(STDERR_FILENO);
    ::dup2(slave, STDERR_FILENO);
    work();
    ::dup2(kept, STDERR_FILENO);
    ::close(kept);
    (void)::write(slave, "$", 1);  // marks the end of the text, which may come in pieces
    std::string text;
    char piece[4096];
    while (!text.ends_with('$')) {
        const ssize_t got = ::read(master, piece, sizeof piece);
        if (got <= 0) {
            break;
        }
        text.append(piece, static_cast<std::size_t>(got));
    }
    ::close(slave);
    ::close(master);
    return text;
}

void half_way(bool quiet) {
    Progress progress("things", 0, quiet);
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    progress.set_share_total(200);
    progress.update(7, 100);
    progress.finish();
}

TEST(Progress, SaysRateShareAndTimeLeftOnceTheTotalIsKnownAndEndsTheLine) {
    const std::string text = on_a_terminal([] { half_way(false); });
    EXPECT_NE(text.find("7 things, "), std::string::npos) << text;
    EXPECT_NE(text.find("/s, 50 %, "), std::string::npos) << text;
    EXPECT_NE(text.find(" left"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("\n$")) << text;
}

TEST(Progress, EndsAtAllOfItAlsoIfTheTotalWasMoreThanThereWas) {
    const std::string text = on_a_terminal([] {
        Progress progress("things", 200, false);
        std::this_thread::sleep_for(std::chrono::milliseconds(250));
        progress.update(97, 194);
        progress.finish_whole();
    });
    EXPECT_NE(text.find("/s, 97 %, "), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("/s, 100 %\r\n$")) << text;
}

TEST(Progress, GivesWayToWhatIsSaid) {
    const std::string text = on_a_terminal([] {
        show_passing("7 things");
        say_line("in.ndjson:1: refused");
        say_line("in.ndjson:2: refused");
        show_passing("8 things");
        clear_passing();
    });
    EXPECT_EQ(text,
              "\r7 things"
              "\r        \rin.ndjson:1: refused\r\n"
              "in.ndjson:2: refused\r\n"
              "\r8 things\r        \r$");
}

TEST(Progress, OverwritesALongerLineAndKeepsToOneLineOfTheTerminal) {
    const std::string text = on_a_terminal(
        [] {
            show_passing("12345 things, 9 s left");
            show_passing("12346 things");
            clear_passing();
        },
        16);
    EXPECT_EQ(text,
              "\r12345 things, 9"
              "\r12346 things   "
              "\r            \r$");
}

TEST(Plain, IsOneLineWithoutCommandsForTerminals) {
    EXPECT_EQ(plain("a\x1b[2J\r\nb\tc\x7f"), "a [2J  b c ");
    EXPECT_EQ(plain("\xc3\xa9 \xc2\x9b"
                    "2J \xc2\xa0 \xe2\x82\xac"),
              "\xc3\xa9   2J \xc2\xa0 \xe2\x82\xac");
}

TEST(Progress, IsSilentWhenQuiet) {
    EXPECT_EQ(on_a_terminal([] { half_way(true); }), "$");
}

}  // namespace
}  // namespace annals::tools
