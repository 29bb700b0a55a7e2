// What is wrong with a JSON text, and where.
//
// Layer:   codec; used by the parser alone.
// Spec:    RFC 8259.
// Threads: plain functions.

#pragma once

#include "core/base/ascii.h"
#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace annals::json {

constexpr bool is_space(char c) noexcept {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// The first violation of the grammar and where it is in the original text; no message if there is none.
struct Fault {
    std::size_t offset = 0;
    const char* message = nullptr;
};

inline const char* skip_digits(const char* at) noexcept {
    while (is_digit(*at)) {
        ++at;
    }
    return at;
}

struct Number {
    const char* end;      // of the number, or where it goes wrong
    const char* message;  // what goes wrong, or null
};

inline Number scan_number(const char* at) noexcept {
    at += *at == '-';
    const char* const integer = at;
    at = skip_digits(at);
    if (at == integer) [[unlikely]] {
        return {at, "expected a digit"};
    }
    if (*integer == '0' && at != integer + 1) [[unlikely]] {
        return {integer + 1, "a number must not have leading zeros"};
    }
    if (*at == '.') {
        const char* const fraction = at + 1;
        at = skip_digits(fraction);
        if (at == fraction) [[unlikely]] {
            return {at, "expected a digit after the decimal point"};
        }
    }
    if ((*at | 0x20) == 'e') {
        const char* const exponent = at + 1 + (at[1] == '+' || at[1] == '-');
        at = skip_digits(exponent);
        if (at == exponent) [[unlikely]] {
            return {at, "expected a digit in the exponent"};
        }
    }
    return {at, nullptr};
}

/// What is wrong with the escape at `at`, or null: then `at` is moved past it. `control` is set if it produces a control character
/// that FHIR does not allow in strings.
const char* check_escape(const char*& at, bool& control) noexcept;

/// What is wrong with the escapes in the string characters from `at` to `end`, and `where`; or null. `control`:
/// as for check_escape().
const char* check_escapes(const char* at, const char* end, const char*& where,
                          bool& control) noexcept;

/// What is wrong with the scalar that begins at `at`, which the walk has rejected.
Fault explain_scalar(const char* text, std::uint32_t at) noexcept;

/// Locates a fault that stage 1 detects without a place.
Fault find_lexical_fault(std::string_view text) noexcept;

/// The offset in `text` of the character that is at `offset` in the text without insignificant white space.
/// Requires: the text is valid.
std::size_t original_offset(std::string_view text, std::size_t offset) noexcept;

/// The error for `fault`, with its byte, line and column.
Error describe(std::string_view text, const Fault& fault);

}  // namespace annals::json
