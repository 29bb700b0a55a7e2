#include "core/interactions/history_cursor.h"

#include "core/base/digest.h"
#include "core/base/text.h"

#include <fmt/format.h>

#include <array>

namespace annals::core {

namespace {

// 1, the letter of the order, f or b, the numbers in hex (`-` for none), and a checksum, separated by dots.
constexpr std::string_view kOrders = "npur";
// The sixth number is always none; older cursors used it to continue by resource.
constexpr std::size_t kNumbers = 7;

using Numbers = std::array<std::optional<std::uint64_t>, kNumbers>;

std::uint64_t bits(Instant instant) {
    return static_cast<std::uint64_t>(instant.us);
}

Instant instant_of(std::uint64_t bits) {
    return {static_cast<std::int64_t>(bits)};
}

// Binds the text to its history and detects damage; it is not a secret.
std::uint64_t check_of(std::string_view text, const Target& target) {
    std::uint64_t seed = static_cast<std::uint64_t>(target.level);
    if (target.level != Level::system_history) {
        seed = hash64(resource_type_name(target.type), seed);
    }
    seed = hash64(target.id, seed);
    return hash64(text, seed) & 0xffff'ffff;
}

Error malformed() {
    return {Errc::invalid, "_cursor does not continue this history"};
}

}  // namespace

std::string write_cursor(const HistoryCursor& cursor, const Target& target) {
    const auto optional_bits = [](const std::optional<Instant>& instant) {
        return instant ? std::optional(bits(*instant)) : std::nullopt;
    };
    Numbers numbers;
    if (cursor.edge) {
        numbers[0] = cursor.edge->position.value;
        numbers[1] = bits(cursor.edge->instant);
    }
    numbers[2] = cursor.bound.value;
    numbers[3] = optional_bits(cursor.since);
    numbers[4] = optional_bits(cursor.at);
    if (cursor.counted) {
        numbers[6] = cursor.total;
    }

    std::string out = fmt::format("1{}{}", kOrders[static_cast<std::size_t>(cursor.order)],
                                  cursor.backwards ? 'b' : 'f');
    for (const auto& number : numbers) {
        out += number ? fmt::format(".{:x}", *number) : ".-";
    }
    return fmt::format("{}.{:08x}", out, check_of(out, target));
}

Result<HistoryCursor> read_cursor(std::string_view text, const Target& target) {
    const std::size_t last_dot = text.rfind('.');
    if (last_dot == std::string_view::npos) {
        return malformed();
    }
    const auto check = parse_number(text.substr(last_dot + 1), 16);
    text = text.substr(0, last_dot);
    if (!check || *check != check_of(text, target) || text.size() < 3 || text[0] != '1' ||
        (text[2] != 'f' && text[2] != 'b')) {
        return malformed();
    }
    const std::size_t order = kOrders.find(text[1]);
    if (order == std::string_view::npos) {
        return malformed();
    }

    HistoryCursor cursor;
    cursor.order = static_cast<storage::HistoryOrder>(order);
    cursor.backwards = text[2] == 'b';
    std::string_view rest = text.substr(3);
    Numbers numbers;
    for (auto& number : numbers) {
        if (!rest.starts_with('.')) {
            return malformed();
        }
        rest.remove_prefix(1);
        const std::string_view field = rest.substr(0, rest.find('.'));
        rest.remove_prefix(field.size());
        if (field != "-") {
            number = parse_number(field, 16);
            if (!number) {
                return malformed();
            }
        }
    }
    if (!rest.empty() || !numbers[2] || numbers[5]) {
        return malformed();
    }
    if (numbers[0] && numbers[1]) {
        storage::VersionInfo edge;
        edge.position.value = *numbers[0];
        edge.instant = instant_of(*numbers[1]);
        cursor.edge = edge;
    }
    cursor.bound.value = *numbers[2];
    if (numbers[3]) {
        cursor.since = instant_of(*numbers[3]);
    }
    if (numbers[4]) {
        cursor.at = instant_of(*numbers[4]);
    }
    cursor.total = numbers[6].value_or(0);
    cursor.counted = numbers[6].has_value();
    return cursor;
}

}  // namespace annals::core
