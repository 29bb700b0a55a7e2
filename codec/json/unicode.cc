#include "codec/json/unicode.h"

#include <algorithm>

namespace annals::json {

void append_utf8(std::string& out, std::uint32_t code_point) {
    const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (code_point < 0x80) {
        put(code_point);
    } else if (code_point < 0x800) {
        put(0xc0 | code_point >> 6);
        put(0x80 | (code_point & 0x3f));
    } else if (code_point < 0x10000) {
        put(0xe0 | code_point >> 12);
        put(0x80 | (code_point >> 6 & 0x3f));
        put(0x80 | (code_point & 0x3f));
    } else {
        put(0xf0 | code_point >> 18);
        put(0x80 | (code_point >> 12 & 0x3f));
        put(0x80 | (code_point >> 6 & 0x3f));
        put(0x80 | (code_point & 0x3f));
    }
}

std::size_t utf8_length(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (text.empty()) {
        return 0;
    }
    const unsigned first = byte(0);
    std::size_t length = 0;
    // The second byte's range excludes overlong forms, surrogates and anything beyond U+10FFFF.
    unsigned low = 0x80;
    unsigned high = 0xbf;
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xc2 && first <= 0xdf) {
        length = 2;
    } else if (first >= 0xe0 && first <= 0xef) {
        length = 3;
        low = first == 0xe0 ? 0xa0 : 0x80;
        high = first == 0xed ? 0x9f : 0xbf;
    } else if (first >= 0xf0 && first <= 0xf4) {
        length = 4;
        low = first == 0xf0 ? 0x90 : 0x80;
        high = first == 0xf4 ? 0x8f : 0xbf;
    } else {
        return 0;
    }
    if (text.size() < length || byte(1) < low || byte(1) > high) {
        return 0;
    }
    for (std::size_t i = 2; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

std::string valid_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) {
            out += "\xEF\xBF\xBD";
            text.remove_prefix(1);
        } else {
            out += text.substr(0, length);
            text.remove_prefix(length);
        }
    }
    return out;
}

Place place_of(std::string_view text, std::size_t offset) noexcept {
    return place_behind({}, text.substr(0, offset));
}

Place place_behind(Place begin, std::string_view text) noexcept {
    const auto breaks = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    const std::string_view line = text.substr(text.rfind('\n') + 1);  // npos + 1 is 0
    const auto characters = static_cast<std::size_t>(
        std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
    return {begin.line + breaks, (breaks == 0 ? begin.column : 1) + characters};
}

void append_unescaped(std::string& out, std::string_view raw) {
    std::size_t at = 0;
    for (;;) {
        const std::size_t backslash = raw.find('\\', at);
        out.append(raw, at, backslash - at);
        if (backslash == std::string_view::npos) {
            return;
        }
        at = backslash + 2;
        switch (raw[backslash + 1]) {
            case 'b':
                out.push_back('\b');
                break;
            case 'f':
                out.push_back('\f');
                break;
            case 'n':
                out.push_back('\n');
                break;
            case 'r':
                out.push_back('\r');
                break;
            case 't':
                out.push_back('\t');
                break;
            case 'u': {
                std::int32_t unit = hex_quad(raw.data() + at);
                at += 4;
                if (is_high_surrogate(unit)) {
                    const std::int32_t low = hex_quad(raw.data() + at + 2);
                    at += 6;
                    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                }
                append_utf8(out, static_cast<std::uint32_t>(unit));
                break;
            }
            default:
                out.push_back(raw[backslash + 1]);
        }
    }
}

void append_escaped(std::string& out, std::string_view text) {
    // A loop without an early exit is vectorized; most texts have nothing to escape.
    bool plain = true;
    for (const char c : text) {
        plain &= static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
    }
    if (plain) {
        out.append(text);
        return;
    }
    constexpr std::string_view kHex = "0123456789abcdef";
    std::size_t copied = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') {
            continue;
        }
        out.append(text, copied, i - copied);
        copied = i + 1;
        out.push_back('\\');
        switch (c) {
            case '"':
            case '\\':
                out.push_back(c);
                break;
            case '\b':
                out.push_back('b');
                break;
            case '\f':
                out.push_back('f');
                break;
            case '\n':
                out.push_back('n');
                break;
            case '\r':
                out.push_back('r');
                break;
            case '\t':
                out.push_back('t');
                break;
            default:
                out.append("u00");
                out.push_back(kHex[static_cast<unsigned char>(c) >> 4]);
                out.push_back(kHex[static_cast<unsigned char>(c) & 15]);
        }
    }
    out.append(text, copied, text.size() - copied);
}

}  // namespace annals::json
