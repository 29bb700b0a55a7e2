// Arguments: declares, reads and explains the options of a subcommand.
//
// Layer:   tools; only arguments.cc uses CLI11.
// Threads: one.

#pragma once

#include "tools/commands/commands.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::tools {

/// Declares options bound to variables, then parses. Names as in CLI11: "--data",
/// "-q,--quiet". Lifetime: the variables outlive parse().
class Arguments {
  public:
    /// `command` as in "annals COMMAND".
    Arguments(const std::string& command, const std::string& summary);
    ~Arguments();
    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;

    void text(const std::string& names, std::string& into, const std::string& help);
    void required_text(const std::string& names, std::string& into, const std::string& help);
    void number(const std::string& names, std::uint64_t& into, const std::string& help);
    void number(const std::string& names, double& into, const std::string& help);
    void flag(const std::string& names, bool& into, const std::string& help);

    /// An option that may be given several times, each with one value.
    void texts(const std::string& names, std::vector<std::string>& into, const std::string& help);

    /// Arguments without a name: paths, usually.
    void positionals(const std::string& name, std::vector<std::string>& into,
                     const std::string& help);

    /// Shown below the options by --help, each line of it broken to fit the terminal.
    void footer(std::string_view text);

    /// Reads the command line into the variables. Returns nothing if the command should run, otherwise
    /// the code to exit with: --help was given (printed to stdout), or the arguments are wrong (explained
    /// on stderr, with the usage line).
    std::optional<int> parse(const ArgumentList& arguments);

    /// Whether the option with this name ("--page") was on the command line. Requires: it is declared, and parse().
    bool given(const std::string& name) const;

    /// Prints `problem` and the usage line to stderr; returns kExitUsage.
    int refuse(const std::string& problem) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Prints "annals: `problem`" to stderr and returns `code`.
int fail(const std::string& problem, int code);

}  // namespace annals::tools
