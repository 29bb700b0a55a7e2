// BodyPiece: a part of the body of a version whose number and instant are not known yet.
//
// Layer:   core/base; codec makes them, storage puts them together.
// Threads: plain values.

#pragma once

#include <cstdint>
#include <string_view>

namespace annals {

/// Text, or a place that the store fills in when it numbers the version. The quotes around such a place are in the text.
struct BodyPiece {
    enum class Kind : std::uint8_t {
        text,     ///< `text` as it is
        version,  ///< the version number in decimal
        instant,  ///< the instant of the version, kInstantChars characters
    };
    Kind kind = Kind::text;
    std::string_view text;
};

}  // namespace annals
