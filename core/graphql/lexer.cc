#include "core/graphql/lexer.h"

#include "codec/json/unicode.h"
#include "core/base/ascii.h"
#include "core/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace annals::core::graphql {

namespace {

bool is_name_start(char c) noexcept {
    return is_letter(c) || c == '_';
}

Error fault(std::string what) {
    return {Errc::invalid, std::move(what)};
}

Error unexpected(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return fault(byte > 0x20 && byte < 0x7f ? fmt::format("'{}' is not expected here", c)
                                            : "A character that is not expected here");
}

bool is_blank(std::string_view line) noexcept {
    return line.find_first_not_of(" \t") == std::string_view::npos;
}

/// Removes the indentation common to all lines but the first, and blank lines at both ends.
std::string dedented(std::string_view raw) {
    std::vector<std::string_view> lines;
    while (true) {
        const std::size_t end = raw.find_first_of("\r\n");
        lines.push_back(raw.substr(0, end));
        if (end == std::string_view::npos) {
            break;
        }
        raw.remove_prefix(end + (raw.substr(end).starts_with("\r\n") ? 2 : 1));
    }
    std::size_t common = std::string_view::npos;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        common = std::min(common, lines[i].find_first_not_of(" \t"));
    }
    for (std::size_t i = 1; i < lines.size() && common != std::string_view::npos; ++i) {
        lines[i].remove_prefix(std::min(common, lines[i].size()));
    }
    while (!lines.empty() && is_blank(lines.back())) {
        lines.pop_back();
    }
    const auto first = std::find_if_not(lines.begin(), lines.end(), is_blank);
    std::string out;
    for (auto line = first; line != lines.end(); ++line) {
        out.append(line == first ? "" : "\n").append(*line);
    }
    return out;
}

}  // namespace

void Lexer::end_line() {
    ++line_;
    line_begin_ = at_;
}

void Lexer::skip_ignored() {
    while (!is_over()) {
        const char c = peek();
        if (c == '\n' || c == '\r') {
            at_ += c == '\r' && peek(1) == '\n' ? 2 : 1;
            end_line();
        } else if (c == ' ' || c == '\t' || c == ',') {
            ++at_;
        } else if (c == '#') {
            at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
        } else if (text_.substr(at_).starts_with(kByteOrderMark)) {
            at_ += kByteOrderMark.size();
        } else {
            return;
        }
    }
}

Result<Token> Lexer::next() {
    skip_ignored();
    begin_ = {line_, static_cast<std::uint32_t>(at_ - line_begin_ + 1)};
    if (is_over()) {
        return Token{Token::Kind::end, "", begin_};
    }
    if (++tokens_ > kTokensMax) {
        return Error{Errc::too_costly, fmt::format("There are more than {} tokens", kTokensMax)};
    }
    const char c = peek();
    if (is_name_start(c)) {
        const std::size_t from = at_;
        while (is_name_start(peek()) || is_digit(peek())) {
            ++at_;
        }
        return Token{Token::Kind::name, std::string(text_.substr(from, at_ - from)), begin_};
    }
    if (c == '-' || is_digit(c)) {
        return read_number();
    }
    if (c == '"') {
        return text_.substr(at_).starts_with(R"(""")") ? read_block_string() : read_string();
    }
    if (text_.substr(at_).starts_with("...")) {
        at_ += 3;
        return Token{Token::Kind::punctuator, "...", begin_};
    }
    if (c != '\0' && std::string_view("!$&():=@[]{|}").find(c) != std::string_view::npos) {
        ++at_;
        return Token{Token::Kind::punctuator, std::string(1, c), begin_};
    }
    return unexpected(c);
}

Result<Token> Lexer::read_number() {
    const std::size_t from = at_;
    Token::Kind kind = Token::Kind::integer;
    const auto digits = [&] {
        const std::size_t begin = at_;
        while (is_digit(peek())) {
            ++at_;
        }
        return at_ > begin;
    };
    at_ += peek() == '-' ? 1 : 0;
    const bool zero = peek() == '0';
    const std::size_t first = at_;
    bool sound = digits() && (!zero || at_ == first + 1);
    if (peek() == '.') {
        kind = Token::Kind::real;
        ++at_;
        sound = digits() && sound;
    }
    if (peek() == 'e' || peek() == 'E') {
        kind = Token::Kind::real;
        ++at_;
        at_ += peek() == '+' || peek() == '-' ? 1 : 0;
        sound = digits() && sound;
    }
    if (!sound || peek() == '.' || is_name_start(peek())) {
        return fault("A number is malformed");
    }
    return Token{kind, std::string(text_.substr(from, at_ - from)), begin_};
}

Result<Token> Lexer::read_string() {
    Token token{Token::Kind::string, "", begin_};
    ++at_;
    while (true) {
        const char c = peek();
        if (is_over() || c == '\n' || c == '\r') {
            return fault("A string is not terminated");
        }
        if (c == '"') {
            ++at_;
            return token;
        }
        if (static_cast<unsigned char>(c) < 0x20 && c != '\t') {
            return fault("A string has a control character that is not escaped");
        }
        ++at_;
        if (c == '\\') {
            ANNALS_TRY_VOID(read_escape(token.text));
        } else {
            token.text += c;
        }
    }
}

Result<std::uint32_t> Lexer::read_hex(std::size_t digits) {
    std::uint32_t code = 0;
    for (std::size_t i = 0; i < digits; ++i) {
        const int digit = json::hex_value(peek());
        if (digit < 0) {
            return fault("An escape in a string is malformed");
        }
        code = code * 16 + static_cast<std::uint32_t>(digit);
        ++at_;
    }
    return code;
}

Result<std::uint32_t> Lexer::read_code_point() {
    if (peek() != '{') {
        return read_hex(4);
    }
    ++at_;
    const std::size_t end = text_.substr(at_, 9).find('}');
    if (end == std::string_view::npos || end == 0) {
        return fault("An escape in a string is malformed");
    }
    ANNALS_TRY(const std::uint32_t code, read_hex(end));
    ++at_;
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
        return fault("An escape in a string does not stand for a character");
    }
    return code;
}

Result<void> Lexer::read_escape(std::string& out) {
    static constexpr std::string_view kNames = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char c = peek();
    ++at_;
    if (c != 'u') {
        const std::size_t index = c == '\0' ? std::string_view::npos : kNames.find(c);
        if (index == std::string_view::npos) {
            return fault("There is no such escape in strings");
        }
        out += kMeanings[index];
        return {};
    }
    ANNALS_TRY(std::uint32_t code, read_code_point());
    if (code >= 0xd800 && code < 0xdc00 && peek() == '\\' && peek(1) == 'u') {
        at_ += 2;
        ANNALS_TRY(const std::uint32_t low, read_hex(4));
        if (low < 0xdc00 || low >= 0xe000) {
            return fault("An escape in a string does not stand for a character");
        }
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (code >= 0xd800 && code < 0xe000) {
        return fault("An escape in a string does not stand for a character");
    }
    json::append_utf8(out, code);
    return {};
}

Result<Token> Lexer::read_block_string() {
    constexpr std::string_view kQuotes = R"(""")";
    constexpr std::string_view kEscaped = R"(\""")";
    std::string raw;
    at_ += kQuotes.size();
    while (!is_over()) {
        const std::string_view rest = text_.substr(at_);
        if (rest.starts_with(kQuotes)) {
            at_ += kQuotes.size();
            return Token{Token::Kind::string, dedented(raw), begin_};
        }
        if (rest.starts_with(kEscaped)) {
            raw += kQuotes;
            at_ += kEscaped.size();
            continue;
        }
        const char c = rest.front();
        if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') {
            return fault("A string has a control character that is not escaped");
        }
        raw += c;
        ++at_;
        if (c == '\n' || (c == '\r' && peek() != '\n')) {
            end_line();
        }
    }
    return fault("A string is not terminated");
}

}  // namespace annals::core::graphql
