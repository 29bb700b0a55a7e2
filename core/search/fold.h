// Folding: normalises texts so that comparisons ignore case, accents and white space.
//
// Layer:   core/search; the only user of utf8proc.
// Spec:    FHIR R4 search.html#string; Unicode compatibility decomposition (NFKD) and case folding.
// Threads: plain functions.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace annals::core::search {

/// How many characters of a text are folded; what follows can't be found.
inline constexpr std::size_t kFoldedCharsMax = 1000;

/// Puts the folded form of `text` into `folded`: decomposed, without marks, case-folded, some letters without a
/// decomposition replaced (ø by o, æ by ae, ß by ss), white space trimmed and collapsed to single blanks. Only the
/// first kFoldedCharsMax characters are read. Invalid UTF-8 is skipped.
void fold(std::string_view text, std::string& folded);

std::string fold(std::string_view text);

/// The size of the first character of `text` if it belongs to a word (a letter, mark or digit); 0 if it separates
/// words, which non-ASCII characters (“ ” — • ° ®) may do as well. Requires: not empty.
std::size_t word_character(std::string_view text);

}  // namespace annals::core::search
