// Strings as FHIRPath sees them: characters of UTF-8, case, equivalence.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "String Manipulation", "Equivalent". Case follows Unicode's simple mappings for Latin,
//          Greek, Cyrillic and Armenian; other scripts that have case keep theirs.
// Threads: plain functions.

#pragma once

#include "core/base/ascii.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace annals::fhirpath {

/// Number of characters. Requires: UTF-8; for anything else, some number no greater than the number of bytes.
std::size_t character_count(std::string_view text);

/// The byte at which character `index` begins; the size if there are fewer.
std::size_t character_offset(std::string_view text, std::size_t index);

/// Appends `text` with every letter in upper or lower case.
void append_case(std::string& out, std::string_view text, bool upper);

/// True if they differ only in case and in the kind of white space.
bool equivalent_strings(std::string_view a, std::string_view b);

/// What a backslash followed by one of `letters` means: the character at the same index of `meanings`.
struct Escapes {
    std::string_view letters;
    std::string_view meanings;
};

/// An invalid escape: where its backslash is.
struct EscapeFault {
    std::size_t at = 0;
    bool unknown =
        false;  ///< no such escape; else it is no character (half a pair, too few digits)
};

/// Appends `text` unescaped, \uXXXX and surrogate pairs included; returns what is wrong with it, if anything.
std::optional<EscapeFault> unescape(std::string_view text, const Escapes& escapes,
                                    std::string& out);

/// Without leading and trailing white space.
std::string_view trimmed(std::string_view text);

}  // namespace annals::fhirpath
