#include "net/auth/files.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace annals::net::auth {

namespace {

constexpr std::size_t kFileBytesMax = 1 << 20;

}  // namespace

Result<std::string> read_file(std::string_view setting, const std::string& file) {
    std::error_code ignored;
    // It is read again after changes, and a pipe's contents would be gone.
    if (std::filesystem::is_fifo(file, ignored)) {
        return Error{Errc::usage, fmt::format("{}: {}: it is a pipe", setting, file)};
    }
    std::ifstream stream(file, std::ios::binary);
    // Some files have no end, such as /dev/zero.
    std::string text(kFileBytesMax + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    if (stream.bad() || text.empty()) {
        return Error{Errc::usage, fmt::format("{}: {}: cannot be read", setting, file)};
    }
    if (text.size() > kFileBytesMax) {
        return Error{Errc::usage, fmt::format("{}: {}: it is larger than 1 MiB", setting, file)};
    }
    return text;
}

Result<std::string> read_secret(std::string_view setting, const std::string& file) {
    ANNALS_TRY(std::string secret, read_file(setting, file));
    while (secret.ends_with('\n') || secret.ends_with('\r')) {
        secret.pop_back();
    }
    if (secret.empty()) {
        return Error{Errc::usage, fmt::format("{}: {}: it has no secret", setting, file)};
    }
    return secret;
}

Result<KeySet> read_keys(std::string_view setting, const std::string& file) {
    ANNALS_TRY(const std::string text, read_file(setting, file));
    auto keys = KeySet::read(text);
    if (!keys) {
        return Error{Errc::usage, fmt::format("{}: {}: {}", setting, file, keys.error().detail)};
    }
    return keys;
}

}  // namespace annals::net::auth
