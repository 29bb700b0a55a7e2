#include "tools/commands/credentials.h"

#include "core/base/text.h"
#include "tools/commands/arguments.h"
#include "tools/commands/tls_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace annals::tools {

namespace {

constexpr std::size_t kCredentialsBytesMax = 1 << 20;

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
}

/// RFC 9110: a token, a colon and a value without control characters.
bool is_header(std::string_view line) {
    const std::size_t colon = line.find(':');
    return colon != std::string_view::npos && is_token(line.substr(0, colon)) &&
           std::none_of(line.begin(), line.end(), is_control);
}

/// The beginning of `path`: some files have no end, such as /dev/zero.
Result<std::string> read_file(const std::string& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file.is_open()) {
        return Error{Errc::usage, fmt::format("{}: {}", path, std::strerror(errno))};
    }
    std::string text(kCredentialsBytesMax, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (file.bad()) {  // for a folder, say
        return Error{Errc::usage, fmt::format("{}: {}", path, std::strerror(errno))};
    }
    return text;
}

Result<void> append_file(std::vector<std::string>& headers, const std::string& path) {
    ANNALS_TRY(std::string text, read_file(path));
    std::istringstream file(std::move(text));
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
            return Error{Errc::usage, path + ": a line is not of the form 'Name: value'"};
        }
        headers.push_back(line);
        any = true;
    }
    return any ? Result<void>() : Error{Errc::usage, path + ": contains no header"};
}

Result<std::string> token_header(const std::string& path) {
    ANNALS_TRY(std::string text, read_file(path));
    std::istringstream file(std::move(text));
    std::string token;
    if (!(file >> token) || std::any_of(token.begin(), token.end(), is_control)) {
        return Error{Errc::usage, path + ": contains no token"};
    }
    return "Authorization: Bearer " + token;
}

/// Whether it is a pipe or terminal, whose content is gone once read.
bool is_read_once(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored) &&
           !std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

bool Credentials::in_files() const {
    return !token_file.empty() || std::any_of(headers.begin(), headers.end(), [](const auto& text) {
        return text.starts_with('@');
    });
}

bool Credentials::none() const {
    return headers.empty() && token_file.empty() && cert_file.empty() && key_file.empty();
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
    arguments.text(
        prefix + "cert", into.cert_file,
        fmt::format(
            "PEM file with the client certificate to present{} and any intermediate certificates",
            side.empty() ? "" : " to the server" + whom));
    arguments.text(
        prefix + "key", into.key_file,
        fmt::format(
            "PEM file with its private key, without a passphrase (default: the file of {}cert)",
            prefix));
}

Result<void> settle_credentials(Credentials& credentials) {
    std::vector<std::string> headers;
    for (const std::string& text : credentials.headers) {
        if (text.starts_with('@') && is_read_once(text.substr(1))) {
            ANNALS_TRY_VOID(append_file(headers, text.substr(1)));
        } else {
            headers.push_back(text);
        }
    }
    if (!credentials.token_file.empty() && is_read_once(credentials.token_file)) {
        ANNALS_TRY(std::string header, token_header(credentials.token_file));
        headers.push_back(std::move(header));
        credentials.token_file.clear();
    }
    credentials.headers = std::move(headers);
    ANNALS_TRY(auto identity, read_identity(credentials));
    if (is_read_once(credentials.cert_file) || is_read_once(credentials.key_file)) {
        credentials.identity = std::move(identity);
    }
    ANNALS_TRY_VOID(header_lines(credentials));
    return {};
}

Result<std::string> header_lines(const Credentials& credentials) {
    std::vector<std::string> headers;
    for (const std::string& text : credentials.headers) {
        if (text.starts_with('@')) {
            ANNALS_TRY_VOID(append_file(headers, text.substr(1)));
        } else if (is_header(text)) {
            headers.push_back(text);
        } else {
            return Error{Errc::usage, "a header must be 'Name: value' or @FILE"};
        }
    }
    if (!credentials.token_file.empty()) {
        ANNALS_TRY(std::string header, token_header(credentials.token_file));
        headers.push_back(std::move(header));
    }
    std::string lines;
    for (const std::string& header : headers) {
        lines.append(header).append("\r\n");
    }
    return lines;
}

Result<std::shared_ptr<const TlsIdentity>> read_identity(const Credentials& credentials) {
    if (credentials.identity != nullptr) {
        return credentials.identity;
    }
    if (credentials.cert_file.empty()) {
        return credentials.key_file.empty()
                   ? Result<std::shared_ptr<const TlsIdentity>>(nullptr)
                   : Error{Errc::usage, "a client key needs its certificate as well"};
    }
    ANNALS_TRY(std::string chain, read_file(credentials.cert_file));
    const PemText certificate{credentials.cert_file, std::move(chain)};
    if (credentials.key_file.empty()) {
        return TlsIdentity::make(certificate, certificate);
    }
    ANNALS_TRY(std::string key, read_file(credentials.key_file));
    return TlsIdentity::make(certificate, {credentials.key_file, std::move(key)});
}

}  // namespace annals::tools
