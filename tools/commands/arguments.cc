#include "tools/commands/arguments.h"

#include "core/base/log.h"
#include "core/base/parts.h"
#include "core/base/text.h"
#include "tools/commands/progress.h"
#include "tools/commands/wrap.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>

namespace annals::tools {

namespace {

/// Breaks explanations of options into lines. (It indents what follows a line feed.)
class HelpFormatter : public CLI::Formatter {
  public:
    std::string make_option_desc(const CLI::Option* option) const override {
        return wrapped(CLI::Formatter::make_option_desc(option), kColumns - get_column_width());
    }
};

}  // namespace

struct Arguments::Impl {
    CLI::App app;
    std::string command;
    std::string usage;
    std::string positionals;  ///< as shown in the usage line

    std::string problem_of(const CLI::ParseError& error) const;
};

/// CLI11 says "At Most 1 required but received 2" and "1 required TEXT missing", and lists unexpected arguments from the last
/// to the first.
std::string Arguments::Impl::problem_of(const CLI::ParseError& error) const {
    for (const CLI::Option* const option : app.get_options()) {
        if (option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw &&
            option->get_expected_max() == 1 && option->count() > 1) {
            return option->get_name() + " is given more than once";
        }
    }
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
        const std::string text = error.what();
        return text.substr(0, text.find(':')) + " needs a value";
    }
    const std::vector<std::string> left = app.remaining();
    return dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !left.empty()
               ? "The following argument was not expected: " + left.front()
               : error.what();
}

namespace {

/// An unset shell variable is not the same as an option that isn't given.
std::string is_said(const std::string& text) {
    return text.empty() ? "must not be empty" : "";
}

}  // namespace

Arguments::Arguments(const std::string& command, const std::string& summary)
    : impl_(std::make_unique<Impl>()) {
    impl_->command = command;
    impl_->app.name("annals " + command);
    impl_->app.description(summary);
    impl_->app.formatter(std::make_shared<HelpFormatter>());
    impl_->usage = "annals " + command;
}

Arguments::~Arguments() = default;

void Arguments::text(const std::string& names, std::string& into, const std::string& help) {
    impl_->app.add_option(names, into, help)->capture_default_str()->check(is_said, "");
}

void Arguments::required_text(const std::string& names, std::string& into,
                              const std::string& help) {
    impl_->app.add_option(names, into, help)->required()->check(is_said, "");
    impl_->usage += ' ' + names + " ...";
}

void Arguments::number(const std::string& names, std::uint64_t& into, const std::string& help) {
    // CLI11 would read -1, and anything too large, as the largest number there is, and 010 as eight.
    const auto is_decimal = [](const std::string& text) {
        const bool right = parse_number(text) && (text.size() == 1 || text.front() != '0');
        return right ? std::string() : "must be a whole number in decimal digits";
    };
    impl_->app.add_option(names, into, help)->capture_default_str()->check(is_decimal, "");
}

void Arguments::number(const std::string& names, double& into, const std::string& help) {
    impl_->app.add_option(names, into, help)->capture_default_str()->check(is_said, "");
}

void Arguments::flag(const std::string& names, bool& into, const std::string& help) {
    impl_->app.add_flag(names, into, help);
}

void Arguments::texts(const std::string& names, std::vector<std::string>& into,
                      const std::string& help) {
    impl_->app
        .add_option_function<std::string>(
            names, [&into](const std::string& value) { into.push_back(value); }, help)
        ->check(is_said, "")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->trigger_on_parse();
}

void Arguments::positionals(const std::string& name, std::vector<std::string>& into,
                            const std::string& help) {
    impl_->app.add_option(name, into, help)->check(is_said, "");
    impl_->positionals = " [" + name + "]...";
}

void Arguments::footer(std::string_view text) {
    std::string lines;
    while (!text.empty()) {
        lines += (lines.empty() ? "" : "\n") + wrapped(take_until(text, '\n'), kColumns, "    ");
    }
    impl_->app.footer(lines);
}

std::optional<int> Arguments::parse(const ArgumentList& arguments) {
    try {
        // CLI11 takes the arguments from the back of the list.
        std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
        impl_->app.parse(std::move(reversed));
    } catch (const CLI::CallForHelp&) {
        const std::string help = impl_->app.help();
        std::fwrite(help.data(), 1, help.size(), stdout);
        return kExitDone;
    } catch (const CLI::ParseError& error) {
        return refuse(impl_->problem_of(error));
    }
    return std::nullopt;
}

bool Arguments::given(const std::string& name) const {
    return impl_->app.count(name) > 0;
}

int Arguments::refuse(const std::string& problem) const {
    say_line(fmt::format("{}annals {}: {}", error_priority(), impl_->command, problem));
    say_line(fmt::format("usage: {} [OPTION]...{} (see annals {} --help)", impl_->usage,
                         impl_->positionals, impl_->command));
    return kExitUsage;
}

int fail(const std::string& problem, int code) {
    say_line(fmt::format("{}annals: {}", error_priority(), problem));
    return code;
}

}  // namespace annals::tools
