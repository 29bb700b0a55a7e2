// Lexer: the tokens of a GraphQL document.
//
// Layer:   core/graphql, behind parser.h.
// Spec:    GraphQL (June 2018), 2.1 Source Text, 2.9 Input Values; \u{...} as in October 2021's draft.
// Threads: plain values.

#pragma once

#include "core/base/result.h"
#include "core/graphql/document.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace annals::core::graphql {

struct Token {
    enum class Kind : std::uint8_t { end, punctuator, name, integer, real, string };

    Kind kind = Kind::end;
    std::string text;  ///< for a string, its characters with escapes resolved
    Location at;

    bool is(std::string_view punctuator) const noexcept {
        return kind == Kind::punctuator && text == punctuator;
    }
};

class Lexer {
  public:
    /// Requires: `text` is UTF-8. Lifetime: `text` outlives this.
    explicit Lexer(std::string_view text) : text_(text) {}

    /// Errors: invalid; too_costly (beyond kTokensMax).
    Result<Token> next();

    /// The place of the last token that next() read or failed to read.
    Location at() const noexcept { return begin_; }

  private:
    char peek(std::size_t ahead = 0) const noexcept {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }

    bool is_over() const noexcept { return at_ >= text_.size(); }

    void skip_ignored();
    void end_line();
    Result<Token> read_number();
    Result<Token> read_string();
    Result<Token> read_block_string();
    Result<void> read_escape(std::string& out);
    Result<std::uint32_t> read_hex(std::size_t digits);
    Result<std::uint32_t> read_code_point();

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t line_begin_ = 0;
    std::uint32_t line_ = 1;
    Location begin_;
    std::size_t tokens_ = 0;
};

}  // namespace annals::core::graphql
