// The links in a narrative, for rewriting.
//
// Layer:   codec; depends on codec/json.
// Spec:    FHIR R4 http.html#trules.
// Threads: plain functions.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace annals::xml {

/// Calls `rewrite(url)` for each a@href and img@src of a narrative's XHTML, given as verbatim JSON string characters,
/// and returns the new JSON string characters; none if no link changed. `url` has no escapes and references, and the
/// result of `rewrite` is escaped again; everything else stays verbatim.
std::optional<std::string> rewrite_narrative(
    std::string_view raw_div,
    const std::function<std::optional<std::string>(std::string_view url)>& rewrite);

}  // namespace annals::xml
