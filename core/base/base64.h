// Base64 with the standard alphabet and padding, and base64url without.
//
// Layer:   core/base.
// Spec:    RFC 4648 sections 4 and 5; RFC 7515 section 2; FHIR R4 datatypes.html#base64Binary, which allows white space between
//          groups.
// Threads: plain functions.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace annals {

/// The number of base64 characters for this many bytes.
std::size_t base64_chars(std::size_t bytes) noexcept;

/// Appends `bytes` in base64 to `out`.
void append_base64(std::string_view bytes, std::string& out);

/// The number of bytes that `text` encodes; none if it is not base64. Blanks, tabs and line ends are ignored.
std::optional<std::size_t> base64_size(std::string_view text) noexcept;

/// The bytes that `text` encodes; none if it is not base64.
std::optional<std::string> decode_base64(std::string_view text);

/// `bytes` in base64url.
std::string encode_base64url(std::string_view bytes);

/// The bytes that `text` encodes; none if it is not what encode_base64url() makes of them: padding and white space are not
/// allowed, and the bits that the last digit has to spare are zeros (RFC 4648 section 3.5).
std::optional<std::string> decode_base64url(std::string_view text);

/// Decodes a text piece by piece.
class Base64Decoder {
  public:
    /// Appends what `text` completes to `out`. Requires: all pieces together have a base64_size().
    void add(std::string_view text, std::string& out);

  private:
    unsigned bits_ = 0;
    unsigned digits_ = 0;  ///< of the current group
};

}  // namespace annals
