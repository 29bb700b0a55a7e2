// A GraphQL document as it was read: operations, fragments, selections, values.
//
// Layer:   core/graphql; core/operations/graphql.cc is the way in.
// Spec:    GraphQL (June 2018), section 2 Language: what executes; no type systems.
// Threads: plain values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core::graphql {

/// Bounds on a document.
inline constexpr std::size_t kDocumentBytesMax = 64 << 10;
inline constexpr std::size_t kTokensMax = 20'000;
inline constexpr std::size_t kDepthMax = 50;  ///< selections, or lists and objects, in each other
inline constexpr std::size_t kArgumentsMax = 100;  ///< of one field or directive
inline constexpr std::size_t kDefinitionsMax =
    100;  ///< operations and fragments; also variables of one

/// Where in the document; both from 1, columns in bytes.
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
        name,  ///< an enum's
        list,
        object,
        variable,
    };

    Kind kind = Kind::null;
    std::string text;                ///< true, false, the digits, the characters, the name
    std::vector<Value> items;        ///< of a list, and of an object
    std::vector<std::string> names;  ///< of an object: what its items are called

    bool is_null() const noexcept { return kind == Kind::null; }

    /// Neither null, nor made of others, nor to be looked up.
    bool is_scalar() const noexcept { return kind > Kind::null && kind < Kind::list; }
};

/// What makes two values the same: their JSON, or nearly so.
std::string written(const Value& value);

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
    std::string alias;  ///< of a field; its name if it has none
    std::string name;   ///< of the field, of the fragment, of the type (may be empty)
    std::vector<Argument> arguments;
    std::vector<Directive> directives;
    std::vector<Selection> selections;
    Location at;
};

/// String, String!, [String!]!
struct VariableType {
    std::string name;                ///< empty: a list
    bool required = false;           ///< !
    std::vector<VariableType> item;  ///< of a list: one
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

    /// Null if there is none.
    const FragmentDefinition* fragment(std::string_view name) const noexcept;
};

}  // namespace annals::core::graphql
