// Folding: how texts are compared without regard to case, accents and white space.
//
// Layer:   core/search; the one user of utf8proc.
// Spec:    FHIR R4 search.html#string; Unicode compatibility decomposition (NFKD) and case folding.
// Threads: plain functions.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace annals::core::search {

/// Characters of a text that are looked at; what is behind them is not found.
inline constexpr std::size_t kFoldedCharsMax = 1000;

/// Puts the folded form of `text` into `folded`: decomposed, without marks, case folded, letters that have no
/// decomposition written out (ø is o, æ is ae, ß is ss), white space at the ends removed and otherwise one blank.
/// Only the first kFoldedCharsMax characters count. What is no UTF-8 is passed over.
void fold(std::string_view text, std::string& folded);

std::string fold(std::string_view text);

/// The size of the character that `text` begins with, if it is of a word: a letter, mark or digit; 0 if it separates words,
/// also where it is no ASCII (“ ” — • ° ®). Requires: not empty.
std::size_t word_character(std::string_view text);

}  // namespace annals::core::search
