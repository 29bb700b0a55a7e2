#include "tools/commands/credentials.h"

#include "tools/commands/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

namespace annals::tools {

namespace {

constexpr std::size_t kFileBytesMax = 1 << 20;

constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.!#$%&'*+^`|~";

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
}

/// RFC 9110: a token, a colon and what has no control characters.
bool is_header(std::string_view line) {
    const std::size_t colon = line.find(':');
    return colon != 0 && colon != std::string_view::npos &&
           line.substr(0, colon).find_first_not_of(kNameCharacters) == std::string_view::npos &&
           std::none_of(line.begin(), line.end(), is_control);
}

/// What `path` begins with: some files have no end, such as /dev/zero.
std::istringstream read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text(kFileBytesMax, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return std::istringstream(std::move(text));
}

Result<void> append_file(std::string& lines, const std::string& path) {
    std::istringstream file = read_file(path);
    std::string line;
    bool any = false;
    while (std::getline(file, line)) {
        if (line.ends_with('\r')) {
            line.pop_back();
        }
        if (line.empty()) {
            continue;
        }
        if (!is_header(line)) {
            return Error{Errc::usage, path + ": a line is no 'Name: value'", ""};
        }
        lines.append(line).append("\r\n");
        any = true;
    }
    return any ? Result<void>() : Error{Errc::usage, path + ": holds no header", ""};
}

}  // namespace

bool Credentials::in_files() const {
    return !token_file.empty() || std::any_of(headers.begin(), headers.end(), [](const auto& text) {
        return text.starts_with('@');
    });
}

void declare_credentials(Arguments& arguments, const std::string& side, Credentials& into) {
    const std::string prefix = side.empty() ? "--" : "--" + side + "-";
    const std::string whom = side.empty() ? "" : " of --" + side;
    arguments.texts(prefix + "header", into.headers,
                    fmt::format("'Name: value' to send with each request{}, or @FILE with such "
                                "lines; repeatable",
                                whom));
    arguments.text(prefix + "token-file", into.token_file,
                   fmt::format("file with a bearer token to send with each request{}", whom));
}

Result<std::string> header_lines(const Credentials& credentials) {
    std::string lines;
    for (const std::string& text : credentials.headers) {
        if (text.starts_with('@')) {
            ANNALS_TRY_VOID(append_file(lines, text.substr(1)));
        } else if (is_header(text)) {
            lines.append(text).append("\r\n");
        } else {
            return Error{Errc::usage, "a header is written 'Name: value' or @FILE", ""};
        }
    }
    if (!credentials.token_file.empty()) {
        std::istringstream file = read_file(credentials.token_file);
        std::string token;
        if (!(file >> token) || std::any_of(token.begin(), token.end(), is_control)) {
            return Error{Errc::usage, credentials.token_file + ": holds no token", ""};
        }
        lines.append("Authorization: Bearer ").append(token).append("\r\n");
    }
    return lines;
}

}  // namespace annals::tools
