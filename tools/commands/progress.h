// What is said on stderr while a command is at work, and Progress: one line on a terminal that says how far long work is, how
// fast, and how long it will take.
//
// Layer:   tools.
// Threads: any for functions; of a Progress one at a time.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace annals::tools {

/// `text` as one line that gives a terminal no commands, whatever it holds of what others say: a blank for each control
/// character.
std::string plain(std::string_view text);

/// Says plain(`text`) on stderr, as a line of its own also where a passing line is shown.
void say_line(std::string_view text);

/// Shows `line` on stderr, a terminal, in place of the passing line before, until something is said.
void show_passing(std::string_view line);

/// Takes the passing line away, if there is one.
void clear_passing();

/// Writes to stderr, and only if that is a terminal and `quiet` is false.
class Progress {
  public:
    /// `what` names the units: "lines", "versions". `share_total` is what `share_done` of update() goes
    /// up to (bytes, say); 0 if nobody knows.
    Progress(std::string what, std::uint64_t share_total, bool quiet);

    /// Whether the process has begun anything that has a progress: what goes wrong from then on is no start that failed.
    static bool has_begun() noexcept;

    /// Ends the line.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// What `share_done` goes up to, once it is known; 0: nobody knows any more.
    void set_share_total(std::uint64_t total) noexcept { share_total_ = total; }

    /// Says how many units are done, at most five times a second.
    void update(std::uint64_t units, std::uint64_t share_done);

    /// Shows the last figures and ends the line.
    void finish();

    /// True if update() shows anything.
    bool shown() const noexcept { return shown_; }

    std::uint64_t units() const noexcept { return units_; }

    double seconds() const;

  private:
    std::string line() const;

    std::string what_;
    std::uint64_t share_total_;
    bool shown_;
    bool dirty_ = false;
    std::uint64_t units_ = 0;
    std::uint64_t share_done_ = 0;
    std::chrono::steady_clock::time_point started_;
    std::chrono::steady_clock::time_point next_;
};

}  // namespace annals::tools
