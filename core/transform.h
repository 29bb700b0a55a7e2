// transform: the JSON of an answer, drawn portion by portion, into another look of the same.
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

/// How an answer is to look.
struct Look {
    Format format = Format::json;
    bool pretty = false;
    bool bundle =
        false;  ///< a Bundle of resources: `subset` is about these, and they are worked on one by one
    Subset subset;
};

/// The JSON in `body` and `more` (null: nothing follows) as `look` says. Holds a slice and an entry of a Bundle of it
/// at most; of what is no such Bundle and changes more than its white space, all.
std::unique_ptr<BodySource> transform(Look look, Body body, std::unique_ptr<BodySource> more);

}  // namespace annals::core
