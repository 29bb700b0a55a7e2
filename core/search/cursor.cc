#include "core/search/cursor.h"

#include "core/base/base64.h"
#include "core/base/digest.h"

#include <limits>

namespace annals::core::search {

namespace {

// The version, flags, four to six numbers of 1 to 10 bytes, and a checksum of four.
constexpr char kVersion = 1;
constexpr unsigned char kBackwards = 1;
constexpr unsigned char kTotal = 2;
constexpr unsigned char kCarriedToo = 4;
constexpr unsigned char kByInstant = 8;
constexpr std::size_t kCheckBytes = 4;

/// The latest time: beyond it, the distance to a date would overflow.
constexpr std::uint64_t kNowMax = std::numeric_limits<std::int64_t>::max() / 2;

void append_number(std::string& out, std::uint64_t number) {
    while (number >= 0x80) {
        out += static_cast<char>((number & 0x7f) | 0x80);
        number >>= 7;
    }
    out += static_cast<char>(number);
}

std::optional<std::uint64_t> take_number(std::string_view& bytes) {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        number |= std::uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80) {
            return number;
        }
    }
    return {};
}

// Detects damage; it is not a secret.
std::string check_of(std::string_view bytes) {
    std::uint64_t hash = hash64(bytes);
    std::string check;
    for (std::size_t i = 0; i < kCheckBytes; ++i) {
        check += static_cast<char>(hash & 0xff);
        hash >>= 8;
    }
    return check;
}

}  // namespace

Error malformed_cursor() {
    return {Errc::invalid, "_cursor does not continue this search"};
}

std::string write_cursor(const Cursor& cursor) {
    std::string bytes(1, kVersion);
    bytes += static_cast<char>((cursor.backwards ? kBackwards : 0) | (cursor.total ? kTotal : 0) |
                               (cursor.carried != 0 ? kCarriedToo : 0) |
                               (cursor.by_instant ? kByInstant : 0));
    append_number(bytes, cursor.snapshot.value);
    append_number(bytes, cursor.edge.value);
    append_number(bytes, cursor.query);
    append_number(bytes, static_cast<std::uint64_t>(cursor.now.us));
    if (cursor.total) {
        append_number(bytes, *cursor.total);
    }
    if (cursor.carried != 0) {
        append_number(bytes, cursor.carried);
    }
    bytes += check_of(bytes);

    return encode_base64url(bytes);
}

Result<Cursor> read_cursor(std::string_view text) {
    const std::optional<std::string> bytes = decode_base64url(text);
    if (!bytes || bytes->size() < 2 + kCheckBytes) {
        return malformed_cursor();
    }
    std::string_view rest = std::string_view(*bytes).substr(0, bytes->size() - kCheckBytes);
    if (check_of(rest) != std::string_view(*bytes).substr(rest.size()) || rest[0] != kVersion) {
        return malformed_cursor();
    }
    const auto flags = static_cast<unsigned char>(rest[1]);
    rest.remove_prefix(2);
    const auto snapshot = take_number(rest);
    const auto edge = take_number(rest);
    const auto query = take_number(rest);
    const auto now = take_number(rest);
    Cursor cursor;
    cursor.backwards = (flags & kBackwards) != 0;
    cursor.by_instant = (flags & kByInstant) != 0;
    if ((flags & kTotal) != 0) {
        cursor.total = take_number(rest);
        if (!cursor.total) {
            return malformed_cursor();
        }
    }
    if ((flags & kCarriedToo) != 0) {
        const auto carried = take_number(rest);
        if (!carried) {
            return malformed_cursor();
        }
        cursor.carried = *carried;
    }
    if (!snapshot || !edge || !query || *query > UINT32_MAX || !now || *now > kNowMax ||
        !rest.empty()) {
        return malformed_cursor();
    }
    cursor.snapshot = {*snapshot};
    cursor.edge = {*edge};
    cursor.query = static_cast<std::uint32_t>(*query);
    cursor.now = {static_cast<std::int64_t>(*now)};
    return cursor;
}

}  // namespace annals::core::search
