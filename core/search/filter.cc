#include "core/search/filter.h"

#include "codec/json/document.h"
#include "core/base/ascii.h"
#include "core/search/query.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace annals::core::search {

namespace {

constexpr std::array<std::string_view, 19> kOperations{"eq", "ne", "co", "sw", "ew", "gt", "lt",
                                                       "ge", "le", "ap", "sa", "eb", "pr", "po",
                                                       "ss", "sb", "in", "ni", "re"};

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool is_name_char(char c) {
    return is_letter_or_digit(c) || c == '_' || c == '-' || c == ':';
}

class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {}

    Result<Filter> read() {
        ANNALS_TRY(Filter filter, sequence());
        skip_blanks();
        if (at_ != text_.size()) {
            return fault("and, or, or the end is expected");
        }
        return filter;
    }

  private:
    Error fault(std::string_view what) const {
        return {Errc::invalid, fmt::format("_filter: at character {}: {}", at_ + 1, what)};
    }

    void skip_blanks() {
        while (at_ < text_.size() && is_blank(text_[at_])) {
            ++at_;
        }
    }

    bool take(char c) {
        if (at_ < text_.size() && text_[at_] == c) {
            ++at_;
            return true;
        }
        return false;
    }

    // A word of letters, followed by something else.
    bool take_word(std::string_view word) {
        const std::size_t end = at_ + word.size();
        if (text_.substr(at_, word.size()) != word ||
            (end < text_.size() && is_name_char(text_[end]))) {
            return false;
        }
        at_ = end;
        return true;
    }

    // `not` is not the name of a parameter, but it is an operator only before a parenthesis.
    bool take_not() {
        const std::size_t start = at_;
        if (take_word("not")) {
            skip_blanks();
            if (take('(')) {
                return true;
            }
        }
        at_ = start;
        return false;
    }

    Result<Filter> sequence() {
        if (++depth_ > kFilterDepthMax) {
            return Error{Errc::too_costly,
                         fmt::format("_filter: more than {} levels", kFilterDepthMax)};
        }
        Filter filter;
        filter.kind = Filter::Kind::sequence;
        std::size_t turns = 0;
        while (true) {
            ANNALS_TRY(Filter part, unit());
            filter.parts.push_back(std::move(part));
            skip_blanks();
            const bool conjunction = take_word("and");
            if (!conjunction && !take_word("or")) {
                break;
            }
            if (!filter.conjunctions.empty() && filter.conjunctions.back() != conjunction &&
                ++turns > kFilterDepthMax) {
                return Error{
                    Errc::too_costly,
                    fmt::format("_filter: more than {} turns from `and` to `or`", kFilterDepthMax)};
            }
            filter.conjunctions.push_back(conjunction);
        }
        --depth_;
        if (filter.parts.size() == 1) {
            return Filter(std::move(filter.parts.front()));
        }
        return filter;
    }

    Result<Filter> unit() {
        skip_blanks();
        const bool negated = take_not();
        if (!negated && !take('(')) {
            return test();
        }
        ANNALS_TRY(Filter inner, sequence());
        skip_blanks();
        if (!take(')')) {
            return fault("')' is expected");
        }
        if (!negated) {
            return inner;
        }
        Filter filter;
        filter.kind = Filter::Kind::negation;
        filter.parts.push_back(std::move(inner));
        return filter;
    }

    Result<Filter> test() {
        if (++tests_ > kFilterTestsMax) {
            return Error{Errc::too_costly,
                         fmt::format("_filter: more than {} tests", kFilterTestsMax)};
        }
        Filter filter;
        do {
            ANNALS_TRY(Filter::Step next, step());
            filter.path.push_back(std::move(next));
            if (filter.path.size() > kSearchChainMax) {
                return Error{Errc::too_costly,
                             fmt::format("_filter: a path of more than {} names", kSearchChainMax)};
            }
        } while (take('.'));
        if (!filter.path.back().where.empty()) {
            return fault("'.' and a name are expected");
        }
        if (at_ == text_.size() || !is_blank(text_[at_])) {
            return fault("a blank and an operation are expected");
        }
        skip_blanks();
        ANNALS_TRY_VOID(operation(filter));
        skip_blanks();
        ANNALS_TRY(filter.value, value());
        return filter;
    }

    Result<Filter::Step> step() {
        Filter::Step step;
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_name_char(text_[at_])) {
            ++at_;
        }
        step.name = text_.substr(begin, at_ - begin);
        if (step.name.empty()) {
            return fault("the name of a search parameter is expected");
        }
        if (take('[')) {
            ANNALS_TRY(Filter where, sequence());
            skip_blanks();
            if (!take(']')) {
                return fault("']' is expected");
            }
            step.where.push_back(std::move(where));
        }
        return step;
    }

    Result<void> operation(Filter& filter) {
        for (std::size_t i = 0; i < kOperations.size(); ++i) {
            if (take_word(kOperations[i])) {
                filter.operation = static_cast<Filter::Operation>(i);
                return at_ < text_.size() && is_blank(text_[at_])
                           ? Result<void>()
                           : Result<void>(fault("a blank and a value are expected"));
            }
        }
        return fault("one of eq ne co sw ew gt lt ge le ap sa eb pr po ss sb in ni re is expected");
    }

    Result<std::string> value() {
        const std::size_t begin = at_;
        if (take('"')) {
            return quoted(begin);
        }
        while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != ')' &&
               text_[at_] != ']') {
            ++at_;
        }
        if (at_ == begin) {
            return fault("a value is expected");
        }
        return std::string(text_.substr(begin, at_ - begin));
    }

    // A JSON string whose opening quotation mark is at `begin`.
    Result<std::string> quoted(std::size_t begin) {
        while (at_ < text_.size() && text_[at_] != '"') {
            at_ += text_[at_] == '\\' ? 2 : 1;
        }
        if (at_ >= text_.size()) {
            at_ = begin;
            return fault("the quotation mark is not closed");
        }
        ++at_;
        json::Parser parser;
        const auto document = parser.parse(text_.substr(begin, at_ - begin));
        if (!document) {
            at_ = begin;
            return fault("a JSON string is expected");
        }
        std::string text = document->root().string();
        if (text.empty() || text.find('\0') != std::string::npos) {
            at_ = begin;
            return fault("a text is expected");
        }
        return text;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
    std::size_t tests_ = 0;
};

}  // namespace

Result<Filter> parse_filter(std::string_view text) {
    return Parser(text).read();
}

}  // namespace annals::core::search
