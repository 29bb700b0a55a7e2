// Grammar: code systems whose codes follow a grammar instead of being listed.
//
// Layer:   core/terminology.
// Spec:    UCUM as in codec/fhirpath/ucum.h; RFC 6838 section 4.2 (BCP 13, MIME types); RFC 5646 section 2.1 (BCP 47, languages);
//          FHIR R4 ucum.html (subsumption, filters).
// Threads: any.

#pragma once

#include "core/terminology/membership.h"

#include <span>
#include <string_view>

namespace annals::terminology {

struct Grammar {
    std::string_view system;  ///< the url of the code system
    std::string_view name;
    /// Whether a code is one of the system's; unknown if a list would have to decide.
    Member (*judge)(std::string_view code);
    bool is_flat;  ///< whether no code subsumes another
};

/// All that are known.
std::span<const Grammar> grammars();

/// That of a code system; null if none is known.
const Grammar* grammar_of(std::string_view system);

/// Whether the code system with the url `system` has the code: its list decides if it is complete or has the code, else its
/// grammar; unknown if neither does. `listed`: null if none of it is available.
Member judge_code(const CodeSystem* listed, std::string_view system, std::string_view code);

/// Whether a code that the grammar of `system` has passes a filter; unknown if that cannot be told. Known are the filters that
/// FHIR defines for UCUM: `canonical` (comparable with a unit) and `property` (with the base unit of a property). Cost:
/// proportional to the values that the filter accepts. Errors: as `effort`.
Result<Member> judge_filter(std::string_view system, const Filter& filter, std::string_view code,
                            Effort& effort);

/// Whether a code that `listed` has passes a filter: by what is listed about it or, if that is not all there is, by the grammar
/// of `system`. Errors: as Filter::passes().
Result<Member> judge_listed(const CodeSystem& listed, std::string_view system, const Filter& filter,
                            CodeSystem::Number number, Effort& effort);

}  // namespace annals::terminology
