#include "core/interactions/search_url.h"

#include "core/base/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace annals::core {

namespace {

// Characters that percent_encode() leaves alone, and others that are allowed in a query and more readable unescaped.
constexpr std::array<bool, 256> kPlain = [] {
    std::array<bool, 256> plain{};
    for (const char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                         "0123456789-._~:,/$*();@!")) {
        plain[static_cast<unsigned char>(c)] = true;
    }
    return plain;
}();

bool is_plain(char c) noexcept {
    return kPlain[static_cast<unsigned char>(c)];
}

constexpr std::string_view kCursorName = "_cursor=";

// The usual length of a URL after its base.
constexpr std::size_t kUsualBytes = 256;

// Percent-encodes all but plain characters.
void append_parameter(std::string& out, std::string_view text) {
    auto at = text.begin();
    while (at != text.end()) {
        const auto plain_end = std::find_if_not(at, text.end(), is_plain);
        out.append(at, plain_end);
        at = std::find_if(plain_end, text.end(), is_plain);
        if (plain_end != at) {
            out += percent_encode({plain_end, at});
        }
    }
}

}  // namespace

std::string search_path(const Target& target) {
    switch (target.level) {
        case Level::type:
        case Level::type_search:
            return std::string("/").append(resource_type_name(target.type));
        case Level::compartment:
        case Level::compartment_search:
            return fmt::format("/{}/{}/{}", resource_type_name(target.type), target.id,
                               target.member);
        default:
            return "/";
    }
}

std::string search_url(std::string_view base_url, const Target& target,
                       std::span<const search::QueryPair> used) {
    std::string out;
    out.reserve(base_url.size() + kUsualBytes);
    out.append(base_url).append(search_path(target));
    char separator = '?';
    for (const auto& [name, value] : used) {
        out += separator;
        append_parameter(out, name);
        out += '=';
        append_parameter(out, value);
        separator = '&';
    }
    return out;
}

std::string with_cursor(const std::string& url, std::string_view cursor) {
    const std::size_t mark = std::min(url.find('?'), url.size());
    std::string out;
    out.reserve(url.size() + kCursorName.size() + cursor.size() + 1);
    out.append(url);
    if (url.size() + cursor.size() + kCursorName.size() > kRequestTargetBytesMax) {
        // A URL that exceeds the usual limit is accepted if it begins with `_cursor`.
        out.replace(mark, 1,
                    fmt::format("?{}{}&", kCursorName, cursor.empty() ? kFirstPageCursor : cursor));
    } else if (!cursor.empty()) {
        out.append(mark == url.size() ? "?" : "&").append(kCursorName).append(cursor);
    }
    return out;
}

}  // namespace annals::core
