// Machine: evaluates a Program on one stack of items.
//
// Every node pushes its result onto the stack; intermediate values are kept above the node's mark and removed
// again. Collections are ranges of the stack, so none is ever allocated. A function returns false if the
// evaluation failed; error_ then says why.
//
// Layer:   codec, inside codec/fhirpath.
// Threads: one.

#pragma once

#include "codec/fhirpath/program.h"
#include "codec/fhirpath/types.h"
#include "codec/fhirpath/ucum.h"

#include <re2/re2.h>

#include <cstring>
#include <memory>
#include <vector>

namespace annals::fhirpath {

/// FHIRPath's three-valued logic.
enum class Truth : std::uint8_t { no, yes, unknown };

inline bool is_number(const Item& item) {
    return item.kind() == Item::Kind::integer || item.kind() == Item::Kind::decimal;
}

/// Requires: is_number().
inline Decimal decimal_of(const Item& number) {
    return number.kind() == Item::Kind::integer ? Decimal(number.as_integer())
                                                : number.as_decimal();
}

/// Whether as_quantity() applies.
inline bool is_number_or_quantity(const Item& item) {
    return is_number(item) || item.kind() == Item::Kind::quantity;
}

/// A quantity, or a number as one of unit one. Requires: is_number_or_quantity().
inline Quantity as_quantity(const Item& item) {
    return is_number(item) ? Quantity{decimal_of(item), "1", false} : item.as_quantity();
}

/// Nothing if it is unknown.
inline std::optional<Unit> unit_of(const Quantity& quantity) {
    return quantity.calendar ? calendar_unit(quantity.unit) : parse_unit(quantity.unit);
}

class Machine {
  public:
    Machine();
    ~Machine();

    Result<std::span<const Item>> run(const Program& program, const Item& input,
                                      const Environment& environment);

    std::uint64_t steps() const noexcept { return steps_; }

    bool is_undecided() const noexcept { return undecided_; }

  private:
    /// A collection: items from begin to end of the stack.
    struct Range {
        std::uint32_t begin;
        std::uint32_t end;

        std::uint32_t size() const { return end - begin; }
    };

    /// The values of $this, $index and $total.
    struct Scope {
        Item self;
        bool has_self = false;
        std::int64_t index = -1;
        Range total{0, 0};
        bool has_total = false;
    };

    // machine.cc: the stack, memory and errors.

    bool fail(Errc code, std::string detail);
    bool fail(std::string_view what);  // processing
    bool fail(Error error);
    bool grow();

    bool push(Item item) {
        if (top_ == capacity_ && !grow()) [[unlikely]] {
            return false;
        }
        stack_[top_++] = item;
        return true;
    }

    bool step(std::uint64_t count = 1) {
        steps_ += count;
        return steps_ <= steps_max_ || too_many_steps();
    }

    bool too_many_steps();

    /// Moves the items from `from` up down to `to`, overwriting what is there.
    void collapse(std::uint32_t to, std::uint32_t from) {
        if (to != from) {
            std::memmove(static_cast<void*>(&stack_[to]), &stack_[from],
                         (top_ - from) * sizeof(Item));
            top_ -= from - to;
        }
    }

    const Item& at(std::uint32_t index) const { return stack_[index]; }

    /// Memory that is valid until the next run; nullptr beyond the limit.
    char* allocate(std::size_t bytes);
    /// Copies `text`; false beyond a limit.
    bool keep(std::string_view text, std::string_view& out);
    bool push_text(std::string_view text);  // copies
    bool push_quantity(const Quantity& quantity);

    bool push_truth(Truth truth) {
        return truth == Truth::unknown || push(Item::boolean(truth == Truth::yes));
    }

    // machine.cc: evaluation.

    bool evaluate(std::uint32_t index, const Scope& scope);
    bool evaluate_truth(std::uint32_t index, const Scope& scope, Truth& out);
    /// The range as a boolean, by singleton evaluation.
    bool truth_of(Range range, Truth& out);
    bool variable(const Name& name);
    bool indexer(const Node& node, const Scope& scope);
    bool logic(const Node& node, const Scope& scope, Truth& out);
    Scope lambda(const Scope& scope, Range input, std::uint32_t at) const;

    // navigate.cc

    bool member(const Node& node, const Scope& scope);
    bool push_members(const Item& item, const Name& name);
    bool push_children(const Item& item);
    bool push_values(const json::Tree& tree, std::uint32_t parent, std::string_view json_name,
                     schema::Type type);
    /// Pushes the items of one member, whose value and sibling may be arrays, or kNone.
    bool push_pair(const Place& member, schema::Type type);
    bool push_element(const Place& place, schema::Type type);
    /// The object that holds an element's members; kNone if there is none.
    static std::uint32_t object_of(const Item& item);
    bool push_extensions(const Item& item, std::string_view url);
    bool resolve(const Item& item);
    bool find_local(const Item& resource, std::string_view reference, bool& found);
    bool html_checks(Range input);

    // values.cc: types and values of items.

    /// The item as a System value; none if an element has none.
    bool system_value(const Item& item, std::optional<Item>& out);
    bool string_of(json::Value value, std::string_view& out);
    bool quantity_of(const Item& element, std::optional<Item>& out);
    bool is_type(const Item& item, const TypeSpecifier& type) const;
    bool is_exactly(const Item& item, const TypeSpecifier& type) const;
    bool equal(Range a, Range b, Truth& out);
    bool equal_items(const Item& a, const Item& b, Truth& out);
    bool equivalent(Range a, Range b, bool& out);
    bool equivalent_items(const Item& a, const Item& b, bool& out);
    bool equal_json(json::Value a, json::Value b, bool equivalence, bool& out);
    bool equal_arrays(json::Value a, json::Value b, bool& out);
    bool equal_objects(json::Value a, json::Value b, bool equivalence, bool& out);
    bool equivalent_arrays(json::Value a, json::Value b, bool& out);
    bool compare_items(const Item& a, const Item& b, Order& out);
    std::uint64_t hash_of(const Item& item);
    std::uint64_t hash_json(json::Value value);
    /// Moves the items of `range` that equal no earlier one to `to`; the stack ends after them.
    bool distinct(Range range, std::uint32_t to);
    bool contains(Range range, const Item& item, bool& out);

    // operators.cc

    bool binary(const Node& node, const Scope& scope);
    bool compare(const Node& node, Range a, Range b);
    bool arithmetic(const Node& node, Range a, Range b);
    bool numbers(const Node& node, const Decimal& a, const Decimal& b, bool integers);
    bool quantities(const Node& node, const Quantity& a, const Quantity& b);
    bool add_quantities(const Node& node, const Quantity& a, const Quantity& b);
    bool multiply_quantities(const Node& node, const Quantity& a, const Quantity& b);
    bool add_duration(const Node& node, const Temporal& value, const Quantity& quantity);
    bool negate(const Node& node, const Scope& scope);
    bool type_operator(const Node& node, const Scope& scope);
    /// At most one item, as a System value. Fails if there are more.
    bool single(Range range, std::optional<Item>& out, std::string_view what);

    // functions.cc

    bool function(const Node& node, const Scope& scope);
    bool on_collection(const Node& node, const Scope& scope, Range input);

    std::uint32_t argument_node(const Node& node, std::uint32_t which) const {
        return program_->arguments[node.value + which];
    }

    bool argument(const Node& node, std::uint32_t which, const Scope& scope,
                  std::optional<Item>& out);
    bool integer_argument(const Node& node, std::uint32_t which, const Scope& scope,
                          std::optional<std::int64_t>& out);
    bool string_argument(const Node& node, std::uint32_t which, const Scope& scope,
                         std::optional<std::string_view>& out);

    // collections.cc

    bool push_all(Range range);
    bool negation(Range input);
    bool on_truths(Function function, Range input);
    bool part(const Node& node, const Scope& scope, Range input);
    bool distinct_items(Function function, Range input);
    bool two_collections(const Node& node, const Scope& scope, Range input);
    bool below(Function function, Range input);
    bool extensions(const Node& node, const Scope& scope, Range input);
    bool type_infos(Range input);
    bool primitive(Function function, Range input);

    // iteration.cc

    bool select(const Node& node, const Scope& scope, Range input);
    bool repeat(const Node& node, const Scope& scope, Range input);
    bool aggregate(const Node& node, const Scope& scope, Range input);
    bool iif(const Node& node, const Scope& scope, Range input);

    // sort.cc

    /// The keys of each item, as far as they exist, one item after the other.
    struct SortKeys {
        std::uint32_t each = 1;
        std::vector<std::optional<Item>> values;
    };

    bool sort(const Node& node, const Scope& scope, Range input);
    bool find_keys(const Node& node, const Scope& scope, Range input, SortKeys& out);
    /// Whether item number `a` comes before item number `b`.
    bool comes_before(const Node& node, const SortKeys& keys, std::uint32_t a, std::uint32_t b,
                      bool& out);

    // hooks.cc

    bool trace(const Node& node, const Scope& scope, Range input);
    bool check_modifiers(const Node& node, const Scope& scope, Range input);
    bool outside(const Node& node, const Scope& scope, Range input);
    bool subsumes(const Node& node, const Scope& scope, Range input);
    bool member_of(const Item& item, std::string_view value_set);
    bool conforms_to(const Item& item, std::string_view profile);
    bool push_answer(Result<std::optional<bool>> answer);

    // strings.cc

    bool on_string(const Node& node, const Scope& scope, Range input);
    /// A function of a string, if there is one, whose arguments are strings.
    bool with_strings(const Node& node, const Scope& scope, const std::optional<Item>& string);
    bool join(const Node& node, const Scope& scope, Range input);
    bool substring(const Node& node, const Scope& scope, std::string_view text);
    bool split(std::string_view text, std::string_view separator);
    bool replace(std::string_view text, std::string_view pattern, std::string_view substitution);
    bool encode(Function function, std::string_view text, std::string_view format);

    // regular_expressions.cc

    bool matches(const Node& node, std::string_view text, std::string_view pattern,
                 std::string_view substitution);
    bool replace_matches(std::string_view text, const re2::RE2& regex, std::string_view rewrite);
    const re2::RE2* compiled(const Node& node, std::string_view pattern);

    // numbers.cc

    bool on_number(const Node& node, const Scope& scope, Range input);
    bool comparable(const Node& node, const Scope& scope, Range input);
    bool boundaries(const Node& node, const Scope& scope, Range input);

    // conversions.cc

    bool convert(const Node& node, const Scope& scope, Range input);
    bool to_kind(const Item& value, Item::Kind kind, std::optional<Item>& out);
    bool to_quantity(const Item& value, std::optional<std::string_view> unit,
                     std::optional<Item>& out);
    bool push_now(Function function);

    const Program* program_ = nullptr;
    const Environment* environment_ = nullptr;
    const Item* input_ = nullptr;

    std::unique_ptr<Item[]> stack_;
    std::uint32_t top_ = 0;
    std::uint32_t capacity_ = 0;

    std::uint64_t steps_ = 0;
    std::uint64_t steps_max_ = 0;
    std::optional<Instant> now_;
    bool undecided_ = false;
    Error error_;

    struct Chunk {
        std::unique_ptr<char[]> bytes;
        std::size_t size;
    };

    std::vector<Chunk> chunks_;
    std::size_t chunk_ = 0;  // the one in use
    std::size_t used_ = 0;   // bytes used of it
    std::size_t allocated_ = 0;
    std::string scratch_;

    // The most recently used computed patterns.
    struct Compiled {
        std::string pattern;
        std::unique_ptr<re2::RE2> regex;
    };

    std::vector<Compiled> compiled_;
};

/// True for date, date_time and time.
bool is_temporal(Item::Kind kind);

/// Appends the text of a System value to `out`, as toString() gives it.
void append_text(std::string& out, const Item& value);

}  // namespace annals::fhirpath
