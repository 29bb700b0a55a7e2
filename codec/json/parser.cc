// Parsing: simdjson's stage 1 finds the tokens and checks UTF-8, quotes and control characters; the walk
// here checks everything else and builds the nodes. Tokens are visited in the text as it came, and the
// white space between them is added up, so that the nodes' offsets are those of the minified text, which
// simdjson::minify makes last (it would join "1 2" into a valid 12, so it only sees what is valid).

#include "codec/json/document.h"
#include "codec/json/unicode.h"
#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/base/random.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace annals::json {

namespace {

// What larger texts need is not kept for the next one.
constexpr std::size_t kKeptTextBytesMax = 4 << 20;
constexpr std::size_t kKeptTreeBytesMax = 16 << 20;  // all recycled buffers together
constexpr std::size_t kKeptNodesMax = 1 << 18;
constexpr std::size_t kKeptSlotsMax = 1 << 12;
constexpr std::size_t kKeptTrees = 8;
constexpr std::uint32_t kPairwiseKeysMax = 16;

static_assert(Tree::kPaddingBytes >= simdjson::SIMDJSON_PADDING);
static_assert(sizeof(Node) <= 24);

// Room behind a text for what a Substitution makes of its links: a sixteenth of a transaction is links.
constexpr std::size_t substitution_room(std::size_t bytes) noexcept {
    return 1024 + bytes / 16;
}

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

// An object or array that is open.
struct Frame {
    // Two bits of a word per key: both set already make the object a suspect of a repeated key.
    std::array<std::uint64_t, 8> keys;
    std::uint32_t node;
    std::uint32_t count;  // members or elements so far
    bool object;
    bool suspect;
};

const char* skip_digits(const char* at) noexcept {
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
        return {integer + 1, "a number has no leading zeros"};
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

// What is wrong with the escapes of the string's characters from `at` to `end`, and `where`; or null. `control`
// is set if they make a control character that FHIR has not in its strings.
const char* check_escapes(const char* at, const char* end, const char*& where,
                          bool& control) noexcept {
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
            case 'n':
            case 'r':
            case 't':
                break;
            case 'b':
            case 'f':
                control = true;
                break;
            case 'u': {
                const std::int32_t unit = hex_quad(at);
                if (unit < 0) {
                    return "expected four hexadecimal digits after \\u";
                }
                at += 4;
                control = control || (unit < ' ' && unit != '\t' && unit != '\n' && unit != '\r');
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

// What is wrong with the scalar that begins at `at`, which the walk has refused.
[[gnu::cold, gnu::noinline]] Fault explain_scalar(const char* text, std::uint32_t at) noexcept {
    const char* const begin = text + at;
    const auto fault = [&](const char* where, const char* message) {
        return Fault{static_cast<std::size_t>(where - text), message};
    };
    if (*begin == '"') {
        const char* end = begin + 1;
        while (*end != '"') {
            end += *end == '\\' ? 2 : 1;
        }
        const char* where = nullptr;
        bool control = false;
        const char* const message = check_escapes(begin + 1, end, where, control);
        return fault(where, message);
    }
    if (is_digit(*begin) || *begin == '-') {
        const Number number = scan_number(begin);
        return fault(number.end, number.message != nullptr ? number.message
                                                           : "unexpected character after a number");
    }
    return fault(begin, *begin == 't' || *begin == 'f' || *begin == 'n'
                            ? "expected true, false or null"
                            : "expected a value");
}

// A hash of the key's length and first eight bytes, in the upper bits. Requires: eight readable bytes.
inline std::uint64_t hash_key(const char* key, std::uint32_t size) noexcept {
    auto word = load_le<std::uint64_t>(key);
    if (size < 8) {
        word &= (std::uint64_t{1} << size * 8) - 1;
    }
    return (word ^ size) * 0x9e37'79b9'7f4a'7c15;
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

// Where in `text` the character stands that is at `offset` without insignificant white space.
// Requires: the text is valid.
std::size_t original_offset(std::string_view text, std::size_t offset) noexcept {
    std::size_t at = 0;
    for (bool inside = false;; ++at) {
        if (!inside && is_space(text[at])) {
            continue;
        }
        if (offset-- == 0) {
            return at;
        }
        if (text[at] == '"') {
            inside = !inside;
        } else if (text[at] == '\\') {
            ++at;
            --offset;
        }
    }
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
    std::vector<std::uint32_t> suspects;  // objects that may repeat a key, inner ones first
    std::vector<Slot> slots;
    std::vector<std::unique_ptr<Tree>> spare;
    std::size_t spare_bytes = 0;
    const std::uint64_t seed = random_u64();  // no text can be made to collide

    std::unique_ptr<Tree> take_tree() {
        if (spare.empty()) {
            return std::make_unique<Tree>();
        }
        std::unique_ptr<Tree> tree = std::move(spare.back());
        spare.pop_back();
        spare_bytes -= tree->bytes();
        return tree;
    }

    simdjson::error_code find_tokens(const char* text, std::size_t size);
    [[gnu::noinline]] Fault walk(const char* text, Node* nodes, std::size_t& node_count,
                                 std::size_t& space_count);
    Value find_repeated_key(const Tree& tree);
    Value find_repeated_key(Value object);
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

// The first key in a suspect object that an earlier member has; or missing.
Value Parser::Impl::find_repeated_key(const Tree& tree) {
    Value repeated;
    for (const std::uint32_t object : suspects) {
        repeated = find_repeated_key(Value(tree, object));
        if (repeated) {
            break;
        }
    }
    if (slots.size() > kKeptSlotsMax) {
        slots = {};
    }
    return repeated;
}

// The first key of `object` that an earlier member has, escapes resolved; or missing.
Value Parser::Impl::find_repeated_key(Value object) {
    if (object.size() <= kPairwiseKeysMax) {
        for (const Member member : object.members()) {
            const std::string name =
                member.key.node().escaped ? member.key.string() : std::string();
            const std::string_view key =
                member.key.node().escaped ? std::string_view(name) : member.key.raw_string();
            for (const Member earlier : object.members()) {
                if (earlier.key.index() == member.key.index()) {
                    break;
                }
                if (earlier.key.equals(key)) {
                    return member.key;
                }
            }
        }
        return {};
    }
    slots.assign(std::bit_ceil(object.size() * 2), Slot());
    const std::size_t mask = slots.size() - 1;
    std::string name;
    for (const Member member : object.members()) {
        name.clear();
        append_unescaped(name, member.key.raw_string());
        const std::uint64_t hash = hash64(name, seed);
        std::size_t at = hash & mask;
        for (; slots[at].key != 0; at = (at + 1) & mask) {
            if (slots[at].hash == hash && Value(object.tree(), slots[at].key).equals(name)) {
                return member.key;
            }
        }
        slots[at] = {hash, member.key.index()};
    }
    return {};
}

// Checks the grammar and builds the nodes; `space_count` is the white space between the tokens.
// A state machine whose states are places in the code: each has its own branches to be predicted.
//
// Requires: stage 1 has succeeded, `nodes` has room for a valid text's nodes and `frames.size()` more,
// `text` is padded with NUL.
Fault Parser::Impl::walk(const char* const text, Node* const nodes, std::size_t& node_count,
                         std::size_t& space_count) {
    const std::uint32_t* token = stage1->structural_indexes.get();
    const std::uint32_t* const last =
        token + stage1->n_structural_indexes;  // *last is the text's size
    Frame* const outermost = frames.data();
    Frame* const innermost = outermost + frames.size();
    Frame* frame = outermost - 1;
    std::uint32_t index = 0;       // the next node to be made
    std::uint32_t space = *token;  // white space before the token

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
    // Makes a node of the string at the token; its end, or 0 if its escapes are wrong.
    const auto add_string = [&]() __attribute__((always_inline)) -> std::uint32_t {
        const std::uint32_t begin = token[0];
        std::uint32_t end = token[1];  // stage 1 has seen that only white space follows the quote
        while (text[end - 1] != '"') [[unlikely]] {
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
        } else {
            add_node(begin, end, Kind::string, false);
        }
        return end;
    };
    // Goes from the token, which ends at `end`, to the next.
    const auto advance = [&](std::uint32_t end)
                             __attribute__((always_inline)) { space += *++token - end; };
    const auto fail = [&](const char* what)
                          __attribute__((always_inline)) { return Fault{*token, what}; };
    // Makes a node of the string, number or literal at the token and goes on; false if it is wrong.
    const auto take_scalar = [&]() __attribute__((always_inline)) {
        const char* const at = text + *token;
        std::uint32_t end = 0;
        if (*at == '"') [[likely]] {
            end = add_string();
            if (end == 0) [[unlikely]] {
                return false;
            }
        } else if (is_digit(*at) || *at == '-') {
            const Number number = scan_number(at);
            end = static_cast<std::uint32_t>(number.end - text);
            if (number.message != nullptr || (end != token[1] && !is_space(text[end])))
                [[unlikely]] {
                return false;
            }
            add_node(*token, end, Kind::number, false);
        } else {
            const std::string_view literal = *at == 't' ? "true" : *at == 'f' ? "false" : "null";
            end = *token + static_cast<std::uint32_t>(literal.size());
            if (std::memcmp(at, literal.data(), literal.size()) != 0 ||
                (end != token[1] && !is_space(text[end]))) [[unlikely]] {
                return false;
            }
            add_node(*token, end, *at == 'n' ? Kind::null : Kind::boolean, false);
        }
        advance(end);
        return true;
    };

    switch (text[*token]) {
        case '{':
            goto open_object;
        case '[':
            goto open_array;
        default:
            if (!take_scalar()) {
                goto wrong_scalar;
            }
            goto finish;
    }

open_object:
    if (++frame == innermost) [[unlikely]] {
        return fail("nested too deeply");
    }
    *frame = {{}, index, 0, true, false};
    add_node(*token, 0, Kind::object, false);
    advance(*token + 1);
    if (text[*token] == '}') {
        goto close;
    }

object_member: {
    if (text[*token] != '"') [[unlikely]] {
        return fail(frame->count == 0 ? "expected a key or '}'" : "expected a key");
    }
    const char* const key = text + *token + 1;
    const std::uint32_t end = add_string();
    if (end == 0) [[unlikely]] {
        goto wrong_scalar;
    }
    const std::uint64_t hash = hash_key(key, end - *token - 2);
    std::uint64_t& keys = frame->keys[hash >> 61];
    const std::uint64_t bits = std::uint64_t{1} << (hash >> 55 & 63) | std::uint64_t{1}
                                                                           << (hash >> 49 & 63);
    if ((keys & bits) == bits || nodes[index - 1].escaped) [[unlikely]] {
        frame->suspect = true;
    }
    keys |= bits;
    ++frame->count;
    advance(end);
    if (text[*token] != ':') [[unlikely]] {
        return fail("expected ':' after the key");
    }
    advance(*token + 1);
    switch (text[*token]) {
        case '{':
            goto open_object;
        case '[':
            goto open_array;
        default:
            if (!take_scalar()) [[unlikely]] {
                goto wrong_scalar;
            }
    }
}

object_continue:
    if (text[*token] == ',') {
        advance(*token + 1);
        goto object_member;
    }
    if (text[*token] != '}') [[unlikely]] {
        return fail("expected ',' or '}'");
    }
    goto close;

open_array:
    if (++frame == innermost) [[unlikely]] {
        return fail("nested too deeply");
    }
    frame->node = index;
    frame->count = 0;
    frame->object = false;
    frame->suspect = false;
    add_node(*token, 0, Kind::array, false);
    advance(*token + 1);
    if (text[*token] == ']') {
        goto close;
    }

array_element:
    ++frame->count;
    switch (text[*token]) {
        case '{':
            goto open_object;
        case '[':
            goto open_array;
        default:
            if (!take_scalar()) [[unlikely]] {
                goto wrong_scalar;
            }
    }

array_continue:
    if (text[*token] == ',') {
        advance(*token + 1);
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
    if (frame->suspect) [[unlikely]] {
        suspects.push_back(frame->node);
    }
    --frame;
    advance(*token + 1);
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
    node_count = index;
    space_count = space;
    return {};

wrong_scalar:
    return explain_scalar(text, *token);
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
    tree.reserve_text(text.size() + Tree::kPaddingBytes + substitution_room(text.size()));
    char* const copy = tree.text_.get();
    text.copy(copy, text.size());
    std::memset(copy + text.size(), 0, Tree::kPaddingBytes);

    Fault fault;
    std::size_t space_count = 0;
    // Neither stage 1 nor minify reads beyond the text: they copy its last block to a padded one.
    if (impl.find_tokens(text.data(), text.size()) != simdjson::SUCCESS) {
        fault = find_lexical_fault(text);
    } else {
        // A valid text has two tokens a node: itself and a comma, a colon or a closing bracket.
        const std::size_t room = impl.stage1->n_structural_indexes / 2 + impl.frames.size() + 2;
        tree.reserve_nodes(room);
        impl.suspects.clear();
        fault = impl.walk(copy, tree.nodes_.get(), tree.node_count_, space_count);
    }
    if (text.size() > kKeptTextBytesMax) {
        impl.stage1.reset();
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
    if (!impl.suspects.empty()) {
        if (const Value key = impl.find_repeated_key(tree)) {
            const std::size_t offset = original_offset(text, key.node().begin);
            recycle(std::move(document));
            return describe(text, {offset, "the object has this key already"});
        }
    }
    return document;
}

void Parser::recycle(Document&& document) noexcept {
    std::unique_ptr<Tree> tree = std::move(document.tree_);
    Impl& impl = *impl_;
    if (tree != nullptr && impl.spare.size() < kKeptTrees &&
        impl.spare_bytes + tree->bytes() <= kKeptTreeBytesMax) {
        impl.spare_bytes += tree->bytes();
        impl.spare.push_back(std::move(tree));
    }
}

}  // namespace annals::json
