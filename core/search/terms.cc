#include "core/search/terms.h"

#include "core/base/digest.h"

#include <bit>

namespace annals::core::search {

namespace {

// The kind of a term, mixed into it so that terms of different kinds for the same text differ.
constexpr std::uint64_t kColumn = 0x6a09e667f3bcc909;
constexpr std::uint64_t kPresent = 0xbb67ae8584caa73b;
constexpr std::uint64_t kCode = 0x3c6ef372fe94f82b;
constexpr std::uint64_t kSystemAndCode = 0xa54ff53a5f1d36f1;
constexpr std::uint64_t kSystem = 0x510e527fade682d1;
constexpr std::uint64_t kOfType = 0x9b05688c2b3e6c1f;
constexpr std::uint64_t kExact = 0x1f83d9abfb41bd6b;
constexpr std::uint64_t kReference = 0x5be0cd19137e2179;
constexpr std::uint64_t kIdentity = 0xcbbb9d5dc1059ed8;
constexpr std::uint64_t kInner = 0x629a292a367cd507;

/// Combines two numbers: the xor of their product's halves.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
    __extension__ using Wide = unsigned __int128;
    const Wide product = Wide{a ^ 0x9e3779b97f4a7c15} * (b ^ 0xd1b54a32d192ed03);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

Column column_of(std::string_view code) noexcept {
    return hash64(code, kColumn);
}

Column beside(Column column, std::string_view part) noexcept {
    return hash64(part, column);
}

Term present(Column column) noexcept {
    return mix(column, kPresent);
}

TextHash text_hash(std::string_view text) noexcept {
    return {hash64(text)};
}

Term token(Column column, TextHash code) noexcept {
    return mix(column ^ kCode, code.value);
}

Term token(Column column, TextHash system, TextHash code) noexcept {
    return mix(column ^ kSystemAndCode, mix(system.value, code.value));
}

Term token_system(Column column, TextHash system) noexcept {
    return mix(column ^ kSystem, system.value);
}

Term token(Column column, std::string_view code) noexcept {
    return token(column, text_hash(code));
}

Term token(Column column, std::string_view system, std::string_view code) noexcept {
    return token(column, text_hash(system), text_hash(code));
}

Term token_system(Column column, std::string_view system) noexcept {
    return token_system(column, text_hash(system));
}

Term token_of_type(Column column, std::string_view type_system, std::string_view type_code,
                   std::string_view value) noexcept {
    const std::uint64_t type = mix(hash64(type_system), hash64(type_code));
    return mix(column ^ kOfType, mix(type, hash64(value)));
}

Term exact(Column column, std::string_view text) noexcept {
    return mix(column ^ kExact, hash64(text));
}

Term reference(Column column, std::uint64_t target) noexcept {
    return mix(column ^ kReference, target);
}

Term inner_reference(Column column, std::string_view id) noexcept {
    return mix(column ^ kInner, hash64(id));
}

Term inner_reference(Column column) noexcept {
    return mix(column, kInner);
}

Term identity(std::uint64_t key) noexcept {
    return mix(kIdentity, key);
}

std::int64_t ordered(double number) noexcept {
    // Positive doubles are in the order of their bits, negative ones in reverse. -0 becomes 0.
    const auto bits = std::bit_cast<std::int64_t>(number + 0.0);
    return bits >= 0 ? bits : bits ^ INT64_MAX;
}

double number_of(std::int64_t ordered) noexcept {
    return std::bit_cast<double>(ordered >= 0 ? ordered : ordered ^ INT64_MAX);
}

}  // namespace annals::core::search
