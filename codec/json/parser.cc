// Parsing: simdjson's stage 1 finds the tokens and checks UTF-8, quotes and control characters; the Walk
// checks everything else and builds the nodes. Tokens are visited in the original text, and the white space
// between them is counted, so that the nodes' offsets are those of the minified text. That is made last, by
// simdjson's minify, which must only see valid text: it would join "1 2" into a valid 12. Most resources that
// are sent need neither: the Walk gets through valid text without white space by itself.

#include "codec/json/document.h"
#include "codec/json/faults.h"
#include "codec/json/scan.h"
#include "codec/json/unicode.h"
#include "codec/json/walk.h"
#include "core/base/digest.h"
#include "core/base/random.h"
#include "core/base/text.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::json {

namespace {

// Larger buffers are not kept for the next text.
constexpr std::size_t kKeptTextBytesMax = 4 << 20;
constexpr std::size_t kKeptTreeBytesMax = 16 << 20;  // all recycled buffers together
constexpr std::size_t kKeptNodesMax = 1 << 18;
constexpr std::size_t kKeptSlotsMax = 1 << 12;
constexpr std::size_t kKeptTrees = 8;
constexpr std::uint32_t kPairwiseKeysMax = 16;
constexpr std::size_t kHashedAhead = 16;

// Larger texts are walked from their tokens, whose number tells how many nodes they need.
constexpr std::size_t kDirectTextBytesMax = 4 << 20;
constexpr std::size_t kNodeBytes = 8;  // of a text for each of its nodes: nearly all have more

static_assert(Tree::kPaddingBytes >= simdjson::SIMDJSON_PADDING);
static_assert(sizeof(Node) <= 24);

// Room after a text for the replaced links of a Substitution: a sixteenth of a transaction is links.
constexpr std::size_t substitution_room(std::size_t bytes) noexcept {
    return 1024 + bytes / 16;
}

// The capacity to allocate for `size` things: powers of two, so that texts of similar size fit the next time.
std::size_t roomy(std::size_t size, std::size_t kept_max) noexcept {
    return size > kept_max ? size : std::bit_ceil(std::max<std::size_t>(size, 256));
}

/// A slot of a KeyTable.
struct Slot {
    std::uint32_t hash = 0;  // the upper half: the lower one leads to the slot
    std::uint32_t key = 0;   // node; 0 (always the root, never a key) where the slot is free
};

/// The keys of an object, by their hashes. A large table is in no cache: hashed() requests a key's slot from memory, so that it
/// is there when the key is inserted some keys later.
class KeyTable {
  public:
    struct Hashed {
        std::uint64_t hash = 0;
        Value key;
    };

    /// For that many keys. Lifetime: `slots` outlives it.
    KeyTable(std::vector<Slot>& slots, std::size_t keys) : slots_(slots) {
        slots.assign(std::bit_ceil(keys + keys / 2), Slot());
    }

    Hashed hashed(Value key, std::uint64_t seed) {
        std::string_view text = key.raw_string();
        if (key.node().escaped) {
            name_.clear();
            append_unescaped(name_, text);
            text = name_;
        }
        const Hashed made{hash64(text, seed), key};
        __builtin_prefetch(&slots_[place(made)], 1);
        return made;
    }

    /// False if there is an equal key.
    bool insert(const Hashed& one) {
        const auto hash = static_cast<std::uint32_t>(one.hash >> 32);
        std::size_t at = place(one);
        for (; slots_[at].key != 0; at = (at + 1) & (slots_.size() - 1)) {
            if (slots_[at].hash == hash &&
                Value(one.key.tree(), slots_[at].key).string() == one.key.string()) {
                return false;
            }
        }
        slots_[at] = {hash, one.key.index()};
        return true;
    }

  private:
    std::size_t place(const Hashed& one) const { return one.hash & (slots_.size() - 1); }

    std::vector<Slot>& slots_;
    std::string name_;
};

}  // namespace

struct Parser::Impl {
    explicit Impl(std::size_t depth_max) : walk(depth_max) { spare.reserve(kKeptTrees); }

    Walk walk;
    std::unique_ptr<simdjson::internal::dom_parser_implementation> stage1;
    std::vector<Slot> slots;
    std::vector<std::unique_ptr<Tree>> spare;
    std::size_t spare_bytes = 0;
    const std::uint64_t seed = random_u64();  // so that no text can be made to collide

    std::unique_ptr<Tree> take_tree() {
        if (spare.empty()) {
            return std::make_unique<Tree>();
        }
        std::unique_ptr<Tree> tree = std::move(spare.back());
        spare.pop_back();
        spare_bytes -= tree->bytes();
        return tree;
    }

    Fault walk_text(std::string_view text, bool checked, Tree& tree);
    simdjson::error_code find_tokens(const char* text, std::size_t size);
    Value find_repeated_key(const Tree& tree);
    Value find_repeated_key(Value object);
};

namespace {

/// The implementation that removes white space. Replaces simdjson's own choice if that is AVX-512, which compresses
/// into memory by an instruction that takes Zen 4 over a hundred cycles, six times slower than AVX2.
const simdjson::implementation& minifier() noexcept {
    static const simdjson::implementation& chosen = []() -> const simdjson::implementation& {
        const auto* const avx2 = simdjson::get_available_implementations()["haswell"];
        return avx2 != nullptr && avx2->supported_by_runtime_system()
                   ? *avx2
                   : *simdjson::get_active_implementation();
    }();
    return chosen;
}

}  // namespace

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

// Makes the tree's nodes. Requires: the text is padded.
Fault Parser::Impl::walk_text(std::string_view text, bool checked, Tree& tree) {
    const auto room = [&tree] { return std::span(tree.nodes_.get(), tree.node_capacity_); };
    if (checked && text.size() <= kDirectTextBytesMax && !is_spaced(text)) {
        tree.reserve_nodes(text.size() / kNodeBytes + 2);
        if (walk.run_checked(text, room())) {
            return {};
        }
    }
    if (find_tokens(text.data(), text.size()) != simdjson::SUCCESS) {
        return find_lexical_fault(text);
    }
    const std::span tokens(stage1->structural_indexes.get(), stage1->n_structural_indexes);
    tree.reserve_nodes(walk.nodes_max(tokens.size()));
    return walk.run(text, tokens, checked, room());
}

// The first key in a suspect object that duplicates an earlier one; or missing.
Value Parser::Impl::find_repeated_key(const Tree& tree) {
    Value repeated;
    for (const std::uint32_t object : walk.suspects()) {
        repeated = find_repeated_key(Value(tree, object));
        if (repeated) {
            break;
        }
    }
    if (slots.size() > kKeptSlotsMax) {
        slots = std::vector<Slot>();  // {} would keep the memory
    }
    return repeated;
}

// The first key of `object` that duplicates an earlier one, escapes resolved; or missing.
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
    KeyTable table(slots, object.size());
    std::array<KeyTable::Hashed, kHashedAhead> ahead;  // keys whose slots are on their way
    std::size_t count = 0;
    for (const Member member : object.members()) {
        KeyTable::Hashed& next = ahead[count % kHashedAhead];
        if (count >= kHashedAhead && !table.insert(next)) {
            return next.key;
        }
        next = table.hashed(member.key, seed);
        ++count;
    }
    for (std::size_t i = count - std::min(count, kHashedAhead); i < count; ++i) {
        if (!table.insert(ahead[i % kHashedAhead])) {
            return ahead[i % kHashedAhead].key;
        }
    }
    return {};
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
    return run(text, false);
}

Result<Document> Parser::parse_resource(std::string_view text) {
    return run(text, true);
}

Result<Document> Parser::run(std::string_view text, bool checked) {
    if (text.size() > kJsonBytesMax) {
        return Error{Errc::body_too_large, "a JSON text beyond 4 GiB"};
    }
    if (text.starts_with(kByteOrderMark)) {
        return describe(text, {0, "a byte-order mark"});
    }
    Impl& impl = *impl_;
    Document document(impl.take_tree());
    Tree& tree = *document.tree_;
    tree.reserve_text(text.size() + Tree::kPaddingBytes + substitution_room(text.size()));
    char* const copy = tree.text_.get();
    text.copy(copy, text.size());
    std::memset(copy + text.size(), 0, Tree::kPaddingBytes);

    // Of the copy: a stored text may be blanked meanwhile, and the Walk relies on the tokens being those of its text.
    const Fault fault = impl.walk_text({copy, text.size()}, checked, tree);
    if (text.size() > kKeptTextBytesMax) {
        impl.stage1.reset();
    }
    if (fault.message != nullptr) {
        recycle(std::move(document));
        return describe(text, fault);
    }

    tree.node_count_ = impl.walk.node_count();
    tree.deep_ = impl.walk.is_deep();
    tree.text_size_ = text.size();
    if (const std::size_t space_count = impl.walk.space_count(); space_count != 0) {
        // It doesn't read beyond the text, because it copies its last block to a padded one. Stored
        // texts have no white space.
        const auto error =
            minifier().minify(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                              reinterpret_cast<std::uint8_t*>(copy), tree.text_size_);
        ANNALS_CHECK(error == simdjson::SUCCESS && tree.text_size_ == text.size() - space_count);
    }
    if (!impl.walk.suspects().empty()) {
        if (const Value key = impl.find_repeated_key(tree)) {
            const std::size_t offset = original_offset(text, key.node().begin);
            recycle(std::move(document));
            return describe(text, {offset, "the object has this key already"});
        }
    }
    return document;
}

std::string Parser::with_plain_names(const Document& document) const {
    std::vector<Value> names;
    const auto look_at = [&](Value name) {
        if (name.node().escaped && json::quoted(name.string()) != name.raw()) {
            names.push_back(name);
        }
    };
    for (const std::uint32_t object : impl_->walk.suspects()) {
        for (const Member member : Value(*document.tree_, object).members()) {
            look_at(member.key);
        }
    }
    // Sound resources have none: their types are known.
    const std::span<const Node> nodes = document.nodes();
    for (std::uint32_t i = 1; !nodes[0].sound && i < nodes.size(); ++i) {
        if (nodes[i].escaped && document.text()[nodes[i].begin - 1] == ':' &&
            Value(document, i - 1).equals("resourceType")) {
            look_at(Value(document, i));
        }
    }
    std::ranges::sort(names, {}, &Value::index);
    std::string text;
    std::size_t at = 0;
    for (const Value name : names) {
        text += document.text().substr(at, name.node().begin - at);
        text += json::quoted(name.string());
        at = name.node().end;
    }
    return names.empty() ? text : text.append(document.text().substr(at));
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
