// Parsing: simdjson's stage 1 finds the tokens and checks UTF-8, quotes and control characters; the walk
// here checks everything else and builds the nodes. Tokens are visited in the text as it came, and the
// white space between them is added up, so that the nodes' offsets are those of the minified text, which
// simdjson::minify makes last (it would join "1 2" into a valid 12, so it only sees what is valid).

#include "codec/json/document.h"
#include "codec/json/unicode.h"
#include "core/base/digest.h"
#include "core/base/random.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace annals::json {

namespace {

constexpr std::size_t kPaddingBytes = 64;
constexpr std::size_t kKeptTextBytesMax = 4
                                          << 20;  // larger buffers are not kept for the next parse
constexpr std::size_t kKeptNodesMax = 1 << 18;
constexpr std::size_t kKeptTrees = 8;
constexpr std::uint32_t kPairwiseKeysMax = 16;

static_assert(kPaddingBytes >= simdjson::SIMDJSON_PADDING);
static_assert(sizeof(Node) <= 24);

constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

constexpr bool is_space(char c) noexcept {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// What breaks the grammar first, and where in the text as it came; no message: nothing does.
struct Fault {
    std::size_t offset = 0;
    const char* message = nullptr;
};

struct Frame {
    std::uint64_t keys;   // one bit per key seen: a clear bit proves that a key is new
    std::uint32_t node;   // the container
    std::uint32_t count;  // members or elements so far
    bool object;
    bool thorough;  // its keys are checked when it closes
};

// The first character of `at` that breaks the grammar of numbers, or the end of the number.
struct NumberScan {
    const char* end;
    const char* fault;
};

NumberScan scan_number(const char* at) noexcept {
    if (*at == '-') {
        ++at;
    }
    if (*at == '0') {
        ++at;
        if (is_digit(*at)) {
            return {at, "a number has no leading zeros"};
        }
    } else if (is_digit(*at)) {
        do {
            ++at;
        } while (is_digit(*at));
    } else {
        return {at, "expected a digit"};
    }
    if (*at == '.') {
        ++at;
        if (!is_digit(*at)) {
            return {at, "expected a digit after the decimal point"};
        }
        do {
            ++at;
        } while (is_digit(*at));
    }
    if (*at == 'e' || *at == 'E') {
        ++at;
        if (*at == '+' || *at == '-') {
            ++at;
        }
        if (!is_digit(*at)) {
            return {at, "expected a digit in the exponent"};
        }
        do {
            ++at;
        } while (is_digit(*at));
    }
    return {at, nullptr};
}

// Checks the escapes of a string's characters.
const char* check_escapes(const char* at, const char* end, const char*& where) noexcept {
    for (;;) {
        const auto* backslash =
            static_cast<const char*>(std::memchr(at, '\\', static_cast<std::size_t>(end - at)));
        if (backslash == nullptr) {
            return nullptr;
        }
        where = backslash;
        at = backslash + 2;
        switch (backslash[1]) {
            case '"':
            case '\\':
            case '/':
            case 'b':
            case 'f':
            case 'n':
            case 'r':
            case 't':
                break;
            case 'u': {
                const std::int32_t unit = hex_quad(at);
                if (unit < 0) {
                    return "expected four hexadecimal digits after \\u";
                }
                at += 4;
                if (is_low_surrogate(unit)) {
                    return "a low surrogate without the high one before it";
                }
                if (is_high_surrogate(unit)) {
                    if (at[0] != '\\' || at[1] != 'u' || !is_low_surrogate(hex_quad(at + 2))) {
                        return "a high surrogate without the low one after it";
                    }
                    at += 6;
                }
                break;
            }
            default:
                return "no such escape";
        }
    }
}

// One bit of 64 by the key's length and first eight bytes. Requires: eight readable bytes.
inline std::uint64_t key_bit(const char* key, std::uint32_t size) noexcept {
    std::uint64_t word;
    std::memcpy(&word, key, sizeof word);
    if (size < 8) {
        word &= (std::uint64_t{1} << size * 8) - 1;
    }
    return std::uint64_t{1} << ((word ^ size) * 0x9e37'79b9'7f4a'7c15 >> 58);
}

// Finds what stage 1 only reports as being somewhere.
Fault find_lexical_fault(std::string_view text) noexcept {
    std::size_t quote = 0;
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (!inside) {
            if (byte == '\\' || byte > 0x7e || (byte < 0x20 && !is_space(text[i]))) {
                return {i, "unexpected character"};
            }
            inside = byte == '"';
            quote = i;
        } else if (byte == '"') {
            inside = false;
        } else if (byte < 0x20) {
            return {i, "a control character in a string must be escaped"};
        } else if (byte == '\\') {
            // An escaped control character is one still.
            i += i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) >= 0x20 &&
                 static_cast<unsigned char>(text[i + 1]) < 0x80;
        } else if (byte >= 0x80) {
            const std::size_t length = utf8_length(text.substr(i));
            if (length == 0) {
                return {i, "invalid UTF-8"};
            }
            i += length - 1;
        }
    }
    return inside ? Fault{quote, "a string without its closing quote"}
                  : Fault{text.size(), "unexpected end"};
}

Error describe(std::string_view text, const Fault& fault) {
    const std::string_view before = text.substr(0, fault.offset);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    const auto lines = std::count(before.begin(), before.end(), '\n');
    const auto column = std::count_if(before.begin() + static_cast<std::ptrdiff_t>(line_start),
                                      before.end(), [](char c) { return (c & 0xc0) != 0x80; });
    return {Errc::invalid,
            fmt::format("invalid JSON at byte {} (line {}, column {}): {}", fault.offset, lines + 1,
                        column + 1, fault.offset == text.size() ? "unexpected end" : fault.message),
            {}};
}

// What to allocate for `size` things: powers of two, so that texts of similar size fit the next time.
std::size_t roomy(std::size_t size, std::size_t kept_max) noexcept {
    return size > kept_max ? size : std::bit_ceil(std::max<std::size_t>(size, 256));
}

}  // namespace

struct Parser::Impl {
    struct Slot {
        std::uint64_t hash = 0;
        std::uint32_t key = 0;  // node; 0 (always the root, never a key) where the slot is free
    };

    explicit Impl(std::size_t depth_max) : frames(depth_max) { spare.reserve(kKeptTrees); }

    std::vector<Frame> frames;
    std::unique_ptr<simdjson::internal::dom_parser_implementation> stage1;
    std::vector<std::uint32_t> spaces;  // by node: white space before a key in the text as it came
    std::vector<Slot> slots;
    std::vector<std::unique_ptr<Tree>> spare;
    const std::uint64_t seed = random_u64();  // no text can be made to collide

    std::unique_ptr<Tree> take_tree() {
        if (spare.empty()) {
            return std::make_unique<Tree>();
        }
        std::unique_ptr<Tree> tree = std::move(spare.back());
        spare.pop_back();
        return tree;
    }

    simdjson::error_code find_tokens(const char* text, std::size_t size);
    Fault walk(const char* text, Node* nodes, std::size_t& node_count, std::size_t& space_count);

    std::string_view key_at(const char* text, const Node* nodes, std::uint32_t key) const noexcept {
        return {text + nodes[key].begin + spaces[key] + 1, nodes[key].end - nodes[key].begin - 2};
    }

    bool repeats_key(const char* text, const Node* nodes, std::uint32_t object,
                     std::uint32_t key) const noexcept;
    std::uint32_t find_repeated_key(const char* text, const Node* nodes, std::uint32_t object);
};

simdjson::error_code Parser::Impl::find_tokens(const char* text, std::size_t size) {
    if (stage1 == nullptr || stage1->capacity() < size) {
        const std::size_t capacity = std::min<std::size_t>(
            std::bit_ceil(std::max<std::size_t>(size, 4096)), simdjson::SIMDJSON_MAXSIZE_BYTES);
        stage1.reset();
        if (simdjson::get_active_implementation()->create_dom_parser_implementation(
                capacity, 1, stage1) != simdjson::SUCCESS) {
            stage1.reset();
            throw std::bad_alloc();
        }
    }
    return stage1->stage1(reinterpret_cast<const std::uint8_t*>(text), size,
                          simdjson::stage1_mode::regular);
}

// True if a member of `object` before the one of `key` has the same key.
bool Parser::Impl::repeats_key(const char* text, const Node* nodes, std::uint32_t object,
                               std::uint32_t key) const noexcept {
    const std::string_view name = key_at(text, nodes, key);
    for (std::uint32_t other = object + 1; other < key; other = nodes[other + 1].next) {
        if (key_at(text, nodes, other) == name) {
            return true;
        }
    }
    return false;
}

// The first key of `object`, which is complete, that an earlier member has, escapes resolved; or 0.
std::uint32_t Parser::Impl::find_repeated_key(const char* text, const Node* nodes,
                                              std::uint32_t object) {
    slots.assign(std::bit_ceil(std::size_t{nodes[object].count} * 2), Slot());
    const std::size_t mask = slots.size() - 1;
    std::string name;
    std::string other;
    const auto resolve = [&](std::uint32_t key, std::string& out) {
        out.clear();
        append_unescaped(out, key_at(text, nodes, key));
    };
    for (std::uint32_t key = object + 1; key < nodes[object].next; key = nodes[key + 1].next) {
        resolve(key, name);
        const std::uint64_t hash = hash64(name, seed);
        std::size_t at = hash & mask;
        for (; slots[at].key != 0; at = (at + 1) & mask) {
            if (slots[at].hash == hash) {
                resolve(slots[at].key, other);
                if (name == other) {
                    return key;
                }
            }
        }
        slots[at] = {hash, key};
    }
    return 0;
}

// Checks the grammar and builds the nodes. Requires: stage 1 has succeeded, `nodes` and `spaces` have
// room for a valid text's nodes and `frames.size()` more, `text` is padded with NUL.
Fault Parser::Impl::walk(const char* text, Node* nodes, std::size_t& node_count,
                         std::size_t& space_count) {
    const std::uint32_t* const tokens = stage1->structural_indexes.get();
    const std::uint32_t* token = tokens;  // after the last one stands the text's size
    const std::uint32_t* const last = tokens + stage1->n_structural_indexes;
    Frame* const outermost = frames.data();
    Frame* const beyond = outermost + frames.size();
    Frame* frame = outermost - 1;
    std::uint32_t used = 0;           // nodes
    std::uint32_t escape = 0;         // the first backslash at or after the last string
    std::uint32_t space = tokens[0];  // white space before `at`
    std::uint32_t at = tokens[0];     // the current token
    const std::uint32_t size = *last;

    const auto find_escape = [&](std::uint32_t from) {
        const auto* found = static_cast<const char*>(std::memchr(text + from, '\\', size - from));
        return found == nullptr ? size : static_cast<std::uint32_t>(found - text);
    };
    // Goes from the token that ends at `end` to the next one.
    const auto advance = [&](std::uint32_t end) __attribute__((always_inline)) {
        at = *++token;
        space += at - end;
    };
    // Makes a node of the string at `at`. Stage 1 has found its end: only white space follows it.
    const auto take_string = [&](Fault& fault) __attribute__((always_inline)) {
        std::uint32_t end = token[1];
        while (text[end - 1] != '"') {
            --end;
        }
        const bool escaped = escape < end;
        if (escaped) [[unlikely]] {
            const char* where = nullptr;
            fault.message = check_escapes(text + at + 1, text + end - 1, where);
            if (fault.message != nullptr) {
                fault.offset = static_cast<std::size_t>(where - text);
                return;
            }
            escape = find_escape(end);
        }
        nodes[used] = {at - space, end - space, used + 1, 0, Kind::string, escaped};
        ++used;
        advance(end);
    };

    escape = find_escape(at);
    Fault fault;
    bool key_next = false;
    for (;;) {
        if (key_next) {
            if (text[at] != '"') {
                return {at, frame->count == 0 ? "expected a key or '}'" : "expected a key"};
            }
            const std::uint32_t key_at_text = at;
            const std::uint32_t key = used;
            spaces[key] = space;
            take_string(fault);
            if (fault.message != nullptr) {
                return fault;
            }
            const std::uint64_t bit =
                key_bit(text + key_at_text + 1, nodes[key].end - nodes[key].begin - 2);
            frame->thorough |= nodes[key].escaped | (frame->count >= kPairwiseKeysMax);
            if ((frame->keys & bit) != 0 && !frame->thorough &&
                repeats_key(text, nodes, frame->node, key)) {
                return {key_at_text, "the object has this key already"};
            }
            frame->keys |= bit;
            if (text[at] != ':') {
                return {at, "expected ':' after the key"};
            }
            advance(at + 1);
        }

        switch (text[at]) {
            case '"':
                take_string(fault);
                if (fault.message != nullptr) {
                    return fault;
                }
                break;
            case '{':
            case '[': {
                const bool object = text[at] == '{';
                if (++frame == beyond) {
                    return {at, "nested too deeply"};
                }
                *frame = {0, used, 0, object, false};
                nodes[used++] = {at - space, 0, 0, 0, object ? Kind::object : Kind::array, false};
                advance(at + 1);
                if (text[at] == (object ? '}' : ']')) {
                    break;
                }
                key_next = object;
                continue;
            }
            case 't':
            case 'f':
            case 'n': {
                const std::string_view literal = text[at] == 't'   ? "true"
                                                 : text[at] == 'f' ? "false"
                                                                   : "null";
                const auto end = at + static_cast<std::uint32_t>(literal.size());
                if (std::string_view(text + at, literal.size()) != literal ||
                    (end != token[1] && !is_space(text[end]))) {
                    return {at, "expected true, false or null"};
                }
                nodes[used] = {at - space,
                               end - space,
                               used + 1,
                               0,
                               text[at] == 'n' ? Kind::null : Kind::boolean,
                               false};
                ++used;
                advance(end);
                break;
            }
            case '-':
            case '0':
            case '1':
            case '2':
            case '3':
            case '4':
            case '5':
            case '6':
            case '7':
            case '8':
            case '9': {
                const NumberScan number = scan_number(text + at);
                const auto end = static_cast<std::uint32_t>(number.end - text);
                if (number.fault != nullptr) {
                    return {end, number.fault};
                }
                if (end != token[1] && !is_space(*number.end)) {
                    return {end, "unexpected character after a number"};
                }
                nodes[used] = {at - space, end - space, used + 1, 0, Kind::number, false};
                ++used;
                advance(end);
                break;
            }
            default:
                return {at, "expected a value"};
        }
        // A value is complete, or a container that is still empty can close.
        for (;;) {
            if (frame < outermost) {
                if (token != last) {
                    return {at, "expected nothing after the value"};
                }
                node_count = used;
                space_count = space;
                return {};
            }
            const bool empty = used == frame->node + 1;
            frame->count += !empty;
            if (text[at] == ',' && !empty) {
                advance(at + 1);
                key_next = frame->object;
                break;
            }
            if (text[at] != (frame->object ? '}' : ']')) {
                return {at, frame->object ? "expected ',' or '}'" : "expected ',' or ']'"};
            }
            Node& container = nodes[frame->node];
            container.end = at + 1 - space;
            container.next = used;
            container.count = frame->count;
            if (frame->thorough) {
                if (const std::uint32_t key = find_repeated_key(text, nodes, frame->node)) {
                    return {nodes[key].begin + spaces[key], "the object has this key already"};
                }
            }
            --frame;
            advance(at + 1);
        }
    }
}

void Tree::reserve_text(std::size_t bytes) {
    if (text_capacity_ < bytes) {
        text_capacity_ = roomy(bytes, kKeptTextBytesMax);
        text_ = std::make_unique_for_overwrite<char[]>(text_capacity_);
    }
}

void Tree::reserve_nodes(std::size_t count) {
    if (node_capacity_ < count) {
        node_capacity_ = roomy(count, kKeptNodesMax);
        nodes_ = std::make_unique_for_overwrite<Node[]>(node_capacity_);
    }
}

Parser::Parser(std::size_t depth_max) : impl_(std::make_unique<Impl>(depth_max)) {
}

Parser::~Parser() = default;

Result<Document> Parser::parse(std::string_view text) {
    if (text.size() > kJsonBytesMax) {
        return Error{Errc::body_too_large, "a JSON text beyond 4 GiB", {}};
    }
    if (text.starts_with("\xef\xbb\xbf")) {
        return describe(text, {0, "a byte-order mark"});
    }
    Impl& impl = *impl_;
    Document document(impl.take_tree());
    Tree& tree = *document.tree_;
    tree.reserve_text(text.size() + kPaddingBytes);
    char* const copy = tree.text_.get();
    text.copy(copy, text.size());
    std::memset(copy + text.size(), 0, kPaddingBytes);

    Fault fault;
    std::size_t space_count = 0;
    if (impl.find_tokens(copy, text.size()) != simdjson::SUCCESS) {
        fault = find_lexical_fault(text);
    } else {
        // A valid text has two tokens a node: itself and a comma, a colon or a closing bracket.
        const std::size_t room = impl.stage1->n_structural_indexes / 2 + impl.frames.size() + 2;
        tree.reserve_nodes(room);
        if (impl.spaces.size() < room) {
            impl.spaces.resize(roomy(room, kKeptNodesMax));
        }
        fault = impl.walk(copy, tree.nodes_.get(), tree.node_count_, space_count);
    }
    if (text.size() > kKeptTextBytesMax) {
        impl.stage1.reset();
        impl.spaces = {};
        impl.slots = {};
    }
    if (fault.message != nullptr) {
        recycle(std::move(document));
        return describe(text, fault);
    }

    tree.text_size_ = text.size();
    if (space_count != 0) {
        const auto error = simdjson::minify(text.data(), text.size(), copy, tree.text_size_);
        ANNALS_CHECK(error == simdjson::SUCCESS && tree.text_size_ == text.size() - space_count);
    }
    return document;
}

void Parser::recycle(Document&& document) noexcept {
    Document taken(std::move(document));
    if (taken.tree_ != nullptr && taken.tree_->text_capacity_ <= kKeptTextBytesMax &&
        taken.tree_->node_capacity_ <= kKeptNodesMax && impl_->spare.size() < kKeptTrees) {
        impl_->spare.push_back(std::move(taken.tree_));
    }
}

}  // namespace annals::json
