// A parsed GraphQL document: operations, fragments, selections, values.
//
// Layer:   core/graphql; entered from core/operations/graphql.cc.
// Spec:    GraphQL (June 2018), section 2 Language: executable documents only, no type systems.
// Threads: plain values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core::graphql {

/// Limits on a document.
inline constexpr std::size_t kDocumentBytesMax = 64 << 10;
inline constexpr std::size_t kTokensMax = 20'000;
inline constexpr std::size_t kDepthMax = 50;  ///< nested selections, or nested lists and objects
inline constexpr std::size_t kArgumentsMax = 100;  ///< per field or directive
inline constexpr std::size_t kDefinitionsMax =
    100;  ///< operations and fragments; also variables per operation

/// A place in the document; both count from 1, columns in bytes.
struct Location {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
};

struct Value {
    enum class Kind : std::uint8_t {
        null,
        boolean,
        integer,
        real,
        string,
        name,  ///< of an enum
        list,
        object,
        variable,
    };

    Kind kind = Kind::null;
    std::string text;                ///< true, false, the digits, the characters or the name
    std::vector<Value> items;        ///< of a list or an object
    std::vector<std::string> names;  ///< of an object: the names of its items

    bool is_null() const noexcept { return kind == Kind::null; }

    /// Whether it is neither null, a list, an object nor a variable.
    bool is_scalar() const noexcept { return kind > Kind::null && kind < Kind::list; }
};

struct Argument {
    std::string name;
    Value value;
    Location at;
};

struct Directive {
    std::string name;
    std::vector<Argument> arguments;
    Location at;
};

struct Selection {
    enum class Kind : std::uint8_t { field, spread, inline_fragment };

    Kind kind = Kind::field;
    std::string alias;  ///< of a field; same as the name if none is given
    std::string name;   ///< of the field, fragment or type condition (may be empty)
    std::vector<Argument> arguments;
    std::vector<Directive> directives;
    std::vector<Selection> selections;
    Location at;
};

/// String, String!, [String!]!
struct VariableType {
    std::string name;                ///< empty: it is a list
    bool required = false;           ///< !
    std::vector<VariableType> item;  ///< of a list: exactly one
};

struct VariableDefinition {
    std::string name;
    VariableType type;
    bool has_default = false;
    Value default_value;
    Location at;
};

struct OperationDefinition {
    std::string kind = "query";  ///< or mutation, subscription
    std::string name;            ///< may be empty
    std::vector<VariableDefinition> variables;
    std::vector<Directive> directives;
    std::vector<Selection> selections;
    Location at;
};

struct FragmentDefinition {
    std::string name;
    std::string type;
    std::vector<Directive> directives;
    std::vector<Selection> selections;
    Location at;
};

struct Document {
    std::vector<OperationDefinition> operations;
    std::vector<FragmentDefinition> fragments;

    /// The fragment called `name`; null if there is none.
    const FragmentDefinition* fragment(std::string_view name) const noexcept;
};

}  // namespace annals::core::graphql
