// Layout: how the index stores parameters that aren't simply kept in columns of their own.
//
// Layer:   core/search.
// Spec:    FHIR R4 search.html#composite; docs/search.md, "What a resource can be found by".
// Threads: plain functions; each thread keeps its own layouts.

#pragma once

#include "core/search/parameters.h"
#include "core/search/selection.h"

#include <memory>
#include <optional>
#include <vector>

namespace annals::core::search {

/// A composite of two components that consist of paths, below the paths' common element.
struct CompositePaths {
    Path element;
    schema::Type type;         ///< of the element
    std::size_t key = 0;       ///< index of the component that is a token, the first if both are
    std::vector<Path> keys;    ///< of that component
    std::vector<Path> values;  ///< of the other
    schema::SearchType value_type = schema::SearchType::token;
};

struct Layout {
    /// Parameters that together find what this one does (combo-code: code and component-code), which then has no
    /// entries of its own.
    std::vector<const Parameter*> parts;
    /// For a composite that the index can answer. Any other has no entries and is verified on bodies.
    std::optional<CompositePaths> composite;
};

/// The layout of a parameter of `set`. Lifetime: until the thread has called this for several other sets. Cost: a
/// look-up, once it is known.
const Layout& layout_of(const std::shared_ptr<const ParameterSet>& set, TypeId type,
                        const Parameter& parameter);

// The entries of a composite C, for an element with the code `code` of `system` and the other component's value: the
// term present(C); paired(key, term) for each term of the value in column C, once with token(C, code) for the key and
// once with token(C, system, code); each interval, like that of a quantity in C, with the unit `code\x1Fsystem\x1F` followed by
// the value's own unit, if any; for each text `code\x1Fsystem\x1F` and the text, and `code\x1E` and the text.

/// An element has both the code `key`, a token() in the composite's column, and `value`.
Term paired(Term key, Term value) noexcept;

/// Separates the parts of a composed text; follows a code without regard to its system.
inline constexpr char kPartEnd = '\x1F';
inline constexpr char kAnySystem = '\x1E';

}  // namespace annals::core::search
