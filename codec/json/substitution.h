// Substitution: temporarily replaces strings of a Document.
//
// A transaction's resources are indexed with their links resolved; this saves parsing them a second time.
//
// Layer:   codec.
// Threads: no other thread may read the Document meanwhile.

#pragma once

#include "codec/json/document.h"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::json {

/// Lifetime: what it substitutes in outlives it. Values and views stay valid; a replaced string's offsets lie
///           beyond the text, those of the values around it don't change.
class Substitution {
  public:
    Substitution() = default;

    ~Substitution() { undo(); }

    Substitution(const Substitution&) = delete;
    Substitution& operator=(const Substitution&) = delete;

    /// Makes `string` read as `quoted`, a JSON string with its quotes. All strings until undo() must be of the same
    /// Document. False if the Document has no room for it.
    bool replace(Value string, std::string_view quoted);

    /// Restores what was parsed.
    void undo() noexcept;

  private:
    const Tree* tree_ = nullptr;
    std::size_t text_size_ = 0;  ///< before the first replacement
    std::vector<std::pair<std::uint32_t, Node>> replaced_;
};

}  // namespace annals::json
