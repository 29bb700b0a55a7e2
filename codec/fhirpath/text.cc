#include "codec/fhirpath/text.h"

#include "codec/json/unicode.h"

namespace annals::fhirpath {
namespace {

bool continues(char c) {
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// The character at `at`, which is moved past it; a byte that is not UTF-8 stands for itself.
std::uint32_t next_character(std::string_view text, std::size_t& at) {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first < 0x80) {
        ++at;
        return first;
    }
    const std::size_t length = json::utf8_length(text.substr(at));
    if (length < 2) {
        ++at;
        return first;
    }
    std::uint32_t character = first & (0xffU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        character = character << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3f);
    }
    at += length;
    return character;
}

bool between(std::uint32_t c, std::uint32_t first, std::uint32_t last) {
    return c >= first && c <= last;
}

// Ranges in which every capital letter is followed by its small letter.
bool paired_even(std::uint32_t c) {
    return between(c, 0x100, 0x12f) || between(c, 0x132, 0x137) || between(c, 0x14a, 0x177) ||
           between(c, 0x1de, 0x1ef) || between(c, 0x1f8, 0x21f) || between(c, 0x222, 0x233) ||
           between(c, 0x3d8, 0x3ef) || between(c, 0x460, 0x481) || between(c, 0x48a, 0x4bf) ||
           between(c, 0x4d0, 0x52f) || between(c, 0x1e00, 0x1e95) || between(c, 0x1ea0, 0x1eff);
}

bool paired_odd(std::uint32_t c) {
    return between(c, 0x139, 0x148) || between(c, 0x179, 0x17e) || between(c, 0x1cd, 0x1dc) ||
           between(c, 0x4c1, 0x4ce);
}

std::uint32_t to_lower(std::uint32_t c) {
    if (c < 0x80) {
        return between(c, 'A', 'Z') ? c + 32 : c;
    }
    if ((between(c, 0xc0, 0xde) && c != 0xd7) || between(c, 0x391, 0x3a1) ||
        between(c, 0x3a3, 0x3ab) || between(c, 0x410, 0x42f)) {
        return c + 32;
    }
    if (between(c, 0x400, 0x40f)) {
        return c + 80;
    }
    if (between(c, 0x531, 0x556)) {
        return c + 48;
    }
    if (paired_even(c)) {
        return c | 1;
    }
    if (paired_odd(c)) {
        return c % 2 == 1 ? c + 1 : c;
    }
    switch (c) {
        case 0x178:
            return 0xff;
        case 0x386:
            return 0x3ac;
        case 0x388:
        case 0x389:
        case 0x38a:
            return c + 37;
        case 0x38c:
            return 0x3cc;
        case 0x38e:
        case 0x38f:
            return c + 63;
        case 0x4c0:
            return 0x4cf;
        case 0x1e9e:
            return 0xdf;
        default:
            return c;
    }
}

std::uint32_t to_upper(std::uint32_t c) {
    if (c < 0x80) {
        return between(c, 'a', 'z') ? c - 32 : c;
    }
    if ((between(c, 0xe0, 0xfe) && c != 0xf7) || between(c, 0x3b1, 0x3c1) ||
        between(c, 0x3c3, 0x3cb) || between(c, 0x430, 0x44f)) {
        return c - 32;
    }
    if (between(c, 0x450, 0x45f)) {
        return c - 80;
    }
    if (between(c, 0x561, 0x586)) {
        return c - 48;
    }
    if (paired_even(c)) {
        return c & ~1U;
    }
    if (paired_odd(c)) {
        return c % 2 == 0 ? c - 1 : c;
    }
    switch (c) {
        case 0xb5:
            return 0x39c;
        case 0xff:
            return 0x178;
        case 0x3ac:
            return 0x386;
        case 0x3ad:
        case 0x3ae:
        case 0x3af:
            return c - 37;
        case 0x3c2:
            return 0x3a3;
        case 0x3cc:
            return 0x38c;
        case 0x3cd:
        case 0x3ce:
            return c - 63;
        case 0x4cf:
            return 0x4c0;
        default:
            return c;
    }
}

bool is_space(std::uint32_t c) {
    return c == ' ' || between(c, '\t', '\r') || c == 0xa0 || c == 0x2028 || c == 0x2029 ||
           between(c, 0x2000, 0x200a) || c == 0x202f || c == 0x205f || c == 0x3000;
}

// A character for comparison: case-folded, all white space the same.
std::uint32_t folded(std::uint32_t c) {
    return is_space(c) ? ' ' : c == 0x3c2 ? 0x3c3 : to_lower(c);
}

}  // namespace

std::size_t character_count(std::string_view text) {
    std::size_t count = 0;
    for (const char c : text) {
        count += continues(c) ? 0 : 1;
    }
    return count;
}

std::size_t character_offset(std::string_view text, std::size_t index) {
    std::size_t at = 0;
    while (at < text.size() && index > 0) {
        ++at;
        while (at < text.size() && continues(text[at])) {
            ++at;
        }
        --index;
    }
    return at;
}

void append_case(std::string& out, std::string_view text, bool upper) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        const std::uint32_t c = next_character(text, at);
        const std::uint32_t changed = upper ? to_upper(c) : to_lower(c);
        if (changed == c) {
            out += text.substr(begin, at - begin);
        } else {
            json::append_utf8(out, changed);
        }
    }
}

bool equivalent_strings(std::string_view a, std::string_view b) {
    std::size_t i = 0;
    std::size_t k = 0;
    while (i < a.size() && k < b.size()) {
        if (folded(next_character(a, i)) != folded(next_character(b, k))) {
            return false;
        }
    }
    return i == a.size() && k == b.size();
}

std::optional<EscapeFault> unescape(std::string_view text, const Escapes& escapes,
                                    std::string& out) {
    // The UTF-16 unit of \uXXXX at `at`; negative if there is none.
    const auto unit_at = [text](std::size_t at) -> std::int32_t {
        return text.size() - at >= 6 && text.substr(at).starts_with("\\u")
                   ? json::hex_quad(text.data() + at + 2)
                   : -1;
    };
    std::size_t at = 0;
    while (at < text.size()) {
        if (text[at] != '\\') {
            out += text[at++];
            continue;
        }
        const char letter = at + 1 < text.size() ? text[at + 1] : '\0';
        if (const std::size_t which = escapes.letters.find(letter);
            which != std::string_view::npos) {
            out += escapes.meanings[which];
            at += 2;
            continue;
        }
        if (letter != 'u') {
            return EscapeFault{at, true};
        }
        const std::int32_t first = unit_at(at);
        if (first < 0 || json::is_low_surrogate(first)) {
            return EscapeFault{at, false};
        }
        if (!json::is_high_surrogate(first)) {
            json::append_utf8(out, static_cast<std::uint32_t>(first));
            at += 6;
            continue;
        }
        const std::int32_t second = unit_at(at + 6);
        if (second < 0 || !json::is_low_surrogate(second)) {
            return EscapeFault{at, false};
        }
        json::append_utf8(out, static_cast<std::uint32_t>(0x10000 + ((first - 0xd800) << 10) +
                                                          (second - 0xdc00)));
        at += 12;
    }
    return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
    const auto space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    while (!text.empty() && space(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && space(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

}  // namespace annals::fhirpath
