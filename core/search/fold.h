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

/// Appends the words of what fold() gave to `out`, a blank behind each: what is no letter, mark or digit separates them, also
/// where it is no ASCII (“ ” — • ° ®).
void append_folded_words(std::string_view folded, std::string& out);

}  // namespace annals::core::search
