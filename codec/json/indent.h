// Indenter: adds line breaks and indentation to minified JSON, in portions.
//
// Layer:   codec; depends on nothing.
// Spec:    RFC 8259; FHIR R4 http.html#pretty. Names, strings, digits and order stay byte for byte.
// Threads: a plain value.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace annals::json {

/// Indents one JSON value by two blanks a level. A portion may end anywhere, even inside a string.
class Indenter {
  public:
    /// Appends `portion`, indented, to `out`. Requires: all portions together are well-formed.
    void add(std::string_view portion, std::string& out);

  private:
    void break_line(std::string& out) const;

    std::size_t depth_ = 0;
    bool in_string_ = false;
    bool escaped_ = false;  ///< the last character was a backslash inside of a string
    bool opened_ = false;   ///< the last character was a bracket: an empty pair stays together
};

}  // namespace annals::json
