// Compares the parse that checks structure with the plain parse, with the walk over its result, and with the parse from tokens.

#pragma once

#include "codec/json/document.h"

#include <string_view>

namespace annals::test {

/// What is wrong, if anything: `text` must parse to the same nodes, checked and unchecked, directly and from its tokens; and what
/// the checked parse accepts must have no fault by the strictest rules of structure.
std::string_view disagreement_with_checked_parse(json::Parser& parser, std::string_view text);

}  // namespace annals::test
