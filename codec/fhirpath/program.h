// Program: a parsed expression as one flat array of nodes.
//
// Layer:   codec, inside codec/fhirpath; core/search/selection.cc looks into programs, too.
// Threads: const after parsing, except for regular expressions, which are compiled once, on first use.

#pragma once

#include "codec/fhirpath/fhirpath.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace annals::fhirpath {

enum class Op : std::uint8_t {
    // Terms without input.
    empty,
    literal,   // value: constant
    this_,     // $this
    index,     // $index
    total,     // $total
    variable,  // value: name
    // Steps: a is the input, or kNone for the context.
    member,    // value: name
    function,  // value: first argument in Program::arguments, count of them
    indexer,   // value: the index expression
    // Operators: a and value are the operands (unary ones have only a).
    positive,
    negative,
    multiply,
    divide,
    div,
    mod,
    add,
    subtract,
    concatenate,
    is,       // value: type specifier
    as,       // value: type specifier
    of_type,  // value: type specifier
    union_,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    equivalent,
    not_equal,
    not_equivalent,
    in,
    contains,
    and_,
    or_,
    xor_,
    implies,
};

enum class Function : std::uint8_t {
    none,
    abs,
    aggregate,
    all,
    all_false,
    all_true,
    any_false,
    any_true,
    as,
    ceiling,
    check_modifiers,
    children,
    combine,
    comparable,
    conforms_to,
    contains,
    converts_to_boolean,
    converts_to_date,
    converts_to_date_time,
    converts_to_decimal,
    converts_to_integer,
    converts_to_quantity,
    converts_to_string,
    converts_to_time,
    count,
    decode,
    descendants,
    distinct,
    empty,
    encode,
    ends_with,
    escape,
    exclude,
    exists,
    exp,
    extension,
    first,
    floor,
    get_value,
    has_value,
    high_boundary,
    html_checks,
    iif,
    index_of,
    intersect,
    is,
    is_distinct,
    join,
    last,
    last_index_of,
    length,
    ln,
    log,
    low_boundary,
    lower,
    matches,
    matches_full,
    member_of,
    not_,
    now,
    of_type,
    power,
    precision,
    repeat,
    replace,
    replace_matches,
    resolve,
    round,
    select,
    single,
    skip,
    sort,
    split,
    sqrt,
    starts_with,
    subset_of,
    substring,
    subsumed_by,
    subsumes,
    superset_of,
    tail,
    take,
    time_of_day,
    to_boolean,
    to_chars,
    to_date,
    to_date_time,
    to_decimal,
    to_integer,
    to_quantity,
    to_string,
    to_time,
    today,
    trace,
    trim,
    truncate,
    type,
    unescape,
    union_,
    upper,
    where,
};

struct Node {
    Op op = Op::empty;
    Function function = Function::none;
    std::uint16_t count = 0;     // arguments of a function
    std::uint32_t a = 0;         // a node, or kNone
    std::uint32_t value = 0;     // see Op
    std::uint32_t position = 0;  // byte in the text, for messages
};

inline constexpr std::uint32_t kNone = UINT32_MAX;

struct Name {
    std::string_view text;
    schema::Type type{};  // the type with that name, if there is one
};

/// The type operand of `is`, `as` and ofType().
struct TypeSpecifier {
    std::string_view name;           // for messages
    schema::Type fhir{};             // 0: none
    std::uint16_t system_kinds = 0;  // bit 1 << Item::Kind for System types
    bool known = false;
};

/// A regular expression given as a literal: compiled on first use.
struct Pattern {
    explicit Pattern(std::uint32_t node);
    ~Pattern();

    std::uint32_t argument;  // the literal's node
    mutable std::once_flag once;
    mutable std::unique_ptr<re2::RE2> regex;
};

struct Program {
    Program();
    ~Program();

    std::string text;
    std::vector<Node> nodes;
    std::uint32_t root = 0;
    std::vector<std::uint32_t> arguments;
    std::vector<Name> names;
    std::vector<Item> constants;
    std::vector<TypeSpecifier> types;
    std::deque<Pattern> patterns;
    // What names and constants point into.
    std::deque<std::string> strings;
    std::deque<Quantity> quantities;
};

}  // namespace annals::fhirpath
