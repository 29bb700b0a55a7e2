// Parses expressions by precedence climbing, straight from the text into Program's nodes.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 grammar, "Precedence", "Lexical Elements".

#include "codec/fhirpath/program.h"
#include "codec/json/unicode.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>

namespace annals::fhirpath {
namespace {

struct FunctionRow {
    std::string_view name;
    Function function;
    std::uint8_t arguments_min;
    std::uint8_t arguments_max;
};

constexpr std::uint8_t kMany = 16;
constexpr std::size_t kPatternsMax = 16;  // kept compiled with the expression

constexpr auto kFunctions = std::to_array<FunctionRow>({
    {"abs", Function::abs, 0, 0},
    {"aggregate", Function::aggregate, 1, 2},
    {"all", Function::all, 1, 1},
    {"allFalse", Function::all_false, 0, 0},
    {"allTrue", Function::all_true, 0, 0},
    {"anyFalse", Function::any_false, 0, 0},
    {"anyTrue", Function::any_true, 0, 0},
    {"as", Function::as, 1, 1},
    {"ceiling", Function::ceiling, 0, 0},
    {"checkModifiers", Function::check_modifiers, 0, kMany},
    {"children", Function::children, 0, 0},
    {"combine", Function::combine, 1, 1},
    {"comparable", Function::comparable, 1, 1},
    {"conformsTo", Function::conforms_to, 1, 1},
    {"contains", Function::contains, 1, 1},
    {"convertsToBoolean", Function::converts_to_boolean, 0, 0},
    {"convertsToDate", Function::converts_to_date, 0, 0},
    {"convertsToDateTime", Function::converts_to_date_time, 0, 0},
    {"convertsToDecimal", Function::converts_to_decimal, 0, 0},
    {"convertsToInteger", Function::converts_to_integer, 0, 0},
    {"convertsToQuantity", Function::converts_to_quantity, 0, 1},
    {"convertsToString", Function::converts_to_string, 0, 0},
    {"convertsToTime", Function::converts_to_time, 0, 0},
    {"count", Function::count, 0, 0},
    {"decode", Function::decode, 1, 1},
    {"descendants", Function::descendants, 0, 0},
    {"distinct", Function::distinct, 0, 0},
    {"empty", Function::empty, 0, 0},
    {"encode", Function::encode, 1, 1},
    {"endsWith", Function::ends_with, 1, 1},
    {"escape", Function::escape, 1, 1},
    {"exclude", Function::exclude, 1, 1},
    {"exists", Function::exists, 0, 1},
    {"exp", Function::exp, 0, 0},
    {"extension", Function::extension, 1, 1},
    {"first", Function::first, 0, 0},
    {"floor", Function::floor, 0, 0},
    {"getValue", Function::get_value, 0, 0},
    {"hasValue", Function::has_value, 0, 0},
    {"highBoundary", Function::high_boundary, 0, 1},
    {"htmlChecks", Function::html_checks, 0, 0},
    {"iif", Function::iif, 2, 3},
    {"indexOf", Function::index_of, 1, 1},
    {"intersect", Function::intersect, 1, 1},
    {"is", Function::is, 1, 1},
    {"isDistinct", Function::is_distinct, 0, 0},
    {"join", Function::join, 0, 1},
    {"last", Function::last, 0, 0},
    {"lastIndexOf", Function::last_index_of, 1, 1},
    {"length", Function::length, 0, 0},
    {"ln", Function::ln, 0, 0},
    {"log", Function::log, 1, 1},
    {"lowBoundary", Function::low_boundary, 0, 1},
    {"lower", Function::lower, 0, 0},
    {"matches", Function::matches, 1, 1},
    {"matchesFull", Function::matches_full, 1, 1},
    {"memberOf", Function::member_of, 1, 1},
    {"not", Function::not_, 0, 0},
    {"now", Function::now, 0, 0},
    {"ofType", Function::of_type, 1, 1},
    {"power", Function::power, 1, 1},
    {"precision", Function::precision, 0, 0},
    {"repeat", Function::repeat, 1, 1},
    {"replace", Function::replace, 2, 2},
    {"replaceMatches", Function::replace_matches, 2, 2},
    {"resolve", Function::resolve, 0, 0},
    {"round", Function::round, 0, 1},
    {"select", Function::select, 1, 1},
    {"single", Function::single, 0, 0},
    {"skip", Function::skip, 1, 1},
    {"sort", Function::sort, 0, kMany},
    {"split", Function::split, 1, 1},
    {"sqrt", Function::sqrt, 0, 0},
    {"startsWith", Function::starts_with, 1, 1},
    {"subsetOf", Function::subset_of, 1, 1},
    {"substring", Function::substring, 1, 2},
    {"subsumedBy", Function::subsumed_by, 1, 1},
    {"subsumes", Function::subsumes, 1, 1},
    {"supersetOf", Function::superset_of, 1, 1},
    {"tail", Function::tail, 0, 0},
    {"take", Function::take, 1, 1},
    {"timeOfDay", Function::time_of_day, 0, 0},
    {"toBoolean", Function::to_boolean, 0, 0},
    {"toChars", Function::to_chars, 0, 0},
    {"toDate", Function::to_date, 0, 0},
    {"toDateTime", Function::to_date_time, 0, 0},
    {"toDecimal", Function::to_decimal, 0, 0},
    {"toInteger", Function::to_integer, 0, 0},
    {"toQuantity", Function::to_quantity, 0, 1},
    {"toString", Function::to_string, 0, 0},
    {"toTime", Function::to_time, 0, 0},
    {"today", Function::today, 0, 0},
    {"trace", Function::trace, 1, 2},
    {"trim", Function::trim, 0, 0},
    {"truncate", Function::truncate, 0, 0},
    {"type", Function::type, 0, 0},
    {"unescape", Function::unescape, 1, 1},
    {"union", Function::union_, 1, 1},
    {"upper", Function::upper, 0, 0},
    {"where", Function::where, 1, 1},
});

static_assert(std::ranges::is_sorted(kFunctions, {}, &FunctionRow::name));

const FunctionRow* find_function(std::string_view name) {
    const auto found = std::ranges::lower_bound(kFunctions, name, {}, &FunctionRow::name);
    return found != kFunctions.end() && found->name == name ? &*found : nullptr;
}

bool is_calendar_keyword(std::string_view word) {
    constexpr auto kWords = std::to_array<std::string_view>(
        {"year", "month", "week", "day", "hour", "minute", "second", "millisecond"});
    if (word.ends_with('s')) {
        word.remove_suffix(1);
    }
    return std::ranges::find(kWords, word) != kWords.end();
}

enum class Token : std::uint8_t {
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

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

class Parser {
  public:
    explicit Parser(Program& program) : program_(program), text_(program.text) {}

    Result<void> parse() {
        ANNALS_TRY_VOID(next());
        ANNALS_TRY(program_.root, expression(1));
        if (token_ != Token::end) {
            return unexpected();
        }
        return {};
    }

  private:
    // Lexing.

    Error error_at(std::size_t at, std::string_view what) const {
        std::string detail = "FHIRPath: ";
        detail.append(what).append(" at character ").append(std::to_string(at + 1));
        return Error{Errc::invalid, std::move(detail), {}};
    }

    Error unexpected() const {
        if (token_ == Token::end) {
            return error_at(text_.size(), "the expression ends too early");
        }
        return error_at(token_at_, "unexpected " + std::string(raw()));
    }

    // The token as it stands, not too long and whole characters only.
    std::string_view raw() const {
        std::size_t length = std::min<std::size_t>(at_ - token_at_, 40);
        while (length > 0 && token_at_ + length < text_.size() &&
               (static_cast<unsigned char>(text_[token_at_ + length]) & 0xc0) == 0x80) {
            --length;
        }
        return text_.substr(token_at_, length);
    }

    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }

    Result<void> skip_space() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
                ++at_;
            } else if (c == '/' && peek(1) == '/') {
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else if (c == '/' && peek(1) == '*') {
                const std::size_t end = text_.find("*/", at_ + 2);
                if (end == std::string_view::npos) {
                    return error_at(at_, "a comment that doesn't end");
                }
                at_ = end + 2;
            } else {
                break;
            }
        }
        return {};
    }

    Result<void> next() {
        ANNALS_TRY_VOID(skip_space());
        token_at_ = at_;
        token_text_ = {};
        if (at_ == text_.size()) {
            token_ = Token::end;
            return {};
        }
        const char c = text_[at_];
        if (is_name_start(c)) {
            token_ = Token::identifier;
            token_text_ = take_name();
            return {};
        }
        if (is_digit(c)) {
            token_ = Token::number;
            return take_number();
        }
        switch (c) {
            case '\'':
                token_ = Token::string;
                return take_quoted('\'');
            case '`':
            case '"':
                token_ = Token::quoted_identifier;
                return take_quoted(c);
            case '@':
                token_ = Token::date_time;
                return take_date_time();
            case '%':
                ++at_;
                token_ = Token::variable;
                if (peek() == '`' || peek() == '\'' || peek() == '"') {
                    return take_quoted(peek());
                }
                token_text_ = take_name();
                return token_text_.empty() ? error_at(token_at_, "a variable without name")
                                           : Result<void>();
            case '$':
                ++at_;
                token_ = Token::dollar;
                token_text_ = take_name();
                return {};
            default:
                break;
        }
        token_ = Token::operator_;
        const std::string_view two = text_.substr(at_, 2);
        const bool pair = two == "<=" || two == ">=" || two == "!=" || two == "!~";
        token_text_ = text_.substr(at_, pair ? 2 : 1);
        if (!pair && std::string_view("()[]{}.,+-*/&|<>=~").find(c) == std::string_view::npos) {
            ++at_;
            return unexpected();
        }
        at_ += token_text_.size();
        return {};
    }

    std::string_view take_name() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && (is_name_start(text_[at_]) || is_digit(text_[at_]))) {
            ++at_;
        }
        return text_.substr(begin, at_ - begin);
    }

    Result<void> take_number() {
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
        token_text_ = text_.substr(begin, at_ - begin);
        return {};
    }

    Result<void> take_quoted(char quote) {
        const std::size_t begin = ++at_;
        bool escaped = false;
        while (at_ < text_.size() && text_[at_] != quote) {
            const bool escape = text_[at_] == '\\';
            escaped = escaped || escape;
            at_ += escape ? 2 : 1;
        }
        if (at_ >= text_.size()) {
            at_ = text_.size();
            return error_at(token_at_, "a string or name that doesn't end");
        }
        const std::string_view inside = text_.substr(begin, at_ - begin);
        ++at_;
        if (!escaped) {
            token_text_ = inside;
            return {};
        }
        std::string& out = program_.strings.emplace_back();
        for (std::size_t i = 0; i < inside.size(); ++i) {
            if (inside[i] != '\\') {
                out += inside[i];
                continue;
            }
            const char c = inside[++i];
            constexpr std::string_view kEscapes = "'\"`/\\rntf";
            constexpr std::string_view kMeanings = "'\"`/\\\r\n\t\f";
            const std::size_t which = kEscapes.find(c);
            if (which != std::string_view::npos) {
                out += kMeanings[which];
                continue;
            }
            if (c != 'u') {
                return error_at(begin + i - 1, "an escape that doesn't exist");
            }
            std::int32_t unit = json::hex_quad(inside.data() + i + 1);
            i += 4;
            if (unit >= 0 && json::is_high_surrogate(unit) && i + 2 < inside.size() &&
                inside[i + 1] == '\\' && inside[i + 2] == 'u') {
                const std::int32_t low = json::hex_quad(inside.data() + i + 3);
                if (low >= 0 && json::is_low_surrogate(low)) {
                    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                    i += 6;
                }
            }
            if (unit < 0 || json::is_high_surrogate(unit) || json::is_low_surrogate(unit)) {
                return error_at(begin + i, "an escape that is no character");
            }
            json::append_utf8(out, static_cast<std::uint32_t>(unit));
        }
        token_text_ = out;
        return {};
    }

    void take_digits(int count) {
        for (int i = 0; i < count && is_digit(peek()); ++i) {
            ++at_;
        }
    }

    void take_time() {
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

    Result<void> take_date_time() {
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
        token_text_ = text_.substr(begin, at_ - begin);
        return {};
    }

    bool is_operator(std::string_view text) const {
        return token_ == Token::operator_ && token_text_ == text;
    }

    Result<void> expect(std::string_view text) {
        if (!is_operator(text)) {
            return unexpected();
        }
        return next();
    }

    // Building. Depths are kept beside the nodes, so that no tree is deeper than evaluation can go.

    Result<std::uint32_t> add(const Node& node, std::initializer_list<std::uint32_t> children) {
        std::uint32_t depth = 1;
        for (const std::uint32_t child : children) {
            depth = child == kNone ? depth : std::max(depth, depths_[child] + 1);
        }
        for (std::uint32_t i = 0; i < node.count; ++i) {
            depth = std::max(depth, depths_[program_.arguments[node.value + i]] + 1);
        }
        if (depth > kExpressionDepthMax) {
            return too_deep();
        }
        program_.nodes.push_back(node);
        depths_.push_back(depth);
        return static_cast<std::uint32_t>(program_.nodes.size() - 1);
    }

    static Error too_deep() {
        return Error{Errc::too_costly, "FHIRPath: the expression is nested too deeply", {}};
    }

    Result<std::uint32_t> add_literal(const Item& item, std::uint32_t position) {
        program_.constants.push_back(item);
        Node node;
        node.op = Op::literal;
        node.value = static_cast<std::uint32_t>(program_.constants.size() - 1);
        node.position = position;
        return add(node, {});
    }

    std::uint32_t add_name(std::string_view text) {
        for (std::uint32_t i = 0; i < program_.names.size(); ++i) {
            if (program_.names[i].text == text) {
                return i;
            }
        }
        program_.names.push_back({text, schema::find_type(text)});
        return static_cast<std::uint32_t>(program_.names.size() - 1);
    }

    // Expressions of at least the precedence `least`: implies 1, or xor 2, and 3, in contains 4, equality 5,
    // inequality 6, union 7, type 8, additive 9, multiplicative 10, unary 11.

    struct Binary {
        Op op;
        int precedence;
    };

    std::optional<Binary> binary() const {
        struct Row {
            std::string_view text;
            Op op;
            int precedence;
        };

        constexpr auto kOperators = std::to_array<Row>({
            {"*", Op::multiply, 10},
            {"/", Op::divide, 10},
            {"+", Op::add, 9},
            {"-", Op::subtract, 9},
            {"&", Op::concatenate, 9},
            {"|", Op::union_, 7},
            {"<", Op::less, 6},
            {"<=", Op::less_equal, 6},
            {">", Op::greater, 6},
            {">=", Op::greater_equal, 6},
            {"=", Op::equal, 5},
            {"~", Op::equivalent, 5},
            {"!=", Op::not_equal, 5},
            {"!~", Op::not_equivalent, 5},
        });
        constexpr auto kWords = std::to_array<Row>({
            {"div", Op::div, 10},
            {"mod", Op::mod, 10},
            {"is", Op::is, 8},
            {"as", Op::as, 8},
            {"in", Op::in, 4},
            {"contains", Op::contains, 4},
            {"and", Op::and_, 3},
            {"or", Op::or_, 2},
            {"xor", Op::xor_, 2},
            {"implies", Op::implies, 1},
        });
        if (token_ == Token::operator_) {
            for (const Row& row : kOperators) {
                if (row.text == token_text_) {
                    return Binary{row.op, row.precedence};
                }
            }
        } else if (token_ == Token::identifier) {
            for (const Row& row : kWords) {
                if (row.text == token_text_) {
                    return Binary{row.op, row.precedence};
                }
            }
        }
        return std::nullopt;
    }

    Result<std::uint32_t> expression(int least) {
        if (++nesting_ > kExpressionDepthMax) {
            return too_deep();
        }
        ANNALS_TRY(std::uint32_t left, unary());
        while (const std::optional<Binary> found = binary()) {
            if (found->precedence < least) {
                break;
            }
            Node node;
            node.op = found->op;
            node.a = left;
            node.position = static_cast<std::uint32_t>(token_at_);
            ANNALS_TRY_VOID(next());
            if (found->op == Op::is || found->op == Op::as) {
                ANNALS_TRY(node.value, type_specifier());
                ANNALS_TRY(left, add(node, {left}));
                continue;
            }
            ANNALS_TRY(node.value, expression(found->precedence + 1));
            ANNALS_TRY(left, add(node, {left, node.value}));
        }
        --nesting_;
        return left;
    }

    Result<std::uint32_t> unary() {
        if (!is_operator("+") && !is_operator("-")) {
            return path();
        }
        if (++nesting_ > kExpressionDepthMax) {
            return too_deep();
        }
        Node node;
        node.op = token_text_ == "-" ? Op::negative : Op::positive;
        node.position = static_cast<std::uint32_t>(token_at_);
        ANNALS_TRY_VOID(next());
        ANNALS_TRY(node.a, unary());
        --nesting_;
        return add(node, {node.a});
    }

    Result<std::uint32_t> path() {
        ANNALS_TRY(std::uint32_t left, term());
        while (true) {
            if (is_operator(".")) {
                ANNALS_TRY_VOID(next());
                ANNALS_TRY(left, invocation(left));
            } else if (is_operator("[")) {
                Node node;
                node.op = Op::indexer;
                node.a = left;
                node.position = static_cast<std::uint32_t>(token_at_);
                ANNALS_TRY_VOID(next());
                ANNALS_TRY(node.value, expression(1));
                ANNALS_TRY_VOID(expect("]"));
                ANNALS_TRY(left, add(node, {left, node.value}));
            } else {
                return left;
            }
        }
    }

    Result<std::uint32_t> term() {
        const auto position = static_cast<std::uint32_t>(token_at_);
        const std::string_view text = token_text_;
        switch (token_) {
            case Token::string: {
                ANNALS_TRY_VOID(next());
                return add_literal(Item::string(text), position);
            }
            case Token::number:
                return number();
            case Token::date_time:
                return date_time();
            case Token::variable: {
                Node node;
                node.op = Op::variable;
                node.value = add_name(text);
                node.position = position;
                ANNALS_TRY_VOID(next());
                return add(node, {});
            }
            case Token::identifier:
                if (text == "true" || text == "false") {
                    ANNALS_TRY_VOID(next());
                    return add_literal(Item::boolean(text == "true"), position);
                }
                return invocation(kNone);
            case Token::quoted_identifier:
            case Token::dollar:
                return invocation(kNone);
            case Token::operator_:
                if (text == "(") {
                    ANNALS_TRY_VOID(next());
                    ANNALS_TRY(const std::uint32_t inner, expression(1));
                    ANNALS_TRY_VOID(expect(")"));
                    return inner;
                }
                if (text == "{") {
                    ANNALS_TRY_VOID(next());
                    ANNALS_TRY_VOID(expect("}"));
                    Node node;
                    node.position = position;
                    return add(node, {});
                }
                return unexpected();
            case Token::end:
                break;
        }
        return unexpected();
    }

    Result<std::uint32_t> number() {
        const auto position = static_cast<std::uint32_t>(token_at_);
        const std::string_view digits = token_text_;
        const std::optional<Decimal> value = Decimal::parse(digits);
        if (!value) {
            return error_at(position, "a number with too many digits");
        }
        const bool integral = digits.find('.') == std::string_view::npos;
        ANNALS_TRY_VOID(next());
        const bool keyword = token_ == Token::identifier && is_calendar_keyword(token_text_);
        if (keyword || token_ == Token::string) {
            Quantity& quantity = program_.quantities.emplace_back();
            quantity = {*value, token_text_, keyword};
            ANNALS_TRY_VOID(next());
            return add_literal(Item::quantity(quantity), position);
        }
        if (!integral) {
            return add_literal(Item::decimal(*value), position);
        }
        const std::optional<std::int64_t> integer = value->integer();
        // One more than the greatest, so that the least can be written as its negation.
        if (!integer || *integer > std::int64_t{INT32_MAX} + 1) {
            return error_at(position, "an integer beyond 32 bits");
        }
        return add_literal(Item::integer(*integer), position);
    }

    Result<std::uint32_t> date_time() {
        const auto position = static_cast<std::uint32_t>(token_at_);
        const std::string_view text = token_text_;
        const std::optional<Temporal> value = text.starts_with('T') ? parse_time(text.substr(1))
                                              : text.find('T') != std::string_view::npos
                                                  ? parse_date_time(text)
                                                  : parse_date(text);
        if (!value) {
            return error_at(position, "no date or time");
        }
        ANNALS_TRY_VOID(next());
        return add_literal(Item::temporal(*value), position);
    }

    // What follows a dot, or stands alone with the context as its input.
    Result<std::uint32_t> invocation(std::uint32_t input) {
        Node node;
        node.a = input;
        node.position = static_cast<std::uint32_t>(token_at_);
        const std::string_view text = token_text_;
        if (token_ == Token::dollar) {
            node.op = text == "this"    ? Op::this_
                      : text == "index" ? Op::index
                      : text == "total" ? Op::total
                                        : Op::empty;
            if (node.op == Op::empty || input != kNone) {
                return unexpected();
            }
            ANNALS_TRY_VOID(next());
            return add(node, {});
        }
        if (token_ != Token::identifier && token_ != Token::quoted_identifier) {
            return unexpected();
        }
        const bool quoted = token_ == Token::quoted_identifier;
        ANNALS_TRY_VOID(next());
        if (!quoted && is_operator("(")) {
            return call(node, text);
        }
        // The words that are operators can't stand as a path's first name, but for these four.
        constexpr auto kReserved = std::to_array<std::string_view>(
            {"and", "div", "implies", "mod", "or", "xor", "true", "false"});
        if (!quoted && input == kNone && std::ranges::find(kReserved, text) != kReserved.end()) {
            return error_at(node.position, "unexpected " + std::string(text));
        }
        node.op = Op::member;
        node.value = add_name(text);
        return add(node, {input});
    }

    Result<std::uint32_t> call(Node node, std::string_view name) {
        const FunctionRow* row = find_function(name);
        if (row == nullptr) {
            return error_at(node.position, "no function " + std::string(name.substr(0, 60)));
        }
        ANNALS_TRY_VOID(next());
        if (row->function == Function::is || row->function == Function::as ||
            row->function == Function::of_type) {
            node.op = row->function == Function::is   ? Op::is
                      : row->function == Function::as ? Op::as
                                                      : Op::of_type;
            node.function = row->function;
            ANNALS_TRY(node.value, type_specifier());
            ANNALS_TRY_VOID(expect(")"));
            return add(node, {node.a});
        }
        node.op = Op::function;
        node.function = row->function;
        std::vector<std::uint32_t> arguments;
        while (!is_operator(")")) {
            if (!arguments.empty()) {
                ANNALS_TRY_VOID(expect(","));
            }
            if (arguments.size() == row->arguments_max) {
                return wrong_count(node, *row);
            }
            ANNALS_TRY(const std::uint32_t argument, expression(1));
            arguments.push_back(argument);
        }
        ANNALS_TRY_VOID(next());
        if (arguments.size() < row->arguments_min) {
            return wrong_count(node, *row);
        }
        node.value = static_cast<std::uint32_t>(program_.arguments.size());
        node.count = static_cast<std::uint16_t>(arguments.size());
        program_.arguments.insert(program_.arguments.end(), arguments.begin(), arguments.end());
        const bool regular = row->function == Function::matches ||
                             row->function == Function::matches_full ||
                             row->function == Function::replace_matches;
        if (regular && program_.nodes[arguments[0]].op == Op::literal &&
            program_.patterns.size() < kPatternsMax) {
            program_.patterns.emplace_back(arguments[0]);
        }
        return add(node, {node.a});
    }

    Error wrong_count(const Node& node, const FunctionRow& row) const {
        return error_at(node.position,
                        "a wrong number of arguments of " + std::string(row.name) + "()");
    }

    Result<std::uint32_t> type_specifier() {
        const auto is_name = [this] {
            return token_ == Token::identifier || token_ == Token::quoted_identifier;
        };
        if (!is_name()) {
            return unexpected();
        }
        std::string_view space;
        std::string_view name = token_text_;
        ANNALS_TRY_VOID(next());
        if (is_operator(".") && (name == "FHIR" || name == "System")) {
            ANNALS_TRY_VOID(next());
            if (!is_name()) {
                return unexpected();
            }
            space = name;
            name = token_text_;
            ANNALS_TRY_VOID(next());
        }
        program_.types.push_back(specify_type(space, name));
        return static_cast<std::uint32_t>(program_.types.size() - 1);
    }

    Program& program_;
    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t nesting_ = 0;
    Token token_ = Token::end;
    std::size_t token_at_ = 0;
    std::string_view token_text_;
    std::vector<std::uint32_t> depths_;
};

}  // namespace

Pattern::Pattern(std::uint32_t node) : argument(node) {
}

Pattern::~Pattern() = default;
Program::Program() = default;
Program::~Program() = default;

TypeSpecifier specify_type(std::string_view space, std::string_view name) {
    struct Row {
        std::string_view name;
        Item::Kind kind;
    };

    constexpr auto kSystem = std::to_array<Row>({
        {"Boolean", Item::Kind::boolean},
        {"Integer", Item::Kind::integer},
        {"Decimal", Item::Kind::decimal},
        {"String", Item::Kind::string},
        {"Date", Item::Kind::date},
        {"DateTime", Item::Kind::date_time},
        {"Time", Item::Kind::time},
        {"Quantity", Item::Kind::quantity},
    });
    TypeSpecifier type;
    type.name = name;
    if (space != "System") {
        type.fhir = schema::find_type(name);
    }
    if (space != "FHIR") {
        for (const Row& row : kSystem) {
            if (row.name == name) {
                type.system_kinds =
                    static_cast<std::uint16_t>(1U << static_cast<unsigned>(row.kind));
            }
        }
        if (name == "Any") {
            type.system_kinds = 0xffff;
        }
    }
    // A name with a space is taken as it comes: Patient.is(System.Patient) is false and no error.
    type.known = type.fhir || type.system_kinds != 0 || !space.empty();
    return type;
}

Result<Expression> Expression::parse(std::string_view text) {
    if (text.size() > kExpressionBytesMax) {
        return Error{Errc::too_costly, "FHIRPath: the expression is too long", {}};
    }
    auto program = std::make_shared<Program>();
    program->text = text;
    ANNALS_TRY_VOID(Parser(*program).parse());
    return Expression(std::move(program));
}

std::string_view Expression::text() const noexcept {
    return program_->text;
}

}  // namespace annals::fhirpath
