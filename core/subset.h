// Subset: what `_summary` and `_elements` leave of a resource.
//
// Layer:   core.
// Spec:    FHIR R4 search.html#summary, #elements; docs/api/representation.md.
// Threads: plain functions and values.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace annals::core {

enum class Summary : std::uint8_t {
    none,
    summary,  ///< `true`: what the definitions mark as summary
    text,     ///< text, id, meta and what is mandatory
    data,     ///< all but text
    count,    ///< of a Bundle all but its entries
};

/// What `_elements` names: types, empty for all of them, and the names of elements.
using ElementNames = std::set<std::tuple<std::string, std::string>, std::less<>>;

/// Names that `_elements` may give.
inline constexpr std::size_t kElementNamesMax = 1000;

/// What is to be left of each resource.
struct Subset {
    Summary summary = Summary::none;
    ElementNames elements;

    /// True if nothing is taken away.
    bool whole() const noexcept { return summary == Summary::none && elements.empty(); }
};

/// Reads the value of `_summary`. Errors: invalid.
Result<Summary> read_summary(std::string_view value);

/// Adds the names of a value of `_elements` to `elements`. Errors: invalid.
Result<void> read_elements(std::string_view value, ElementNames& elements);

/// Appends the JSON of what `subset` leaves of `resource`, tagged SUBSETTED, to `out`. Mandatory elements and
/// modifiers stay. What is no resource of a type that R4 has, and an OperationOutcome, stays as it is.
void append_subset(json::Value resource, const Subset& subset, std::string& out);

/// True if `meta` has the tag SUBSETTED: the resource was not read as a whole.
bool is_subsetted(json::Value meta);

}  // namespace annals::core
