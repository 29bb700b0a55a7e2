// Subset: what `_summary` and `_elements` leave of a resource.
//
// Layer:   core.
// Spec:    FHIR R4 search.html#summary, #elements; docs/api/representation.md.
// Threads: plain functions and values.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

enum class Summary : std::uint8_t {
    none,
    summary,  ///< `true`: what the definitions mark as summary
    text,     ///< text, id, meta and what is mandatory
    data,     ///< all but text
    count,    ///< of a Bundle all but its entries
};

/// An element's name as `_elements` gives it; `type` is empty where it is to apply to all types.
struct ElementName {
    std::string type;
    std::string name;
};

/// What is to be left of each resource.
struct Subset {
    Summary summary = Summary::none;
    std::vector<ElementName> elements;

    /// True if nothing is taken away.
    bool whole() const noexcept { return summary == Summary::none && elements.empty(); }
};

/// Reads the value of `_summary`. Errors: invalid.
Result<Summary> read_summary(std::string_view value);

/// Adds the names of a value of `_elements` to `elements`. Errors: invalid.
Result<void> read_elements(std::string_view value, std::vector<ElementName>& elements);

/// Appends the JSON of what `subset` leaves of `resource`, tagged SUBSETTED, to `out`. Mandatory elements and
/// modifiers stay. What is no resource of a type that R4 has, and an OperationOutcome, stays as it is.
void append_subset(json::Value resource, const Subset& subset, std::string& out);

/// True if `meta` has the tag SUBSETTED: the resource was not read as a whole.
bool is_subsetted(json::Value meta);

}  // namespace annals::core
