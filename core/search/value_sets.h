// Value sets and code systems for searching: which codes `:in`, `:above` and `:below` mean.
//
// Layer:   core/search.
// Spec:    FHIR R4 valueset.html#compose, codesystem.html#subsumption, search.html#token.
// Threads: of one query, one thread.

#pragma once

#include "core/search/stored.h"

#include <string>
#include <string_view>
#include <vector>

namespace annals::core::search {

struct Coding {
    std::string system;
    std::string code;

    auto operator<=>(const Coding&) const = default;
};

/// The codes of a value set.
struct Expansion {
    std::vector<Coding> codes;  ///< ascending, each once
    std::vector<std::string>
        systems;  ///< code systems that are in as a whole and whose codes are not known here
};

/// At most so many codes are looked for with `:in`, `:above` and `:below`.
inline constexpr std::size_t kExpansionMax = 20'000;

/// Expands the value set that `name` says: a canonical URL with or without |version, or ValueSet/id. The stored one,
/// or else one that R4's own definitions enumerate.
///
/// Errors: invalid: it is not known here, or names what isn't; not_supported: a filter that can't be computed, or an
///         exclusion from a code system that isn't here; too_costly.
Result<Expansion> expand(const StoredResources& stored, std::string_view name);

/// `code` and all that are above or below it in the stored CodeSystem of that url, by nesting and by the properties
/// `parent` and `child`.
///
/// Errors: invalid: the code system is not stored; too_costly.
Result<std::vector<std::string>> codes_above(const StoredResources& stored, std::string_view system,
                                             std::string_view code);
Result<std::vector<std::string>> codes_below(const StoredResources& stored, std::string_view system,
                                             std::string_view code);

}  // namespace annals::core::search
