// Subset: the part of a resource that `_summary` and `_elements` ask for.
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
    summary,  ///< `true`: the elements that the definitions mark as summary
    text,     ///< text, id, meta and mandatory elements
    data,     ///< everything except text
    count,    ///< a Bundle without its entries
};

/// The pairs of element name and type (empty: any) listed in `_elements`.
using ElementNames = std::set<std::tuple<std::string, std::string>, std::less<>>;

/// The maximum number of names in `_elements`.
inline constexpr std::size_t kElementNamesMax = 1000;

/// The part of each resource that is returned.
struct Subset {
    Summary summary = Summary::none;
    ElementNames elements;

    /// Whether nothing is removed.
    bool whole() const noexcept { return summary == Summary::none && elements.empty(); }
};

/// Reads the value of `_summary`. Errors: invalid.
Result<Summary> read_summary(std::string_view value);

/// Adds the names in a value of `_elements` to `elements`. Errors: invalid.
Result<void> read_elements(std::string_view value, ElementNames& elements);

/// Appends `resource` to `out` as JSON, reduced to `subset` and tagged SUBSETTED. Mandatory elements and modifiers stay. An
/// OperationOutcome, and anything that is no resource of a type in R4, is appended unchanged.
void append_subset(json::Value resource, const Subset& subset, std::string& out);

/// Whether `meta` has the tag SUBSETTED, so that the resource was not returned as a whole.
bool is_subsetted(json::Value meta);

}  // namespace annals::core
