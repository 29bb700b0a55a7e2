// Fault: what is wrong with an XML text, and where.
//
// Layer:   codec, inside codec/xml.
// Threads: plain functions.

#pragma once

#include "codec/json/unicode.h"
#include "core/base/result.h"

#include <cstddef>
#include <string_view>

namespace annals::xml {

/// What is wrong and where in the text; no message if nothing is.
struct Fault {
    std::size_t offset = 0;
    const char* message = nullptr;
    Errc code = Errc::invalid;
};

/// An Error with the line and column (from 1, in characters) of the fault.
Error describe(std::string_view text, const Fault& fault);

/// The same if the place is known.
Error describe(json::Place place, const Fault& fault);

}  // namespace annals::xml
