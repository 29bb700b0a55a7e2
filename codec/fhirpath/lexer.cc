#include "codec/fhirpath/lexer.h"

#include "codec/fhirpath/text.h"
#include "core/base/ascii.h"

#include <algorithm>

namespace annals::fhirpath {
namespace {

bool is_name_start(char c) {
    return is_letter(c) || c == '_';
}

}  // namespace

Error Lexer::error_at(std::size_t at, std::string_view what) const {
    std::string detail = "FHIRPath: ";
    detail.append(what).append(" at character ");
    detail.append(std::to_string(character_count(text_.substr(0, at)) + 1));
    return Error{Errc::invalid, std::move(detail)};
}

Error Lexer::unexpected() const {
    if (token_.kind == Token::Kind::end) {
        return error_at(text_.size(), "the expression ends too early");
    }
    return error_at(token_.at, "unexpected " + std::string(raw()));
}

// The token's text for messages, shortened to whole characters.
std::string_view Lexer::raw() const {
    std::size_t length = std::min<std::size_t>(at_ - token_.at, 40);
    while (length > 0 && token_.at + length < text_.size() &&
           (static_cast<unsigned char>(text_[token_.at + length]) & 0xc0) == 0x80) {
        --length;
    }
    return text_.substr(token_.at, length);
}

char Lexer::peek(std::size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
}

Result<void> Lexer::skip_space() {
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            ++at_;
        } else if (c == '/' && peek(1) == '/') {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (c == '/' && peek(1) == '*') {
            const std::size_t end = text_.find("*/", at_ + 2);
            if (end == std::string_view::npos) {
                return error_at(at_, "an unterminated comment");
            }
            at_ = end + 2;
        } else {
            break;
        }
    }
    return {};
}

Result<void> Lexer::next() {
    ANNALS_TRY_VOID(skip_space());
    token_.at = at_;
    token_.text = {};
    if (at_ == text_.size()) {
        token_.kind = Token::Kind::end;
        return {};
    }
    const char c = text_[at_];
    if (is_name_start(c)) {
        token_.kind = Token::Kind::identifier;
        token_.text = take_name();
        return {};
    }
    if (is_digit(c)) {
        token_.kind = Token::Kind::number;
        take_number();
        return {};
    }
    switch (c) {
        case '\'':
            token_.kind = Token::Kind::string;
            return take_quoted('\'');
        case '`':
        case '"':
            token_.kind = Token::Kind::quoted_identifier;
            return take_quoted(c);
        case '@':
            token_.kind = Token::Kind::date_time;
            take_date_time();
            return {};
        case '%':
            ++at_;
            token_.kind = Token::Kind::variable;
            if (peek() == '`' || peek() == '\'' || peek() == '"') {
                return take_quoted(peek());
            }
            token_.text = take_name();
            return token_.text.empty() ? error_at(token_.at, "a variable without name")
                                       : Result<void>();
        case '$':
            ++at_;
            token_.kind = Token::Kind::dollar;
            token_.text = take_name();
            return {};
        default:
            break;
    }
    token_.kind = Token::Kind::operator_;
    const std::string_view two = text_.substr(at_, 2);
    const bool pair = two == "<=" || two == ">=" || two == "!=" || two == "!~";
    token_.text = text_.substr(at_, pair ? 2 : 1);
    if (!pair && std::string_view("()[]{}.,+-*/&|<>=~").find(c) == std::string_view::npos) {
        at_ += character_offset(text_.substr(at_), 1);
        return unexpected();
    }
    at_ += token_.text.size();
    return {};
}

std::string_view Lexer::take_name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_name_start(text_[at_]) || is_digit(text_[at_]))) {
        ++at_;
    }
    return text_.substr(begin, at_ - begin);
}

void Lexer::take_number() {
    const std::size_t begin = at_;
    while (is_digit(peek())) {
        ++at_;
    }
    if (peek() == '.' && is_digit(peek(1))) {
        ++at_;
        while (is_digit(peek())) {
            ++at_;
        }
    }
    token_.text = text_.substr(begin, at_ - begin);
}

Result<void> Lexer::take_quoted(char quote) {
    const std::size_t begin = ++at_;
    bool escaped = false;
    while (at_ < text_.size() && text_[at_] != quote) {
        const bool escape = text_[at_] == '\\';
        escaped = escaped || escape;
        at_ += escape ? 2 : 1;
    }
    if (at_ >= text_.size()) {
        at_ = text_.size();
        return error_at(token_.at, "an unterminated string or name");
    }
    const std::string_view inside = text_.substr(begin, at_ - begin);
    ++at_;
    if (!escaped) {
        token_.text = inside;
        return {};
    }
    std::string& out = strings_.emplace_back();
    if (const auto fault = unescape(inside, {"'\"`/\\rntf", "'\"`/\\\r\n\t\f"}, out)) {
        return error_at(begin + fault->at,
                        fault->unknown ? "an unknown escape" : "an escape that is not a character");
    }
    token_.text = out;
    return {};
}

void Lexer::take_digits(int count) {
    for (int i = 0; i < count && is_digit(peek()); ++i) {
        ++at_;
    }
}

void Lexer::take_time() {
    take_digits(2);
    for (int i = 0; i < 2 && peek() == ':'; ++i) {
        ++at_;
        take_digits(2);
    }
    if (peek() == '.' && is_digit(peek(1))) {
        ++at_;
        take_digits(100);
    }
}

void Lexer::take_date_time() {
    const std::size_t begin = ++at_;
    if (peek() == 'T') {
        ++at_;
        take_time();
    } else {
        take_digits(4);
        for (int i = 0; i < 2 && peek() == '-' && is_digit(peek(1)); ++i) {
            ++at_;
            take_digits(2);
        }
        if (peek() == 'T') {
            ++at_;
            if (is_digit(peek())) {
                take_time();
                if (peek() == 'Z') {
                    ++at_;
                } else if ((peek() == '+' || peek() == '-') && is_digit(peek(1)) &&
                           is_digit(peek(2)) && peek(3) == ':') {
                    at_ += 4;
                    take_digits(2);
                }
            }
        }
    }
    token_.text = text_.substr(begin, at_ - begin);
}

bool Lexer::is_operator(std::string_view text) const {
    return token_.kind == Token::Kind::operator_ && token_.text == text;
}

Result<void> Lexer::expect(std::string_view text) {
    if (!is_operator(text)) {
        return unexpected();
    }
    return next();
}

}  // namespace annals::fhirpath
