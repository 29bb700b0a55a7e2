// BundleParts: a Bundle's text, in portions, cut at its entries, so that each can be worked on by itself.
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

/// Cuts the text of one Bundle without white space. Holds no more of it than the entry under way and one
/// portion.
class BundleParts {
  public:
    /// Takes the next portion. Requires: all portions together are one well-formed JSON object.
    void add(std::string_view portion);

    /// The next whole part of what was added; false if there is none yet. Lifetime: until the next add().
    bool next(BundlePart& part);

    /// What is left when everything has been added and next() has said false; false if nothing is.
    bool rest(BundlePart& part) const;

  private:
    std::string_view take(std::size_t end);
    bool opens_entries(std::size_t bracket) const;

    std::string text_;
    std::size_t begin_ = 0;  ///< of the part under way
    std::size_t at_ = 0;     ///< what lies before has been looked at
    std::size_t depth_ = 0;
    bool in_string_ = false;
    BundlePart::Kind kind_ = BundlePart::Kind::head;
};

}  // namespace annals::json
