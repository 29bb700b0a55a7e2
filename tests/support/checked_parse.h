// The parse that looks at the structure on its way, beside the plain parse and the walk over it.

#pragma once

#include "codec/json/document.h"

#include <string_view>

namespace annals::test {

/// Nothing, or what is wrong: `text` must parse alike, checked and unchecked, to the same nodes; and what the checked parse
/// finds sound must have no fault by the strictest rules of structure.
std::string_view disagreement_with_checked_parse(json::Parser& parser, std::string_view text);

}  // namespace annals::test
