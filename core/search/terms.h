// The vocabulary of the search index: the numbers that stand for values, shared by indexing and queries.
//
// Layer:   core/search.
// Spec:    FHIR R4 search.html; docs/search.md.
// Threads: plain functions.

#pragma once

#include "core/base/resource_types.h"

#include <cstdint>
#include <string_view>

namespace annals::core::search {

/// A column: all entries of one kind for one search parameter (of one type, since each type has an index of its own).
using Column = std::uint64_t;
using Term = std::uint64_t;

/// The column of a parameter by its code ("birthdate", "_lastUpdated").
Column column_of(std::string_view code) noexcept;

/// A column beside it: `part` is ":text" (token display texts), ":units" (texts `system\x1Fcode\x1Funit` of a
/// quantity's units), ":lat" and ":lon" (special near), ":identifier" (tokens of Reference.identifier), or
/// "=" and a unit's text (the values in that unit).
Column beside(Column column, std::string_view part) noexcept;

/// The parameter has any value (`:missing`).
Term present(Column column) noexcept;

/// A text that is hashed once for several columns.
struct TextHash {
    std::uint64_t value = 0;
};

TextHash text_hash(std::string_view text) noexcept;

/// Tokens; a value is indexed in all of its forms.
Term token(Column column, std::string_view code) noexcept;  ///< `code`, whatever its system
Term token(Column column, std::string_view system,
           std::string_view code) noexcept;                          ///< `system|code`; `|code`: ""
Term token_system(Column column, std::string_view system) noexcept;  ///< `system|`
Term token_of_type(Column column, std::string_view type_system, std::string_view type_code,
                   std::string_view value) noexcept;

Term token(Column column, TextHash code) noexcept;
Term token(Column column, TextHash system, TextHash code) noexcept;
Term token_system(Column column, TextHash system) noexcept;

/// The exact text of a string (`:exact`), a uri, or a reference that is not local.
Term exact(Column column, std::string_view text) noexcept;

/// A reference to the resource whose SearchRun::key() is `target`; the same fact as a SearchEntries::Link.
Term reference(Column column, std::uint64_t target) noexcept;

/// A reference to the contained resource with this id, or that resource itself in place of a reference; without an id: to any.
Term inner_reference(Column column, std::string_view id) noexcept;
Term inner_reference(Column column) noexcept;

/// The document of the resource with this SearchRun::key(): `_id`, chains.
Term identity(std::uint64_t key) noexcept;

/// Maps numbers to integers in the same order, and back.
std::int64_t ordered(double number) noexcept;
double number_of(std::int64_t ordered) noexcept;

}  // namespace annals::core::search
