#include "core/config/toml.h"

#include "core/config/config_checks.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace annals::core {

namespace {

constexpr std::size_t kFileBytesMax = 64 << 20;

}  // namespace

Result<toml::table> parse_toml(std::string_view text) {
    try {
        return toml::table(toml::parse(text));
    } catch (const toml::parse_error& error) {
        const auto line = error.source().begin.line;
        const std::string fault = one_line(error.description());
        return usage(line == 0 ? fault : fmt::format("line {}: {}", line, fault));
    } catch (const TomlAssertion&) {
        return usage("it is not valid TOML");
    }
}

Result<toml::table> read_toml(const std::string& file) {
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) {
        return usage("it is a directory");
    }
    errno = 0;
    std::ifstream stream(file, std::ios::binary);
    if (!stream.is_open()) {
        return usage(std::generic_category().message(errno));
    }
    // Read to the end, regardless of the size that the system reports: a pipe has none.
    std::string text;
    std::array<char, 4096> part;
    while (stream && text.size() <= kFileBytesMax) {
        stream.read(part.data(), part.size());
        text.append(part.data(), static_cast<std::size_t>(stream.gcount()));
    }
    if (stream.bad() || text.size() > kFileBytesMax) {
        return usage("it cannot be read completely");
    }
    return parse_toml(text);
}

}  // namespace annals::core
