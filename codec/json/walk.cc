#include "codec/json/walk.h"

#include "codec/json/scan.h"
#include "codec/schema/expectation.h"
#include "core/base/bytes.h"

#include <simdjson.h>

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace annals::json {

using schema::Expectation;

// An object or array that is open.
struct Walk::Frame {
    // Two bits of a word per key: if both are set already, the object may have a duplicate key.
    std::array<std::uint64_t, 8> keys;
    std::uint32_t node;
    std::uint32_t count;  // members or elements so far
    bool object;
    bool suspect;
    // The rest is used by a checked parse only.
    bool resource;
    bool contained;
    std::uint32_t doubts;  // when it began
    std::uint32_t seen;    // as in Expectation::seen
    Expectation* start;
    Expectation* before;  // of the last member; in an array: of its elements
};

namespace {

constexpr const char* kTooDeep = "nested too deeply";

// No fault yet: the text is left to the walk that counts white space.
constexpr const char* kGivenUp = "given up";

// A hash of the key's length and first eight bytes, in the upper bits. Requires: eight readable bytes.
inline std::uint64_t hash_key(const char* key, std::uint32_t size) noexcept {
    auto word = load_le<std::uint64_t>(key);
    if (size < 8) {
        word &= (std::uint64_t{1} << size * 8) - 1;
    }
    return (word ^ size) * 0x9e37'79b9'7f4a'7c15;
}

}  // namespace

Walk::Walk(std::size_t depth_max) : frames_(depth_max) {
}

Walk::~Walk() = default;

std::size_t Walk::nodes_max(std::size_t tokens) const noexcept {
    return tokens / 2 + frames_.size() + 2;
}

bool Walk::run_checked(std::string_view text, std::span<Node> nodes) {
    suspects_.clear();
    deep_ = false;
    depth_max_ = std::min(frames_.size(), kJsonDepthMax);
    return run<true, Mode::direct>(text, {}, nodes).message == nullptr;
}

Fault Walk::run(std::string_view text, std::span<const std::uint32_t> tokens, bool checked,
                std::span<Node> nodes) {
    const bool spaced = is_spaced(text);
    const auto walk = [&](std::size_t depth_max) {
        depth_max_ = depth_max;
        suspects_.clear();
        if (checked) {
            return run<true, Mode::spaced>(text, tokens, nodes);
        }
        const Fault fault =
            spaced ? Fault{0, kGivenUp} : run<false, Mode::compact>(text, tokens, nodes);
        if (fault.message != kGivenUp) {
            return fault;
        }
        suspects_.clear();
        return run<false, Mode::spaced>(text, tokens, nodes);
    };
    // Anything nested deeper than a resource may be is rare enough to be walked twice.
    const std::size_t usual = std::min(frames_.size(), kJsonDepthMax);
    const Fault fault = walk(usual);
    deep_ = fault.message == kTooDeep && usual < frames_.size();
    return deep_ ? walk(frames_.size()) : fault;
}

// A state machine whose states are places in the code, so that each has its own branches to predict.
template <bool kChecked, Walk::Mode kMode>
Fault Walk::run(std::string_view whole, std::span<const std::uint32_t> tokens,
                std::span<Node> room) {
    constexpr bool kTokens = kMode != Mode::direct;
    constexpr bool kSpaced = kMode == Mode::spaced;
    const char* const text = whole.data();
    Node* const nodes = room.data();
    const std::uint32_t* token = tokens.data();
    std::uint32_t place = kTokens ? *token : 0;  // of the token
    Frame* const outermost = frames_.data();
    Frame* const innermost = outermost + depth_max_;
    Frame* frame = outermost - 1;
    std::uint32_t index = 0;      // the next node to make
    std::uint32_t space = place;  // white space before the token
    std::uint32_t doubts = 0;
    __m256i seen = _mm256_setzero_si256();  // the bits of all strings, without tokens
    Expectation* const starts = kChecked ? schema::anything() : nullptr;
    Expectation* expected = starts;  // for the current value
    Opening opening{starts, kChecked, false};

    // The first backslash at or after `from`.
    const auto find_escape = [whole](std::uint32_t from) {
        return static_cast<std::uint32_t>(std::min(whole.find('\\', from), whole.size()));
    };
    std::uint32_t escape = kTokens ? find_escape(place) : 0;

    const auto add_node = [&](std::uint32_t begin, std::uint32_t end, Kind kind, bool escaped)
                              __attribute__((always_inline)) {
                                  Node& node = nodes[index++];
                                  node = {begin - space, end - space, index, 0, kind, escaped};
                              };
    // Of the string last seen by find_end().
    bool escaped = false;
    bool control = false;   // among its escapes
    std::uint64_t low = 0;  // without tokens: see Stop
    // The end of the string at the token, or 0 if it is invalid.
    const auto find_end = [&]() __attribute__((always_inline)) -> std::uint32_t {
        if constexpr (kTokens) {
            std::uint32_t end =
                token[1];  // stage 1 ensures that only white space follows the quote
            while (text[end - 1] != '"') [[unlikely]] {
                if constexpr (!kSpaced) {
                    return 0;
                }
                --end;
            }
            escaped = escape < end;
            if (escaped) [[unlikely]] {
                const char* where = nullptr;
                control = false;
                escape = find_escape(end);
                const char* const first = text + place + 1;
                return check_escapes(first, text + end - 1, where, control) == nullptr ? end : 0;
            }
            return end;
        } else {
            Stop stop = find_string_stop(text + place + 1, seen);
            low = stop.low;
            escaped = control = false;
            while (*stop.at != '"') [[unlikely]] {
                escaped = true;
                if (*stop.at != '\\' || check_escape(stop.at, control) != nullptr) {
                    return 0;
                }
                stop = find_string_stop(stop.at, seen);
            }
            return static_cast<std::uint32_t>(stop.at + 1 - text);
        }
    };
    // Makes a node for the string at the token; returns its end, or 0 if it is invalid.
    const auto add_string = [&]() __attribute__((always_inline)) -> std::uint32_t {
        const std::uint32_t end = find_end();
        if (escaped) [[unlikely]] {
            add_node(place, end, Kind::string, true);
            nodes[index - 1].control = control;
        } else {
            add_node(place, end, Kind::string, false);
        }
        return end;
    };
    // Moves from the token, which ends at `end`, to the next.
    const auto advance = [&](std::uint32_t end) __attribute__((always_inline)) {
        if constexpr (kTokens) {
            ++token;
            place = *token;
            if constexpr (kSpaced) {
                space += place - end;
            }
            return kSpaced || place == end;
        } else {
            place = end;
            return true;
        }
    };
    // Whether nothing but white space can be between the token, a number or literal that ends at `end`, and the next.
    const auto ends_at = [&](std::uint32_t end) __attribute__((always_inline)) {
        return !kTokens || end == token[1] || (kSpaced && is_space(text[end]));
    };
    const auto fail = [&](const char* what) __attribute__((always_inline)) {
        return Fault{place, kSpaced ? what : kGivenUp};
    };
    // Counts a doubt if the scalar added last isn't plainly the expected one.
    const auto doubt_scalar = [&](bool in_array) __attribute__((always_inline)) {
        doubts += !schema::is_plain(*expected, in_array, nodes[index - 1], text + place);
    };
    const auto check_kind = [&](bool in_array, Kind kind) __attribute__((always_inline)) {
        if constexpr (kChecked) {
            if ((in_array ? expected->item_kind : expected->kind) !=
                static_cast<std::uint8_t>(kind)) {
                doubt_scalar(in_array);
            }
        }
    };
    // Makes a node for the string, number or literal at the token and moves on; false if it is invalid.
    const auto take_scalar = [&](bool in_array) __attribute__((always_inline)) {
        const char* const at = text + place;
        std::uint32_t end = 0;
        if (*at == '"') [[likely]] {
            end = add_string();
            if (end == 0) [[unlikely]] {
                return false;
            }
            if constexpr (kChecked) {
                const std::uint32_t size = end - place - 2;
                if (escaped ||
                    !schema::is_settled(*expected, in_array ? expected->item_kind : expected->kind,
                                        kTokens ? schema::low_bytes(at + 1) : low, size)) {
                    doubt_scalar(in_array);
                }
            }
        } else if (is_digit(*at) || *at == '-') {
            const Number number = scan_number(at);
            end = static_cast<std::uint32_t>(number.end - text);
            if (number.message != nullptr || !ends_at(end)) [[unlikely]] {
                return false;
            }
            add_node(place, end, Kind::number, false);
            check_kind(in_array, Kind::number);
        } else {
            const std::string_view literal = *at == 't' ? "true" : *at == 'f' ? "false" : "null";
            end = place + static_cast<std::uint32_t>(literal.size());
            if (std::memcmp(at, literal.data(), literal.size()) != 0 || !ends_at(end))
                [[unlikely]] {
                return false;
            }
            const Kind kind = *at == 'n' ? Kind::null : Kind::boolean;
            add_node(place, end, kind, false);
            check_kind(in_array, kind);
        }
        return advance(end);
    };

    if (!kSpaced && space != 0) {
        return fail(kGivenUp);
    }
    switch (text[place]) {
        case '{':
            goto open_object;
        case '[':
            goto open_array;
        default:
            if (!take_scalar(false)) {
                goto wrong_scalar;
            }
            goto finish;
    }

open_object:
    if (++frame == innermost) [[unlikely]] {
        return fail(kTooDeep);
    }
    frame->keys = {};
    frame->node = index;
    frame->count = 0;
    frame->object = true;
    frame->suspect = false;
    if constexpr (kChecked) {
        if (opening.resource) [[unlikely]] {
            const char* const name = kTokens ? find_resource_type_ahead(text, token)
                                             : find_first_resource_type(text + place);
            if (!kTokens && name == nullptr) {
                return fail("a resource without resourceType");
            }
            opening.start = start_of_resource(name, doubts);
        }
        frame->resource = opening.resource;
        frame->contained = opening.contained;
        frame->doubts = doubts;
        frame->seen = 0;
        frame->start = frame->before = opening.start;
    }
    add_node(place, 0, Kind::object, false);
    if (!advance(place + 1)) [[unlikely]] {
        return fail(kGivenUp);
    }
    if (text[place] == '}') {
        ++doubts;
        goto close;
    }

object_member: {
    if (!kTokens && index + 2 > room.size()) [[unlikely]] {
        return fail(kGivenUp);
    }
    if (text[place] != '"') [[unlikely]] {
        return fail(frame->count == 0 ? "expected a key or '}'" : "expected a key");
    }
    const char* const key = text + place + 1;
    std::uint32_t end = 0;
    bool placed = false;  // among the members that the object's type can have
    if constexpr (kChecked) {
        expected = frame->before->next;
        placed = schema::has_name(*expected, key);
    }
    if (placed) [[likely]] {
        end = place + expected->key_bytes;
        add_node(place, end, Kind::string, false);
    } else {
        end = add_string();
        if (end == 0) [[unlikely]] {
            goto wrong_scalar;
        }
        if constexpr (kChecked) {
            expected = escaped ? starts
                               : schema::expect(frame->start, frame->before, key, end - place - 2,
                                                frame->seen);
            doubts += expected == starts;
            placed = expected->known;
        }
    }
    std::uint64_t* keys = nullptr;
    std::uint64_t bits = 0;
    if (placed) {
        keys = &frame->keys[expected->place / 64];
        bits = std::uint64_t{1} << expected->place % 64;
        doubts += (frame->seen & expected->once) != 0;
        frame->seen |= expected->seen;
        frame->before = expected;
    } else {
        const std::uint64_t hash = hash_key(key, end - place - 2);
        keys = &frame->keys[kChecked ? 4 + (hash >> 62) : hash >> 61];
        bits = std::uint64_t{1} << (hash >> 55 & 63) | std::uint64_t{1} << (hash >> 49 & 63);
        frame->suspect = frame->suspect || escaped;
    }
    if ((*keys & bits) == bits) [[unlikely]] {
        frame->suspect = true;
    }
    *keys |= bits;
    ++frame->count;
    if (!advance(end)) [[unlikely]] {
        return fail(kGivenUp);
    }
    if (text[place] != ':') [[unlikely]] {
        return fail("expected ':' after the key");
    }
    if (!advance(place + 1)) [[unlikely]] {
        return fail(kGivenUp);
    }
    switch (text[place]) {
        case '{':
            if constexpr (kChecked) {
                if (expected->opens == static_cast<std::uint8_t>(Kind::object)) {
                    opening = {starts + expected->type, false, false};
                } else {
                    opening = open_other(*expected, false, doubts);
                }
            }
            goto open_object;
        case '[':
            goto open_array;
        default:
            if (!take_scalar(false)) [[unlikely]] {
                goto wrong_scalar;
            }
    }
}

object_continue:
    if (text[place] == ',') {
        if (!advance(place + 1)) [[unlikely]] {
            return fail(kGivenUp);
        }
        goto object_member;
    }
    if (text[place] != '}') [[unlikely]] {
        return fail("expected ',' or '}'");
    }
    goto close;

open_array:
    if (++frame == innermost) [[unlikely]] {
        return fail(kTooDeep);
    }
    frame->node = index;
    frame->count = 0;
    frame->object = false;
    frame->suspect = false;
    if constexpr (kChecked) {
        if (expected->opens != static_cast<std::uint8_t>(Kind::array)) [[unlikely]] {
            ++doubts;
            expected = starts;
        }
        frame->resource = false;
        frame->start = starts;
        frame->before = expected;
    }
    add_node(place, 0, Kind::array, false);
    if (!advance(place + 1)) [[unlikely]] {
        return fail(kGivenUp);
    }
    if (text[place] == ']') {
        ++doubts;
        goto close;
    }

array_element:
    if (!kTokens && index + 2 > room.size()) [[unlikely]] {
        return fail(kGivenUp);
    }
    ++frame->count;
    if constexpr (kChecked) {
        expected = frame->before;
    }
    switch (text[place]) {
        case '{':
            if constexpr (kChecked) {
                if (expected->check == Expectation::Check::complex) [[likely]] {
                    opening = {starts + expected->type, false, false};
                } else {
                    opening = open_other(*expected, true, doubts);
                }
            }
            goto open_object;
        case '[':
            if constexpr (kChecked) {
                ++doubts;
                expected = starts;
            }
            goto open_array;
        default:
            if (!take_scalar(true)) [[unlikely]] {
                goto wrong_scalar;
            }
    }

array_continue:
    if (text[place] == ',') {
        if (!advance(place + 1)) [[unlikely]] {
            return fail(kGivenUp);
        }
        goto array_element;
    }
    if (text[place] != ']') [[unlikely]] {
        return fail("expected ',' or ']'");
    }

close: {
    Node& container = nodes[frame->node];
    container.end = place + 1 - space;
    container.next = index;
    container.count = frame->count;
    if constexpr (kChecked) {
        doubts += (frame->start->seen & ~frame->seen) != 0;
        if (frame->resource) {
            doubts +=
                frame->contained && !schema::is_contained_well(*frame->start, frame->keys.data());
            container.sound = doubts == frame->doubts;
        }
    }
    if (frame->suspect) [[unlikely]] {
        suspects_.push_back(frame->node);
    }
    --frame;
    if (!advance(place + 1)) [[unlikely]] {
        return fail(kGivenUp);
    }
    if (frame < outermost) {
        goto finish;
    }
    if (frame->object) {
        goto object_continue;
    }
    goto array_continue;
}

finish:
    if (place != whole.size()) [[unlikely]] {
        return fail("expected nothing after the value");
    }
    if (_mm256_movemask_epi8(seen) != 0 && !simdjson::validate_utf8(text, whole.size())) {
        return fail("invalid UTF-8");
    }
    node_count_ = index;
    space_count_ = space;
    return {};

wrong_scalar:
    return kSpaced ? explain_scalar(text, place) : fail(kGivenUp);
}

}  // namespace annals::json
