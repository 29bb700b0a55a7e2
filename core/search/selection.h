// Selection: recognises expressions of search parameters that are no more than paths.
//
// Almost all of R4's are: Observation.value.as(Quantity), Patient.telecom.where(system='email'),
// Encounter.subject.where(resolve() is Patient). The others are left to the FHIRPath evaluator.
//
// Layer:   core/search.
// Threads: plain functions and values.

#pragma once

#include "codec/fhirpath/fhirpath.h"
#include "codec/schema/schema.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace annals::core::search {

/// Selects some of a member's values.
struct Condition {
    enum class Kind : std::uint8_t {
        none,
        equals,  ///< those whose `member` is the string `value`
        index,   ///< the one at `index`
    };
    Kind kind = Kind::none;
    std::string member;
    std::string value;
    std::size_t index = 0;

    bool operator==(const Condition&) const = default;
};

struct Step {
    std::string name;   ///< as in FHIRPath: "value"
    schema::Type only;  ///< only values of this type; missing: of any type
    Condition condition;

    bool operator==(const Step&) const = default;
};

/// A path of members down from a value of a known type. Without steps: the value itself.
struct Path {
    std::vector<Step> steps;
    schema::Type refers_to;  ///< only references to this resource type; missing: all

    bool operator==(const Path&) const = default;
};

/// Whether a value of `type` is one that `.as(wanted)` keeps.
bool is_kept_by_as(schema::Type type, schema::Type wanted) noexcept;

/// The paths whose values together are those of `expression` on a value of type `context`; none if it is more than paths.
std::optional<std::vector<Path>> paths_of(const fhirpath::Expression& expression,
                                          schema::Type context);

/// The path P of an expression `P.exists() and P != false`; none for any other expression.
std::optional<Path> presence_of(const fhirpath::Expression& expression, schema::Type context);

}  // namespace annals::core::search
