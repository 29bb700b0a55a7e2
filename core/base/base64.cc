#include "core/base/base64.h"

#include "core/base/ascii.h"

#include <array>
#include <cstdint>

namespace annals {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::uint8_t kSpace = 64;
constexpr std::uint8_t kPadding = 65;
constexpr std::uint8_t kOther = 66;

constexpr std::array<std::uint8_t, 256> kValues = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(kOther);
    for (std::size_t i = 0; i < kDigits.size(); ++i) {
        values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
    }
    for (const char c : std::string_view(" \t\r\n")) {
        values[static_cast<unsigned char>(c)] = kSpace;
    }
    values['='] = kPadding;
    return values;
}();

std::uint8_t value_of(char c) noexcept {
    return kValues[static_cast<unsigned char>(c)];
}

constexpr std::size_t kBlockBytes = 64;

/// Whether `block` has only digits, as most of a large text: vectorizes, as look-ups would not.
bool is_block_of_digits(std::string_view block) noexcept {
    if (block.size() != kBlockBytes) {
        return false;
    }
    unsigned char others = 0;
    for (std::size_t i = 0; i < kBlockBytes; ++i) {
        const auto c = static_cast<unsigned char>(block[i]);
        const auto letter = static_cast<unsigned char>((c | 0x20U) - 'a');
        const auto number = static_cast<unsigned char>(c - '/');  // which is a digit, too
        others |= static_cast<unsigned char>((letter > 25) & (number > 10) & (c != '+'));
    }
    return others == 0;
}

/// Decodes the first four characters of `text`; false if these aren't digits.
bool add_group(std::string_view text, std::string& out) {
    if (text.size() < 4) {
        return false;
    }
    const std::uint8_t values[4] = {value_of(text[0]), value_of(text[1]), value_of(text[2]),
                                    value_of(text[3])};
    if ((values[0] | values[1] | values[2] | values[3]) >= kSpace) {
        return false;
    }
    const unsigned bits = static_cast<unsigned>(values[0]) << 18 |
                          static_cast<unsigned>(values[1]) << 12 |
                          static_cast<unsigned>(values[2]) << 6 | values[3];
    const char bytes[3] = {static_cast<char>(bits >> 16), static_cast<char>(bits >> 8 & 0xFFU),
                           static_cast<char>(bits & 0xFFU)};
    out.append(bytes, 3);
    return true;
}

}  // namespace

std::size_t base64_chars(std::size_t bytes) noexcept {
    return (bytes + 2) / 3 * 4;
}

void append_base64(std::string_view bytes, std::string& out) {
    out.reserve(out.size() + base64_chars(bytes.size()));
    std::array<char, 4096> block;  // four characters at a time would be as many calls
    std::size_t filled = 0;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
        unsigned bits = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const char c = k < count ? bytes[i + k] : '\0';
            bits = bits << 8 | static_cast<unsigned char>(c);
        }
        block[filled++] = kDigits[bits >> 18];
        block[filled++] = kDigits[bits >> 12 & 63];
        block[filled++] = count > 1 ? kDigits[bits >> 6 & 63] : '=';
        block[filled++] = count > 2 ? kDigits[bits & 63] : '=';
        if (filled == block.size()) {
            out.append(block.data(), filled);
            filled = 0;
        }
    }
    out.append(block.data(), filled);
}

std::optional<std::size_t> base64_size(std::string_view text) noexcept {
    std::size_t digits = 0;
    std::size_t padding = 0;
    while (!text.empty()) {
        const std::string_view block = text.substr(0, kBlockBytes);
        text.remove_prefix(block.size());
        if (padding == 0 && is_block_of_digits(block)) {
            digits += block.size();
            continue;
        }
        for (const char c : block) {
            const std::uint8_t value = value_of(c);
            if (value == kSpace) {
                continue;
            }
            if (value == kOther || (value < kSpace && padding > 0)) {
                return {};
            }
            ++(value == kPadding ? padding : digits);
        }
    }
    if (padding > 2 || (digits + padding) % 4 != 0 || digits % 4 == 1) {
        return {};
    }
    return digits * 3 / 4;
}

std::optional<std::string> decode_base64(std::string_view text) {
    const std::optional<std::size_t> size = base64_size(text);
    if (!size) {
        return std::nullopt;
    }
    std::string bytes;
    bytes.reserve(*size);
    Base64Decoder().add(text, bytes);
    return bytes;
}

std::string encode_base64url(std::string_view bytes) {
    std::string text;
    append_base64(bytes, text);
    while (text.ends_with('=')) {
        text.pop_back();
    }
    for (char& c : text) {
        c = c == '+' ? '-' : c == '/' ? '_' : c;
    }
    return text;
}

std::optional<std::string> decode_base64url(std::string_view text) {
    std::string base64(text);
    for (char& c : base64) {
        if (c == '-') {
            c = '+';
        } else if (c == '_') {
            c = '/';
        } else if (!is_letter_or_digit(c)) {
            return std::nullopt;
        }
    }
    // The last digit's bits beyond the last byte: were others than zeros taken, several texts would have the same bytes.
    const unsigned spare = base64.size() % 4 == 2 ? 0xFU : base64.size() % 4 == 3 ? 0x3U : 0U;
    if (!base64.empty() && (value_of(base64.back()) & spare) != 0) {
        return std::nullopt;
    }
    base64.append((4 - base64.size() % 4) % 4, '=');
    return decode_base64(base64);
}

void Base64Decoder::add(std::string_view text, std::string& out) {
    while (!text.empty()) {
        if (digits_ == 0 && add_group(text, out)) {
            text.remove_prefix(4);
            continue;
        }
        const std::uint8_t value = value_of(text.front());
        text.remove_prefix(1);
        if (value >= kSpace) {
            continue;
        }
        bits_ = bits_ << 6 | value;
        ++digits_;
        // Of the 6, 12, 18 or 24 bits so far, 0, 4, 2 or 0 belong to the next byte.
        if (digits_ > 1) {
            out += static_cast<char>(bits_ >> (8 - 2 * digits_) % 8 & 0xFFU);
        }
        if (digits_ == 4) {
            digits_ = 0;
            bits_ = 0;
        }
    }
}

}  // namespace annals
