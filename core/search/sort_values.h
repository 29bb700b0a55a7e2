// What resources are sorted by, where only their bodies tell.
//
// Layer:   core/search.
// Spec:    docs/api/search.md, Order.
// Threads: plain functions.

#pragma once

#include "codec/fhirpath/fhirpath.h"

#include <optional>
#include <string>

namespace annals::core::search {

/// The number in an item of a parameter of type quantity; of several, the first in this direction. None: it has none.
std::optional<double> sort_number(const fhirpath::Item& item, bool descending);

/// The text in an item of a parameter of type token, reference, uri or other; of several, the first in this direction. Empty: it
/// has none.
std::string sort_text(const fhirpath::Item& item, bool descending);

}  // namespace annals::core::search
