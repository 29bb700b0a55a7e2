// Text: builds JSON by appending literals and values.
//
// Layer:   tools/generate. Text is not escaped, so it must not need it.
// Threads: plain functions.

#pragma once

#include "core/base/instant.h"
#include "tools/generate/dice.h"
#include "tools/generate/vocabulary.h"

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace annals::generate {

/// `value` with its last `digits` digits after the point.
struct Decimal {
    std::int64_t value;
    int digits;
};

/// 2024-05-06
struct Date {
    Instant at;
};

/// 2024-05-06T07:08:09Z
struct DateTime {
    Instant at;
};

/// 2024-05-06T07:08:09.123Z
struct Stamp {
    Instant at;
};

/// The UUID derived from a seed.
struct Uuid {
    std::uint64_t seed;
};

inline void put_one(std::string& out, std::string_view text) {
    out.append(text);
}

inline void put_one(std::string& out, std::integral auto number) {
    char digits[24];
    const char* const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    out.append(digits, static_cast<std::size_t>(end - digits));
}

void put_one(std::string& out, Decimal decimal);
void put_one(std::string& out, Date date);
void put_one(std::string& out, DateTime time);
void put_one(std::string& out, Stamp stamp);
void put_one(std::string& out, Uuid id);

/// {"system":...,"code":...,"display":...}
void put_one(std::string& out, const Code& code);

/// Appends every part in turn.
template <typename... Parts>
void put(std::string& out, const Parts&... parts) {
    (put_one(out, parts), ...);
}

}  // namespace annals::generate
