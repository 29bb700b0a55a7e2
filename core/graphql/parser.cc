#include "core/graphql/parser.h"

#include "codec/json/unicode.h"
#include "core/graphql/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace annals::core::graphql {

namespace {

/// Errors of its methods: those of parse().
class Parser {
  public:
    explicit Parser(std::string_view text) : lexer_(text) {}

    Result<Document> run() {
        ANNALS_TRY_VOID(advance());
        do {
            ANNALS_TRY_VOID(read_definition());
        } while (token_.kind != Token::Kind::end);
        return std::move(document_);
    }

    Location at() const noexcept { return lexer_.at(); }

  private:
    using Kind = Token::Kind;

    Result<void> advance() {
        ANNALS_TRY(token_, lexer_.next());
        return {};
    }

    Error unexpected(std::string_view wanted) const {
        const std::string found = token_.kind == Kind::end
                                      ? std::string("the end")
                                      : fmt::format("'{}'", token_.text.substr(0, 50));
        return {Errc::invalid, fmt::format("{} is expected, not {}", wanted, found)};
    }

    static Error too_many_definitions() {
        return {Errc::too_costly,
                fmt::format("There are more than {} definitions", kDefinitionsMax)};
    }

    /// Consumes the punctuator if it comes next.
    Result<bool> take(std::string_view punctuator) {
        if (!token_.is(punctuator)) {
            return false;
        }
        ANNALS_TRY_VOID(advance());
        return true;
    }

    Result<void> expect(std::string_view punctuator) {
        ANNALS_TRY(const bool taken, take(punctuator));
        if (!taken) {
            return unexpected(fmt::format("'{}'", punctuator));
        }
        return {};
    }

    Result<std::string> take_name() {
        if (token_.kind != Kind::name) {
            return unexpected("A name");
        }
        std::string name = std::move(token_.text);
        ANNALS_TRY_VOID(advance());
        return name;
    }

    bool is_word(std::string_view word) const noexcept {
        return token_.kind == Kind::name && token_.text == word;
    }

    /// Called for constructs that can be nested.
    Result<void> go_deeper() {
        if (++depth_ > kDepthMax) {
            return Error{Errc::too_costly,
                         fmt::format("It is nested more than {} levels deep", kDepthMax)};
        }
        return {};
    }

    Result<void> read_definition() {
        const Location at = token_.at;
        if (document_.operations.size() + document_.fragments.size() == kDefinitionsMax) {
            return too_many_definitions();
        }
        if (is_word("fragment")) {
            return read_fragment(at);
        }
        OperationDefinition operation;
        operation.at = at;
        if (!token_.is("{")) {
            if (!is_word("query") && !is_word("mutation") && !is_word("subscription")) {
                return unexpected("An operation or a fragment");
            }
            operation.kind = token_.text;
            ANNALS_TRY_VOID(advance());
            if (token_.kind == Kind::name) {
                ANNALS_TRY(operation.name, take_name());
            }
            if (token_.is("(")) {
                ANNALS_TRY(operation.variables, read_variables());
            }
            ANNALS_TRY(operation.directives, read_directives(true));
        }
        ANNALS_TRY(operation.selections, read_selections());
        document_.operations.push_back(std::move(operation));
        return {};
    }

    Result<void> read_fragment(Location at) {
        FragmentDefinition fragment;
        fragment.at = at;
        ANNALS_TRY_VOID(advance());
        if (is_word("on")) {
            return unexpected("The name of a fragment");
        }
        ANNALS_TRY(fragment.name, take_name());
        if (!is_word("on")) {
            return unexpected("'on'");
        }
        ANNALS_TRY_VOID(advance());
        ANNALS_TRY(fragment.type, take_name());
        ANNALS_TRY(fragment.directives, read_directives(false));
        ANNALS_TRY(fragment.selections, read_selections());
        document_.fragments.push_back(std::move(fragment));
        return {};
    }

    Result<std::vector<VariableDefinition>> read_variables() {
        std::vector<VariableDefinition> variables;
        ANNALS_TRY_VOID(expect("("));
        do {
            VariableDefinition variable;
            variable.at = token_.at;
            ANNALS_TRY_VOID(expect("$"));
            ANNALS_TRY(variable.name, take_name());
            ANNALS_TRY_VOID(expect(":"));
            ANNALS_TRY(variable.type, read_type());
            ANNALS_TRY(variable.has_default, take("="));
            if (variable.has_default) {
                ANNALS_TRY(variable.default_value, read_value(true));
            }
            ANNALS_TRY(const std::vector<Directive> directives, read_directives(true));
            if (!directives.empty()) {
                return Error{Errc::invalid, "Variables have no directives"};
            }
            if (variables.size() == kDefinitionsMax) {
                return too_many_definitions();
            }
            variables.push_back(std::move(variable));
        } while (!token_.is(")"));
        ANNALS_TRY_VOID(advance());
        return variables;
    }

    Result<VariableType> read_type() {
        VariableType type;
        ANNALS_TRY(const bool is_list, take("["));
        if (is_list) {
            ANNALS_TRY_VOID(go_deeper());
            ANNALS_TRY(VariableType item, read_type());
            type.item.push_back(std::move(item));
            --depth_;
            ANNALS_TRY_VOID(expect("]"));
        } else {
            ANNALS_TRY(type.name, take_name());
        }
        ANNALS_TRY(type.required, take("!"));
        return type;
    }

    Result<std::vector<Selection>> read_selections() {
        std::vector<Selection> selections;
        ANNALS_TRY_VOID(go_deeper());
        ANNALS_TRY_VOID(expect("{"));
        do {
            ANNALS_TRY(Selection selection, read_selection());
            selections.push_back(std::move(selection));
        } while (!token_.is("}"));
        ANNALS_TRY_VOID(advance());
        --depth_;
        return selections;
    }

    Result<Selection> read_selection() {
        Selection selection;
        selection.at = token_.at;
        ANNALS_TRY(const bool is_fragment, take("..."));
        if (is_fragment) {
            if (token_.kind == Kind::name && !is_word("on")) {
                selection.kind = Selection::Kind::spread;
                ANNALS_TRY(selection.name, take_name());
                ANNALS_TRY(selection.directives, read_directives(false));
                return selection;
            }
            selection.kind = Selection::Kind::inline_fragment;
            if (is_word("on")) {
                ANNALS_TRY_VOID(advance());
                ANNALS_TRY(selection.name, take_name());
            }
            ANNALS_TRY(selection.directives, read_directives(false));
            ANNALS_TRY(selection.selections, read_selections());
            return selection;
        }
        ANNALS_TRY(selection.name, take_name());
        selection.alias = selection.name;
        ANNALS_TRY(const bool has_alias, take(":"));
        if (has_alias) {
            ANNALS_TRY(selection.name, take_name());
        }
        if (token_.is("(")) {
            ANNALS_TRY(selection.arguments, read_arguments(false));
        }
        ANNALS_TRY(selection.directives, read_directives(false));
        if (token_.is("{")) {
            ANNALS_TRY(selection.selections, read_selections());
        }
        return selection;
    }

    /// `constant`: variables are not permitted.
    Result<std::vector<Argument>> read_arguments(bool constant) {
        std::vector<Argument> arguments;
        ANNALS_TRY_VOID(expect("("));
        do {
            Argument argument;
            argument.at = token_.at;
            ANNALS_TRY(argument.name, take_name());
            ANNALS_TRY_VOID(expect(":"));
            ANNALS_TRY(argument.value, read_value(constant));
            const bool twice =
                std::any_of(arguments.begin(), arguments.end(),
                            [&](const Argument& one) { return one.name == argument.name; });
            if (twice) {
                return Error{Errc::invalid,
                             fmt::format("The argument '{}' is given twice", argument.name)};
            }
            if (arguments.size() == kArgumentsMax) {
                return Error{Errc::too_costly,
                             fmt::format("There are more than {} arguments", kArgumentsMax)};
            }
            arguments.push_back(std::move(argument));
        } while (!token_.is(")"));
        ANNALS_TRY_VOID(advance());
        return arguments;
    }

    Result<std::vector<Directive>> read_directives(bool constant) {
        std::vector<Directive> directives;
        while (token_.is("@")) {
            Directive directive;
            directive.at = token_.at;
            ANNALS_TRY_VOID(advance());
            ANNALS_TRY(directive.name, take_name());
            if (token_.is("(")) {
                ANNALS_TRY(directive.arguments, read_arguments(constant));
            }
            directives.push_back(std::move(directive));
        }
        return directives;
    }

    Result<Value> read_value(bool constant) {
        Value value;
        if (token_.is("$") && !constant) {
            ANNALS_TRY_VOID(advance());
            value.kind = Value::Kind::variable;
            ANNALS_TRY(value.text, take_name());
            return value;
        }
        if (token_.is("[") || token_.is("{")) {
            ANNALS_TRY_VOID(go_deeper());
            ANNALS_TRY(value, token_.is("[") ? read_list(constant) : read_object(constant));
            --depth_;
            return value;
        }
        switch (token_.kind) {
            case Kind::integer:
                value.kind = Value::Kind::integer;
                break;
            case Kind::real:
                value.kind = Value::Kind::real;
                break;
            case Kind::string:
                value.kind = Value::Kind::string;
                break;
            case Kind::name:
                value.kind = is_word("null")                       ? Value::Kind::null
                             : is_word("true") || is_word("false") ? Value::Kind::boolean
                                                                   : Value::Kind::name;
                break;
            case Kind::end:
            case Kind::punctuator:
                return unexpected("A value");
        }
        value.text = std::move(token_.text);
        ANNALS_TRY_VOID(advance());
        return value;
    }

    Result<Value> read_list(bool constant) {
        Value list;
        list.kind = Value::Kind::list;
        ANNALS_TRY_VOID(expect("["));
        while (!token_.is("]")) {
            ANNALS_TRY(Value item, read_value(constant));
            list.items.push_back(std::move(item));
        }
        ANNALS_TRY_VOID(advance());
        return list;
    }

    Result<Value> read_object(bool constant) {
        Value object;
        object.kind = Value::Kind::object;
        ANNALS_TRY_VOID(expect("{"));
        while (!token_.is("}")) {
            ANNALS_TRY(std::string name, take_name());
            ANNALS_TRY_VOID(expect(":"));
            ANNALS_TRY(Value member, read_value(constant));
            object.names.push_back(std::move(name));
            object.items.push_back(std::move(member));
        }
        ANNALS_TRY_VOID(advance());
        return object;
    }

    Lexer lexer_;
    Token token_;
    Document document_;
    std::size_t depth_ = 0;
};

}  // namespace

Result<Document> parse(std::string_view text, Location& fault) {
    fault = {};
    if (text.size() > kDocumentBytesMax) {
        return Error{Errc::too_costly,
                     fmt::format("The document has more than {} bytes", kDocumentBytesMax)};
    }
    if (!json::is_utf8(text)) {
        return Error{Errc::invalid, "The document is not UTF-8"};
    }
    Parser parser(text);
    Result<Document> document = parser.run();
    if (!document) {
        fault = parser.at();
    }
    return document;
}

}  // namespace annals::core::graphql
