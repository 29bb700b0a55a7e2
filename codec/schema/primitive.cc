#include "codec/schema/primitive.h"

#include "core/base/ascii.h"
#include "core/base/calendar.h"
#include "core/base/ids.h"
#include "core/base/resource_types.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace annals::schema {
namespace {

constexpr std::size_t kStringCharactersMax = 1 << 20;

unsigned byte(char c) noexcept {
    return static_cast<unsigned char>(c);
}

bool is_white(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// The two digits at `text`, or 100 if they aren't.
unsigned two_digits(const char* text) noexcept {
    return is_digit(text[0]) && is_digit(text[1]) ? byte(text[0]) * 10 + byte(text[1]) - 11 * '0'
                                                  : 100;
}

std::size_t count_digits(std::string_view text) noexcept {
    std::size_t count = 0;
    while (count < text.size() && is_digit(text[count])) {
        ++count;
    }
    return count;
}

// The length of hh:mm:ss with an optional fraction at the start of `text`, or 0.
std::size_t time_size(std::string_view text) noexcept {
    if (text.size() < 8 || two_digits(text.data()) > 23 || text[2] != ':' ||
        two_digits(text.data() + 3) > 59 || text[5] != ':' || two_digits(text.data() + 6) > 60) {
        return 0;
    }
    if (text.size() == 8 || text[8] != '.') {
        return 8;
    }
    const std::size_t digits = count_digits(text.substr(9));
    return digits == 0 ? 0 : 9 + digits;
}

bool is_zone(std::string_view text) noexcept {
    if (text == "Z") {
        return true;
    }
    if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') {
        return false;
    }
    const unsigned hours = two_digits(text.data() + 1);
    const unsigned minutes = two_digits(text.data() + 4);
    return (hours < 14 && minutes < 60) || (hours == 14 && minutes == 0);
}

// The length of the date at the start of `text` (4, 7 or 10), or 0.
std::size_t date_size(std::string_view text) noexcept {
    if (text.size() < 4) {
        return 0;
    }
    const unsigned century = two_digits(text.data());
    const unsigned year = century * 100 + two_digits(text.data() + 2);
    if (century > 99 || two_digits(text.data() + 2) > 99 || year == 0) {
        return 0;
    }
    if (text.size() < 7 || text[4] != '-') {
        return 4;
    }
    const unsigned month = two_digits(text.data() + 5);
    if (month - 1 > 11) {
        return 0;
    }
    if (text.size() < 10 || text[7] != '-') {
        return 7;
    }
    return two_digits(text.data() + 8) - 1 < days_in_month(static_cast<int>(year), month) ? 10 : 0;
}

bool is_time_with_zone(std::string_view text) noexcept {
    if (text.empty() || text[0] != 'T') {
        return false;
    }
    const std::size_t size = time_size(text.substr(1));
    return size != 0 && is_zone(text.substr(1 + size));
}

// Whether `text` is a whole number without leading zeros or a sign, and at most `max`.
bool is_whole(std::string_view text, std::uint64_t max) noexcept {
    if (text.empty() || text.size() > 10 || (text[0] == '0' && text.size() > 1)) {
        return false;
    }
    std::uint64_t value = 0;
    for (const char c : text) {
        if (!is_digit(c)) {
            return false;
        }
        value = value * 10 + (byte(c) - '0');
    }
    return value <= max;
}

constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101;
constexpr std::uint64_t kHighs = 0x8080'8080'8080'8080;

// Whether one of the eight bytes is a space or below; may be wrong only if true.
bool has_low_byte(std::uint64_t bytes) noexcept {
    return ((bytes - kOnes * 0x21) & ~bytes & kHighs) != 0;
}

bool has_low_byte(std::string_view text) noexcept {
    const char* at = text.data();
    std::size_t left = text.size();
    for (; left > 8; at += 8, left -= 8) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, at, 8);
        if (has_low_byte(bytes)) {
            return true;
        }
    }
    for (; left != 0; ++at, --left) {
        if (byte(*at) <= ' ') {
            return true;
        }
    }
    return false;
}

// Which of the bytes are among the `count` from `first` on.
__m256i is_below(__m256i bytes, char first, char count) noexcept {
    const __m256i from_first = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first));
    return _mm256_cmpeq_epi8(
        _mm256_min_epu8(from_first, _mm256_set1_epi8(static_cast<char>(count - 1))), from_first);
}

// Which of the 32 bytes at `at` can't be in an id, as bits.
std::uint64_t wrong_in_id(const char* at) noexcept {
    const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    return std::uint64_t{~std::bit_cast<std::uint32_t>(_mm256_movemask_epi8(
        _mm256_or_si256(is_below(_mm256_or_si256(block, _mm256_set1_epi8(0x20)), 'a', 26),
                        _mm256_or_si256(is_below(block, '0', 10), is_below(block, '-', 2)))))};
}

// Whether all 32 bytes are in the base64 alphabet, without padding.
bool is_base64_block(const char* at) noexcept {
    const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    const __m256i letters = is_below(_mm256_or_si256(block, _mm256_set1_epi8(0x20)), 'a', 26);
    const __m256i signs = _mm256_or_si256(_mm256_cmpeq_epi8(block, _mm256_set1_epi8('+')),
                                          is_below(block, '/', 11));  // and the digits
    return _mm256_movemask_epi8(_mm256_or_si256(letters, signs)) == -1;
}

// Relative references consist of an R4 type and an id, and optionally a version and a fragment.
bool is_relative_reference(std::string_view text) noexcept {
    if (const std::size_t hash = text.find('#'); hash != std::string_view::npos) {
        if (!is_uri(text.substr(hash))) {
            return false;
        }
        text = text.substr(0, hash);
    }
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos || !find_resource_type(text.substr(0, slash))) {
        return false;
    }
    std::string_view id = text.substr(slash + 1);
    if (const std::size_t history = id.find("/_history/"); history != std::string_view::npos) {
        if (!is_id(id.substr(history + 10))) {
            return false;
        }
        id = id.substr(0, history);
    }
    return is_id(id);
}

}  // namespace

bool is_boolean(std::string_view text) noexcept {
    return text == "true" || text == "false";
}

bool is_string(std::string_view text) noexcept {
    for (const char c : text) {
        if (byte(c) < ' ' && c != '\t' && c != '\n' && c != '\r') {
            return false;
        }
    }
    if (text.size() > kStringCharactersMax) {
        std::size_t characters = 0;
        for (const char c : text) {
            characters += (byte(c) & 0xc0) != 0x80;
        }
        return characters <= kStringCharactersMax;
    }
    return !text.empty();
}

bool is_code(std::string_view text) noexcept {
    if (text.empty() || byte(text.front()) <= ' ' || byte(text.back()) <= ' ') {
        return false;
    }
    if (!has_low_byte(text)) {
        return true;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (byte(text[i]) < ' ' || (text[i] == ' ' && text[i + 1] == ' ')) {
            return false;
        }
    }
    return true;
}

bool is_id(std::string_view text) noexcept {
    return is_resource_id(text);
}

bool is_padded_id(std::string_view text) noexcept {
    const char* const at = text.data();
    return text.size() - 1 < 64 && _bzhi_u64(wrong_in_id(at) | wrong_in_id(at + 32) << 32,
                                             static_cast<std::uint32_t>(text.size())) == 0;
}

bool is_uri(std::string_view text) noexcept {
    return !text.empty() && !has_low_byte(text);
}

bool is_reference(std::string_view text) noexcept {
    if (text.empty()) {
        return false;
    }
    const char first = text.front();
    if (first == '#') {
        return text.size() == 1 || is_uri(text);
    }
    if (first >= 'A' && first <= 'Z') {
        // Nearly all are a type and an id, without any of the characters searched for below.
        const std::size_t slash = std::min(text.find('/'), text.size() - 1);
        if (is_id(text.substr(slash + 1)) && find_resource_type(text.substr(0, slash))) {
            return true;
        }
        if (const std::size_t question = text.find('?'); question != std::string_view::npos) {
            return find_resource_type(text.substr(0, question)).has_value();
        }
        if (text.find(':') == std::string_view::npos) {
            return is_relative_reference(text);
        }
    }
    return is_uri(text);
}

bool is_oid(std::string_view text) noexcept {
    if (!text.starts_with("urn:oid:") || text.size() < 11 || text[8] < '0' || text[8] > '2') {
        return false;
    }
    for (text.remove_prefix(9); !text.empty();) {
        const std::size_t digits = count_digits(text.substr(1));
        if (text[0] != '.' || digits == 0 || (text[1] == '0' && digits > 1)) {
            return false;
        }
        text.remove_prefix(1 + digits);
    }
    return true;
}

bool is_uuid(std::string_view text) noexcept {
    if (!text.starts_with("urn:uuid:") || text.size() != 45) {
        return false;
    }
    text.remove_prefix(9);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
        const bool hex = is_digit(text[i]) || (text[i] >= 'a' && text[i] <= 'f');
        if (hyphen ? text[i] != '-' : !hex) {
            return false;
        }
    }
    return true;
}

bool is_base64_binary(std::string_view text) noexcept {
    std::size_t significant = 0;
    std::size_t padding = 0;
    for (std::size_t i = 0; i < text.size();) {
        if (padding == 0 && text.size() - i >= 32 && is_base64_block(text.data() + i)) {
            significant += 32;
            i += 32;
            continue;
        }
        // White space comes once a line, so whole blocks follow again after a few characters.
        for (std::size_t end = i + 8; i < text.size() && i < end; ++i) {
            const char c = text[i];
            if (is_white(c)) {
                continue;
            }
            if (c == '=') {
                ++padding;
            } else if (padding != 0 || !(is_letter_or_digit(c) || c == '+' || c == '/')) {
                return false;
            }
            ++significant;
        }
    }
    return significant != 0 && significant % 4 == 0 && padding <= 2;
}

bool is_date(std::string_view text) noexcept {
    return !text.empty() && date_size(text) == text.size();
}

bool is_date_time(std::string_view text) noexcept {
    const std::size_t size = date_size(text);
    return size != 0 && (size == text.size() || (size == 10 && is_time_with_zone(text.substr(10))));
}

bool is_instant(std::string_view text) noexcept {
    return date_size(text) == 10 && is_time_with_zone(text.substr(10));
}

bool is_time(std::string_view text) noexcept {
    return !text.empty() && time_size(text) == text.size();
}

bool is_decimal(std::string_view text) noexcept {
    if (text.starts_with('-')) {
        text.remove_prefix(1);
    }
    const std::size_t whole = count_digits(text);
    if (whole == 0 || (text[0] == '0' && whole > 1)) {
        return false;
    }
    text.remove_prefix(whole);
    if (text.starts_with('.')) {
        const std::size_t fraction = count_digits(text.substr(1));
        if (fraction == 0) {
            return false;
        }
        text.remove_prefix(1 + fraction);
    }
    if (text.starts_with('e') || text.starts_with('E')) {
        text.remove_prefix(1);
        if (text.starts_with('+') || text.starts_with('-')) {
            text.remove_prefix(1);
        }
        const std::size_t digits = count_digits(text);
        return digits != 0 && digits == text.size();
    }
    return text.empty();
}

bool is_integer(std::string_view text) noexcept {
    const bool negative = text.starts_with('-');
    if (negative) {
        text.remove_prefix(1);
    }
    return is_whole(text, negative ? 0x8000'0000 : 0x7fff'ffff) && !(negative && text == "0");
}

bool is_unsigned_int(std::string_view text) noexcept {
    return is_whole(text, 0x7fff'ffff);
}

bool is_positive_int(std::string_view text) noexcept {
    return is_whole(text, 0x7fff'ffff) && text != "0";
}

bool is_valid(Primitive type, std::string_view text) noexcept {
    switch (type) {
        case Primitive::base64_binary:
            return is_base64_binary(text);
        case Primitive::boolean:
            return is_boolean(text);
        case Primitive::code:
            return is_code(text);
        case Primitive::date:
            return is_date(text);
        case Primitive::date_time:
            return is_date_time(text);
        case Primitive::decimal:
            return is_decimal(text);
        case Primitive::id:
            return is_id(text);
        case Primitive::instant:
            return is_instant(text);
        case Primitive::integer:
            return is_integer(text);
        case Primitive::markdown:
        case Primitive::string:
            return is_string(text);
        case Primitive::oid:
            return is_oid(text);
        case Primitive::positive_int:
            return is_positive_int(text);
        case Primitive::time:
            return is_time(text);
        case Primitive::unsigned_int:
            return is_unsigned_int(text);
        case Primitive::canonical:
        case Primitive::uri:
        case Primitive::url:
            return is_uri(text);
        case Primitive::uuid:
            return is_uuid(text);
        case Primitive::xhtml:
        case Primitive::none:
            return true;
    }
    return true;
}

}  // namespace annals::schema
