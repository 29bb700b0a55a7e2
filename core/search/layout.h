// Layout: how the index keeps what a parameter finds, where that is not all in columns of its own.
//
// Layer:   core/search.
// Spec:    FHIR R4 search.html#composite; docs/search.md, "What a resource can be found by".
// Threads: each keeps its own.

#pragma once

#include "core/search/parameters.h"
#include "core/search/selection.h"

#include <memory>
#include <optional>
#include <vector>

namespace annals::core::search {

/// A composite of two components whose parts are paths: of each element, what the components have of it.
struct CompositePaths {
    Path element;
    schema::Type type;         ///< of the element
    std::size_t key = 0;       ///< which component is a token, the first if both are
    std::vector<Path> keys;    ///< of that
    std::vector<Path> values;  ///< of the other one
    schema::SearchType value_type = schema::SearchType::token;
};

struct Layout {
    /// Parameters that find together what this one does (combo-code: code and component-code): nothing is kept of its
    /// own.
    std::vector<const Parameter*> parts;
    /// Of a composite that the index answers. Any other keeps nothing, and is verified on bodies.
    std::optional<CompositePaths> composite;
};

/// Of a parameter of `set`. Lifetime: until the thread has asked for those of some other sets.
/// Cost: a look-up, once it is known.
const Layout& layout_of(const std::shared_ptr<const ParameterSet>& set, TypeId type,
                        const Parameter& parameter);

// What stands in the columns of a composite C, for an element with the code `code` of `system` and another component's
// value: the term present(C); paired(key, term) for each term of the value in column C, once with token(C, code) for the
// key and once with token(C, system, code); for each interval, as of a quantity in C, the unit `code\x1Fsystem\x1F` and
// the value's own unit, if it has one; for each text `code\x1Fsystem\x1F` and the text, and `code\x1E` and the text.

/// An element that has the code `key`, a token() of the composite's column, has `value`, too.
Term paired(Term key, Term value) noexcept;

/// What stands between the parts of a text that has several, and behind a code that is meant whatever its system is.
inline constexpr char kPartEnd = '\x1F';
inline constexpr char kAnySystem = '\x1E';

}  // namespace annals::core::search
