// BundleParts: cuts a Bundle's text, given in portions, at its entries, so that each can be processed by itself.
//
// Layer:   codec; depends on nothing.
// Spec:    FHIR R4 bundle.html.
// Threads: a plain value.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace annals::json {

/// One part of a Bundle.
struct BundlePart {
    enum class Kind : std::uint8_t {
        head,   ///< from the Bundle's brace to `"entry":[`; all of it if there are no entries
        entry,  ///< one element of `entry`, without the comma
        tail,   ///< from the `]` of `entry` to the end
    };
    Kind kind = Kind::head;
    std::string_view text;
};

/// Cuts the text of one minified Bundle. Holds no more of it than the current entry and one portion.
class BundleParts {
  public:
    /// Takes the next portion. Requires: all portions together are one well-formed JSON object.
    void add(std::string_view portion);

    /// The next complete part; false if there is none yet. Lifetime: until the next add().
    bool next(BundlePart& part);

    /// The remainder, once everything was added and next() returned false; false if there is none.
    bool rest(BundlePart& part) const;

  private:
    std::string_view take(std::size_t end);
    bool opens_entries(std::size_t bracket) const;

    std::string text_;
    std::size_t begin_ = 0;  ///< of the current part
    std::size_t at_ = 0;     ///< everything before has been scanned
    std::size_t depth_ = 0;
    bool in_string_ = false;
    BundlePart::Kind kind_ = BundlePart::Kind::head;
};

}  // namespace annals::json
