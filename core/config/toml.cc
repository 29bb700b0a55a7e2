#include "core/config/toml.h"

#include "core/config/config_checks.h"

#include <fmt/format.h>

#include <filesystem>

namespace annals::core {

namespace {

template <typename Parse>
Result<toml::table> table_of(Parse&& parse) {
    try {
        return toml::table(parse());
    } catch (const toml::parse_error& error) {
        const auto line = error.source().begin.line;
        const std::string fault = one_line(error.description());
        return usage(line == 0 ? fault : fmt::format("line {}: {}", line, fault));
    } catch (const TomlAssertion&) {
        return usage("it is no TOML");
    }
}

}  // namespace

Result<toml::table> parse_toml(std::string_view text) {
    return table_of([text] { return toml::parse(text); });
}

Result<toml::table> read_toml(const std::string& file) {
    // It would be read as an empty one.
    if (std::filesystem::is_directory(file)) {
        return usage("it is a directory");
    }
    return table_of([&file] { return toml::parse_file(file); });
}

}  // namespace annals::core
