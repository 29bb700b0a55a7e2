// Messages on stderr while a command runs, and Progress: one line on a terminal that shows how far long work has come, how
// fast it is, and how long it will take.
//
// Layer:   tools.
// Threads: functions: any; a Progress: one at a time.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace annals::tools {

/// `text` as one line without terminal commands, whatever it quotes from others: each control character
/// becomes a blank.
std::string plain(std::string_view text);

/// Prints plain(`text`) to stderr, as a line of its own even if a passing line is shown.
void say_line(std::string_view text);

/// Shows `line` on stderr, a terminal, in place of the previous passing line, until something is printed.
void show_passing(std::string_view line);

/// Removes the passing line, if there is one.
void clear_passing();

/// Writes to stderr, and only if that is a terminal and `quiet` is false.
class Progress {
  public:
    /// `what` names the units: "lines", "versions". `share_total` is the total of `share_done` in update()
    /// (bytes, say); 0 if unknown.
    Progress(std::string what, std::uint64_t share_total, bool quiet);

    /// Whether any Progress was ever begun in this process: failures from then on are not failures to start.
    static bool has_begun() noexcept;

    /// Ends the line.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Sets the total of `share_done` once it is known; 0: unknown again.
    void set_share_total(std::uint64_t total) noexcept { share_total_ = total; }

    /// Shows how many units are done, at most five times a second.
    void update(std::uint64_t units, std::uint64_t share_done);

    /// Shows the final figures and ends the line.
    void finish();

    /// The same once everything is done: the total may have been more than there was to do.
    void finish_whole();

    /// Whether update() shows anything.
    bool shown() const noexcept { return shown_; }

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
