// Parses expressions by precedence climbing, directly from the text into Program's nodes.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 grammar, "Precedence".

#include "codec/fhirpath/function_table.h"
#include "codec/fhirpath/lexer.h"
#include "codec/fhirpath/program.h"
#include "codec/fhirpath/ucum.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>

namespace annals::fhirpath {
namespace {

constexpr std::size_t kPatternsMax = 16;  // kept compiled with the expression

/// Looks up a type specifier: `space` is "FHIR", "System" or empty.
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
    // A qualified name is accepted unchecked: Patient.is(System.Patient) is false, not an error.
    type.known = type.fhir || type.system_kinds != 0 || !space.empty();
    return type;
}

class Parser {
  public:
    explicit Parser(Program& program) : program_(program), lexer_(program.text, program.strings) {}

    Result<void> parse() {
        ANNALS_TRY_VOID(lexer_.next());
        ANNALS_TRY(program_.root, expression(1));
        if (token().kind != Token::Kind::end) {
            return lexer_.unexpected();
        }
        return {};
    }

  private:
    const Token& token() const { return lexer_.token(); }

    // Depths are kept next to the nodes, so that no tree is too deep to be evaluated.

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
        return Error{Errc::too_costly, "FHIRPath: the expression is nested too deeply"};
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
        program_.names.push_back({text, schema::find_type(text)});
        return static_cast<std::uint32_t>(program_.names.size() - 1);
    }

    // Parses an expression of at least the precedence `least`: implies 1, or xor 2, and 3, in contains 4, equality 5,
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
        if (token().kind == Token::Kind::operator_) {
            for (const Row& row : kOperators) {
                if (row.text == token().text) {
                    return Binary{row.op, row.precedence};
                }
            }
        } else if (token().kind == Token::Kind::identifier) {
            for (const Row& row : kWords) {
                if (row.text == token().text) {
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
            node.position = static_cast<std::uint32_t>(token().at);
            ANNALS_TRY_VOID(lexer_.next());
            if (found->op == Op::is || found->op == Op::as) {
                ANNALS_TRY(node.value, type_specifier());
                ANNALS_TRY(left, add(node, {left}));
                // By the grammar, a path may continue after the type: value is Quantity.not().
                ANNALS_TRY(left, steps(left));
                continue;
            }
            ANNALS_TRY(node.value, expression(found->precedence + 1));
            ANNALS_TRY(left, add(node, {left, node.value}));
        }
        --nesting_;
        return left;
    }

    Result<std::uint32_t> unary() {
        if (!lexer_.is_operator("+") && !lexer_.is_operator("-")) {
            return path();
        }
        if (++nesting_ > kExpressionDepthMax) {
            return too_deep();
        }
        Node node;
        node.op = token().text == "-" ? Op::negative : Op::positive;
        node.position = static_cast<std::uint32_t>(token().at);
        ANNALS_TRY_VOID(lexer_.next());
        ANNALS_TRY(node.a, unary());
        --nesting_;
        return add(node, {node.a});
    }

    Result<std::uint32_t> path() {
        ANNALS_TRY(const std::uint32_t first, term());
        return steps(first);
    }

    // The invocations and indexers that follow `left`.
    Result<std::uint32_t> steps(std::uint32_t left) {
        while (true) {
            if (lexer_.is_operator(".")) {
                ANNALS_TRY_VOID(lexer_.next());
                ANNALS_TRY(left, invocation(left));
            } else if (lexer_.is_operator("[")) {
                Node node;
                node.op = Op::indexer;
                node.a = left;
                node.position = static_cast<std::uint32_t>(token().at);
                ANNALS_TRY_VOID(lexer_.next());
                ANNALS_TRY(node.value, expression(1));
                ANNALS_TRY_VOID(lexer_.expect("]"));
                ANNALS_TRY(left, add(node, {left, node.value}));
            } else {
                return left;
            }
        }
    }

    Result<std::uint32_t> term() {
        const auto position = static_cast<std::uint32_t>(token().at);
        const std::string_view text = token().text;
        switch (token().kind) {
            case Token::Kind::string: {
                ANNALS_TRY_VOID(lexer_.next());
                return add_literal(Item::string(text), position);
            }
            case Token::Kind::number:
                return number();
            case Token::Kind::date_time:
                return date_time();
            case Token::Kind::variable: {
                Node node;
                node.op = Op::variable;
                node.value = add_name(text);
                node.position = position;
                ANNALS_TRY_VOID(lexer_.next());
                return add(node, {});
            }
            case Token::Kind::identifier:
                if (text == "true" || text == "false") {
                    ANNALS_TRY_VOID(lexer_.next());
                    return add_literal(Item::boolean(text == "true"), position);
                }
                return invocation(kNone);
            case Token::Kind::quoted_identifier:
            case Token::Kind::dollar:
                return invocation(kNone);
            case Token::Kind::operator_:
                if (text == "(") {
                    ANNALS_TRY_VOID(lexer_.next());
                    ANNALS_TRY(const std::uint32_t inner, expression(1));
                    ANNALS_TRY_VOID(lexer_.expect(")"));
                    return inner;
                }
                if (text == "{") {
                    ANNALS_TRY_VOID(lexer_.next());
                    ANNALS_TRY_VOID(lexer_.expect("}"));
                    Node node;
                    node.position = position;
                    return add(node, {});
                }
                return lexer_.unexpected();
            case Token::Kind::end:
                break;
        }
        return lexer_.unexpected();
    }

    Result<std::uint32_t> number() {
        const auto position = static_cast<std::uint32_t>(token().at);
        const std::string_view digits = token().text;
        const std::optional<Decimal> value = Decimal::parse(digits);
        if (!value) {
            return lexer_.error_at(position, "a number with too many digits");
        }
        const bool integral = digits.find('.') == std::string_view::npos;
        ANNALS_TRY_VOID(lexer_.next());
        const bool keyword =
            token().kind == Token::Kind::identifier && is_calendar_keyword(token().text);
        if (keyword || token().kind == Token::Kind::string) {
            Quantity& quantity = program_.quantities.emplace_back();
            quantity = {*value, token().text, keyword};
            ANNALS_TRY_VOID(lexer_.next());
            return add_literal(Item::quantity(quantity), position);
        }
        if (!integral) {
            return add_literal(Item::decimal(*value), position);
        }
        const std::optional<std::int64_t> integer = value->integer();
        // One more than the maximum, so that the minimum can be written as its negation.
        if (!integer || *integer > std::int64_t{INT32_MAX} + 1) {
            return lexer_.error_at(position, "an integer beyond 32 bits");
        }
        return add_literal(Item::integer(*integer), position);
    }

    Result<std::uint32_t> date_time() {
        const auto position = static_cast<std::uint32_t>(token().at);
        const std::string_view text = token().text;
        const std::optional<Temporal> value = text.starts_with('T') ? parse_time(text.substr(1))
                                              : text.find('T') != std::string_view::npos
                                                  ? parse_date_time(text)
                                                  : parse_date(text);
        if (!value) {
            return lexer_.error_at(position, "no date or time");
        }
        ANNALS_TRY_VOID(lexer_.next());
        return add_literal(Item::temporal(*value), position);
    }

    // What follows a dot, or stands alone and applies to the context.
    Result<std::uint32_t> invocation(std::uint32_t input) {
        Node node;
        node.a = input;
        node.position = static_cast<std::uint32_t>(token().at);
        const std::string_view text = token().text;
        if (token().kind == Token::Kind::dollar) {
            node.op = text == "this"    ? Op::this_
                      : text == "index" ? Op::index
                      : text == "total" ? Op::total
                                        : Op::empty;
            if (node.op == Op::empty || input != kNone) {
                return lexer_.unexpected();
            }
            ANNALS_TRY_VOID(lexer_.next());
            return add(node, {});
        }
        if (token().kind != Token::Kind::identifier &&
            token().kind != Token::Kind::quoted_identifier) {
            return lexer_.unexpected();
        }
        const bool quoted = token().kind == Token::Kind::quoted_identifier;
        ANNALS_TRY_VOID(lexer_.next());
        if (!quoted && lexer_.is_operator("(")) {
            return call(node, text);
        }
        // Operators that are words can't be a path's first name, except for as, contains, in and is.
        constexpr auto kReserved = std::to_array<std::string_view>(
            {"and", "div", "implies", "mod", "or", "xor", "true", "false"});
        if (!quoted && input == kNone && std::ranges::find(kReserved, text) != kReserved.end()) {
            return lexer_.error_at(node.position, "unexpected " + std::string(text));
        }
        node.op = Op::member;
        node.value = add_name(text);
        return add(node, {input});
    }

    Result<std::uint32_t> call(Node node, std::string_view name) {
        const FunctionRow* row = find_function(name);
        if (row == nullptr) {
            return lexer_.error_at(node.position, "no function " + std::string(name.substr(0, 60)));
        }
        ANNALS_TRY_VOID(lexer_.next());
        if (row->function == Function::is || row->function == Function::as ||
            row->function == Function::of_type) {
            node.op = row->function == Function::is   ? Op::is
                      : row->function == Function::as ? Op::as
                                                      : Op::of_type;
            node.function = row->function;
            ANNALS_TRY(node.value, type_specifier());
            ANNALS_TRY_VOID(lexer_.expect(")"));
            return add(node, {node.a});
        }
        node.op = Op::function;
        node.function = row->function;
        std::vector<std::uint32_t> arguments;
        while (!lexer_.is_operator(")")) {
            if (!arguments.empty()) {
                ANNALS_TRY_VOID(lexer_.expect(","));
            }
            if (arguments.size() == row->arguments_max) {
                return wrong_count(node, *row);
            }
            ANNALS_TRY(const std::uint32_t argument, expression(1));
            arguments.push_back(argument);
        }
        ANNALS_TRY_VOID(lexer_.next());
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
        return lexer_.error_at(node.position,
                               "a wrong number of arguments of " + std::string(row.name) + "()");
    }

    Result<std::uint32_t> type_specifier() {
        const auto is_name = [this] {
            return token().kind == Token::Kind::identifier ||
                   token().kind == Token::Kind::quoted_identifier;
        };
        if (!is_name()) {
            return lexer_.unexpected();
        }
        std::string_view space;
        std::string_view name = token().text;
        ANNALS_TRY_VOID(lexer_.next());
        if (lexer_.is_operator(".") && (name == "FHIR" || name == "System")) {
            ANNALS_TRY_VOID(lexer_.next());
            if (!is_name()) {
                return lexer_.unexpected();
            }
            space = name;
            name = token().text;
            ANNALS_TRY_VOID(lexer_.next());
        }
        program_.types.push_back(specify_type(space, name));
        return static_cast<std::uint32_t>(program_.types.size() - 1);
    }

    Program& program_;
    Lexer lexer_;
    std::size_t nesting_ = 0;
    std::vector<std::uint32_t> depths_;
};

}  // namespace

Pattern::Pattern(std::uint32_t node) : argument(node) {
}

Pattern::~Pattern() = default;
Program::Program() = default;
Program::~Program() = default;

Result<Expression> Expression::parse(std::string_view text) {
    if (text.size() > kExpressionBytesMax) {
        return Error{Errc::too_costly, "FHIRPath: the expression is too long"};
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
