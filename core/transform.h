// transform: converts the JSON of an answer, read slice by slice, to another representation.
//
// Layer:   core; used by representation.cc alone.
// Spec:    FHIR R4 xml.html, search.html#summary, #elements; docs/api/representation.md.
// Threads: on the connection's thread.

#pragma once

#include "core/body.h"
#include "core/interactions/negotiation.h"
#include "core/subset.h"

#include <memory>

namespace annals::core {

/// The representation of an answer.
struct Look {
    Format format = Format::json;
    bool pretty = false;
    /// A Bundle of resources: `subset` applies to these, which are converted one by one.
    bool bundle = false;
    Subset subset;
};

/// Converts the JSON in `body` and `more` (null: nothing follows) as `look` says. Holds at most a slice and one entry of a
/// Bundle in memory; anything other than such a Bundle, if more than its white space changes, as a whole.
std::unique_ptr<BodySource> transform(Look look, Body body, std::unique_ptr<BodySource> more);

}  // namespace annals::core
