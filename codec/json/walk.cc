#include "codec/json/walk.h"

#include "codec/schema/expectation.h"
#include "core/base/bytes.h"

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

// No fault: the text may have white space between its tokens, which this walk does not count.
constexpr const char* kUncounted = "uncounted";

// A hash of the key's length and first eight bytes, in the upper bits. Requires: eight readable bytes.
inline std::uint64_t hash_key(const char* key, std::uint32_t size) noexcept {
    auto word = load_le<std::uint64_t>(key);
    if (size < 8) {
        word &= (std::uint64_t{1} << size * 8) - 1;
    }
    return (word ^ size) * 0x9e37'79b9'7f4a'7c15;
}

// The beginning of an object in a checked parse.
struct Opening {
    Expectation* start;
    bool resource;
    bool contained;
};

// The value of resourceType in the object that begins at the token; null unless it is among the first
// kTokensAhead. Requires: the text is padded with NUL, which is the last token.
const char* find_resource_type(const char* text, const std::uint32_t* token) noexcept {
    constexpr std::string_view kKey = "\"resourceType\"";
    constexpr int kTokensAhead = 4096;
    int depth = 0;
    for (int i = 1; i <= kTokensAhead && text[token[i]] != '\0' && depth >= 0; ++i) {
        const char* const at = text + token[i];
        if (depth == 0 && *at == '"' && std::memcmp(at, kKey.data(), kKey.size()) == 0 &&
            text[token[i + 1]] == ':') {
            return text + token[i + 2];
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
    }
    return nullptr;
}

// For the resource that begins at the token.
[[gnu::noinline]] Opening open_resource(const char* text, const std::uint32_t* token,
                                        bool contained, std::uint32_t& doubts) noexcept {
    const char* const name = find_resource_type(text, token);
    Expectation* const start =
        name == nullptr ? schema::anything() : schema::start_of_resource(name);
    doubts += start == schema::anything();
    return {start, true, contained};
}

// For an object that is not plainly the expected one.
[[gnu::noinline]] Opening open_other(const char* text, const std::uint32_t* token,
                                     const Expectation& expected, bool in_array,
                                     std::uint32_t& doubts) noexcept {
    const bool contained = expected.check == Expectation::Check::contained;
    if (in_array == expected.repeats() &&
        (contained || expected.check == Expectation::Check::resource)) {
        return open_resource(text, token, contained, doubts);
    }
    ++doubts;
    return {schema::anything(), false, false};
}

}  // namespace

Walk::Walk(std::size_t depth_max) : frames_(depth_max) {
}

Walk::~Walk() = default;

std::size_t Walk::nodes_max(std::size_t tokens) const noexcept {
    return tokens / 2 + frames_.size() + 2;
}

Fault Walk::run(const char* text, std::span<const std::uint32_t> tokens, bool checked,
                Node* nodes) {
    const auto walk_once = [&](auto spaced) {
        suspects_.clear();
        return checked ? run<true, spaced.value>(text, tokens, nodes)
                       : run<false, spaced.value>(text, tokens, nodes);
    };
    // Most texts have no white space, or else some after the first brace or at the end: few are
    // walked far before that is seen.
    const bool spaced =
        is_space(text[tokens[0] + 1]) || is_space(text[tokens.data()[tokens.size()] - 1]);
    const auto walk = [&](std::size_t depth_max) {
        depth_max_ = depth_max;
        const Fault fault = spaced ? Fault{0, kUncounted} : walk_once(std::false_type());
        return fault.message == kUncounted ? walk_once(std::true_type()) : fault;
    };
    // Anything nested deeper than a resource may be is rare enough to be walked twice.
    const std::size_t usual = std::min(frames_.size(), kJsonDepthMax);
    const Fault fault = walk(usual);
    deep_ = fault.message == kTooDeep && usual < frames_.size();
    return deep_ ? walk(frames_.size()) : fault;
}

// A state machine whose states are places in the code, so that each has its own branches to predict.
template <bool kChecked, bool kSpaced>
Fault Walk::run(const char* const text, std::span<const std::uint32_t> tokens, Node* const nodes) {
    const std::uint32_t* token = tokens.data();
    const std::uint32_t* const last = token + tokens.size();  // *last is the text's size
    Frame* const outermost = frames_.data();
    Frame* const innermost = outermost + depth_max_;
    Frame* frame = outermost - 1;
    std::uint32_t index = 0;  // the next node to make
    std::uint32_t space = 0;  // white space before the token
    std::uint32_t doubts = 0;
    Expectation* const starts = kChecked ? schema::anything() : nullptr;
    Expectation* expected = starts;  // for the current value
    Opening opening{starts, false, false};

    // The first backslash at or after `from`.
    const auto find_escape = [text, size = *last](std::uint32_t from) {
        const auto* found = static_cast<const char*>(std::memchr(text + from, '\\', size - from));
        return found == nullptr ? size : static_cast<std::uint32_t>(found - text);
    };
    std::uint32_t escape = find_escape(*token);

    const auto add_node = [&](std::uint32_t begin, std::uint32_t end, Kind kind, bool escaped)
                              __attribute__((always_inline)) {
                                  Node& node = nodes[index++];
                                  node = {begin - space, end - space, index, 0, kind, escaped};
                              };
    bool escaped = false;  // of the string last seen by add_string()
    // Makes a node for the string at the token; returns its end, or 0 if its escapes are invalid or space follows.
    const auto add_string = [&]() __attribute__((always_inline)) -> std::uint32_t {
        const std::uint32_t begin = token[0];
        std::uint32_t end = token[1];  // stage 1 ensures that only white space follows the quote
        while (text[end - 1] != '"') [[unlikely]] {
            if constexpr (!kSpaced) {
                return 0;
            }
            --end;
        }
        if (escape < end) [[unlikely]] {
            const char* where = nullptr;
            bool control = false;
            if (check_escapes(text + begin + 1, text + end - 1, where, control) != nullptr) {
                return 0;
            }
            escape = find_escape(end);
            add_node(begin, end, Kind::string, true);
            nodes[index - 1].control = control;
            escaped = true;
        } else {
            add_node(begin, end, Kind::string, false);
            escaped = false;
        }
        return end;
    };
    // Moves from the token, which ends at `end`, to the next. False if there is space between them, and none is counted.
    const auto advance = [&](std::uint32_t end) __attribute__((always_inline)) {
        ++token;
        if constexpr (kSpaced) {
            space += *token - end;
        }
        return kSpaced || *token == end;
    };
    const auto fail = [&](const char* what)
                          __attribute__((always_inline)) { return Fault{*token, what}; };
    // Counts a doubt if the scalar added last isn't plainly the expected one.
    const auto doubt_scalar = [&](bool in_array) __attribute__((always_inline)) {
        doubts += !schema::is_plain(*expected, in_array, nodes[index - 1], text + *token);
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
        const char* const at = text + *token;
        std::uint32_t end = 0;
        if (*at == '"') [[likely]] {
            end = add_string();
            if (end == 0) [[unlikely]] {
                return false;
            }
            if constexpr (kChecked) {
                if (escaped ||
                    !schema::is_settled(*expected, in_array ? expected->item_kind : expected->kind,
                                        at + 1, end - *token - 2)) {
                    doubt_scalar(in_array);
                }
            }
        } else if (is_digit(*at) || *at == '-') {
            const Number number = scan_number(at);
            end = static_cast<std::uint32_t>(number.end - text);
            if (number.message != nullptr || (end != token[1] && !is_space(text[end])))
                [[unlikely]] {
                return false;
            }
            add_node(*token, end, Kind::number, false);
            check_kind(in_array, Kind::number);
        } else {
            const std::string_view literal = *at == 't' ? "true" : *at == 'f' ? "false" : "null";
            end = *token + static_cast<std::uint32_t>(literal.size());
            if (std::memcmp(at, literal.data(), literal.size()) != 0 ||
                (end != token[1] && !is_space(text[end]))) [[unlikely]] {
                return false;
            }
            const Kind kind = *at == 'n' ? Kind::null : Kind::boolean;
            add_node(*token, end, kind, false);
            check_kind(in_array, kind);
        }
        return advance(end);
    };

    if constexpr (kSpaced) {
        space = *token;
    } else if (*token != 0) {
        goto uncounted;
    }
    switch (text[*token]) {
        case '{':
            if constexpr (kChecked) {
                opening = open_resource(text, token, false, doubts);
            }
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
        frame->resource = opening.resource;
        frame->contained = opening.contained;
        frame->doubts = doubts;
        frame->seen = 0;
        frame->start = frame->before = opening.start;
    }
    add_node(*token, 0, Kind::object, false);
    if (!advance(*token + 1)) [[unlikely]] {
        goto uncounted;
    }
    if (text[*token] == '}') {
        ++doubts;
        goto close;
    }

object_member: {
    if (text[*token] != '"') [[unlikely]] {
        return fail(frame->count == 0 ? "expected a key or '}'" : "expected a key");
    }
    const char* const key = text + *token + 1;
    std::uint32_t end = 0;
    bool placed = false;  // among the members that the object's type can have
    if constexpr (kChecked) {
        expected = frame->before->next;
        placed = schema::has_name(*expected, key);
    }
    if (placed) [[likely]] {
        end = *token + expected->key_bytes;
        add_node(*token, end, Kind::string, false);
    } else {
        end = add_string();
        if (end == 0) [[unlikely]] {
            goto wrong_scalar;
        }
        if constexpr (kChecked) {
            expected = escaped ? starts
                               : schema::expect(frame->start, frame->before, key, end - *token - 2,
                                                frame->seen);
            doubts += expected == starts;
            placed = expected->key_bytes != 0;
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
        const std::uint64_t hash = hash_key(key, end - *token - 2);
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
        goto uncounted;
    }
    if (text[*token] != ':') [[unlikely]] {
        return fail("expected ':' after the key");
    }
    if (!advance(*token + 1)) [[unlikely]] {
        goto uncounted;
    }
    switch (text[*token]) {
        case '{':
            if constexpr (kChecked) {
                if (expected->opens == static_cast<std::uint8_t>(Kind::object)) {
                    opening = {starts + expected->type, false, false};
                } else {
                    opening = open_other(text, token, *expected, false, doubts);
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
    if (text[*token] == ',') {
        if (!advance(*token + 1)) [[unlikely]] {
            goto uncounted;
        }
        goto object_member;
    }
    if (text[*token] != '}') [[unlikely]] {
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
    add_node(*token, 0, Kind::array, false);
    if (!advance(*token + 1)) [[unlikely]] {
        goto uncounted;
    }
    if (text[*token] == ']') {
        ++doubts;
        goto close;
    }

array_element:
    ++frame->count;
    if constexpr (kChecked) {
        expected = frame->before;
    }
    switch (text[*token]) {
        case '{':
            if constexpr (kChecked) {
                if (expected->check == Expectation::Check::complex) [[likely]] {
                    opening = {starts + expected->type, false, false};
                } else {
                    opening = open_other(text, token, *expected, true, doubts);
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
    if (text[*token] == ',') {
        if (!advance(*token + 1)) [[unlikely]] {
            goto uncounted;
        }
        goto array_element;
    }
    if (text[*token] != ']') [[unlikely]] {
        return fail("expected ',' or ']'");
    }

close: {
    Node& container = nodes[frame->node];
    container.end = *token + 1 - space;
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
    if (!advance(*token + 1)) [[unlikely]] {
        goto uncounted;
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
    if (token != last) [[unlikely]] {
        return fail("expected nothing after the value");
    }
    node_count_ = index;
    space_count_ = space;
    return {};

wrong_scalar:
    if constexpr (kSpaced) {
        return explain_scalar(text, *token);
    }

uncounted:
    return fail(kUncounted);
}

}  // namespace annals::json
