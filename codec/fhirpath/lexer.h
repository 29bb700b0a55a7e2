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
    /// Tokens are views into `text`, or into what is added to `strings` where there are escapes.
    Lexer(std::string_view text, std::deque<std::string>& strings)
        : text_(text), strings_(strings) {}

    /// The token that next() has found.
    const Token& token() const { return token_; }

    /// Goes on to the next token. Errors: invalid.
    Result<void> next();

    /// Is the token that operator or bracket?
    bool is_operator(std::string_view text) const;

    /// Goes on behind that operator or bracket. Errors: invalid where there is another token.
    Result<void> expect(std::string_view text);

    /// What is wrong, at that byte of the text.
    Error error_at(std::size_t at, std::string_view what) const;

    /// That the token, or the end, can't stand here.
    Error unexpected() const;

  private:
    std::string_view raw() const;
    char peek(std::size_t ahead = 0) const;
    Result<void> skip_space();
    std::string_view take_name();
    Result<void> take_number();
    Result<void> take_quoted(char quote);
    void take_digits(int count);
    void take_time();
    Result<void> take_date_time();

    std::string_view text_;
    std::deque<std::string>& strings_;
    std::size_t at_ = 0;
    Token token_;
};

}  // namespace annals::fhirpath
