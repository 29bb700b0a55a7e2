// Substitution: strings of a Document that read as others for a while.
//
// A transaction's resources are searched by what their links were resolved to; this saves a second parse of them.
//
// Layer:   codec.
// Threads: nobody else reads the Document meanwhile.

#pragma once

#include "codec/json/document.h"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::json {

/// Lifetime: what it substitutes in outlives it. Values and views stay valid; offsets of the strings that read
///           otherwise point behind the text, and those of what they are in stay as they are.
class Substitution {
  public:
    Substitution() = default;

    ~Substitution() { undo(); }

    Substitution(const Substitution&) = delete;
    Substitution& operator=(const Substitution&) = delete;

    /// `string`, of the Document that all others until undo() are of, reads as `quoted`, a JSON string with its quotes.
    /// False if the Document has no room for it.
    bool replace(Value string, std::string_view quoted);

    /// Everything reads as it was parsed.
    void undo() noexcept;

  private:
    const Tree* tree_ = nullptr;
    std::size_t text_size_ = 0;  ///< before
    std::vector<std::pair<std::uint32_t, Node>> replaced_;
};

}  // namespace annals::json
