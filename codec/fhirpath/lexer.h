// Lexer: the tokens of an expression, one at a time.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "Lexical Elements".
// Threads: one.

#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace annals::fhirpath {

struct Token {
    enum class Kind : std::uint8_t {
        end,
        identifier,  // text: the name, escapes resolved
        quoted_identifier,
        string,
        number,
        date_time,  // text: after the @
        variable,
        dollar,    // $this, $index, $total
        operator_  // text: the characters
    };

    Kind kind = Kind::end;
    std::size_t at = 0;  ///< where it begins
    std::string_view text;
};

class Lexer {
  public:
    /// Tokens are views into `text` or, if they have escapes, into strings added to `strings`.
    Lexer(std::string_view text, std::deque<std::string>& strings)
        : text_(text), strings_(strings) {}

    /// The token that next() found.
    const Token& token() const { return token_; }

    /// Advances to the next token. Errors: invalid.
    Result<void> next();

    /// Whether the token is that operator or bracket.
    bool is_operator(std::string_view text) const;

    /// Consumes that operator or bracket. Errors: invalid if the token is another.
    Result<void> expect(std::string_view text);

    /// An error that says what is wrong at that byte of the text.
    Error error_at(std::size_t at, std::string_view what) const;

    /// An error that says that the token, or the end, was not expected here.
    Error unexpected() const;

  private:
    std::string_view raw() const;
    char peek(std::size_t ahead = 0) const;
    Result<void> skip_space();
    std::string_view take_name();
    void take_number();
    Result<void> take_quoted(char quote);
    void take_digits(int count);
    void take_time();
    void take_date_time();

    std::string_view text_;
    std::deque<std::string>& strings_;
    std::size_t at_ = 0;
    Token token_;
};

}  // namespace annals::fhirpath
