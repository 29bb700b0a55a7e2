// Value sets and code systems for searching: the codes that `:in`, `:above` and `:below` stand for.
//
// Layer:   core/search.
// Spec:    FHIR R4 valueset.html#compose, codesystem.html#subsumption, search.html#token.
// Threads: plain functions.

#pragma once

#include "core/search/stored.h"

#include <memory>
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
    std::vector<Coding> codes;  ///< sorted, unique
    std::vector<std::string>
        systems;  ///< code systems that are included as a whole and whose codes are unknown
};

/// Codes of one system.
using Codes = std::vector<std::string>;

/// At most this many codes are searched for with `:in`, `:above` and `:below`.
inline constexpr std::size_t kExpansionMax = 20'000;

/// And at most this many bytes of them, each with the url of its system, with `:in`.
inline constexpr std::size_t kExpansionBytesMax = 16 << 20;

/// Expands the value set `name`: a canonical URL with or without |version, or ValueSet/id. The stored one or, if there
/// is none, one of stored.others().
///
/// Errors: invalid: it, or something it names, is unknown; not_supported: a filter that can't be computed, or an
/// exclusion from an unknown code system; too_costly.
Result<std::shared_ptr<const Expansion>> expand(const StoredResources& stored,
                                                std::string_view name);

/// `code` and all codes above or below it in the stored CodeSystem with that url, by nesting and by the properties
/// `parent` and `child`.
///
/// Errors: invalid: the code system is not stored; too_costly.
Result<std::shared_ptr<const Codes>> codes_above(const StoredResources& stored,
                                                 std::string_view system, std::string_view code);
Result<std::shared_ptr<const Codes>> codes_below(const StoredResources& stored,
                                                 std::string_view system, std::string_view code);

}  // namespace annals::core::search
