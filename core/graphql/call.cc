#include "core/graphql/call.h"

#include "core/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace annals::core::graphql {

namespace {

Error invalid_argument(std::string what) {
    return {Errc::invalid, std::move(what)};
}

/// The value with variables replaced; a variable without a value is null.
Value resolved(const Value& value, const Variables& variables) {
    if (value.kind == Value::Kind::variable) {
        const auto found = variables.find(value.text);
        return found == variables.end() ? Value() : found->second;
    }
    Value out = value;
    for (Value& item : out.items) {
        item = resolved(item, variables);
    }
    return out;
}

Result<std::string> scalar_of(std::string_view name, const Value& value) {
    if (!value.is_scalar()) {
        return invalid_argument(fmt::format("The argument '{}' takes a single value", name));
    }
    return value.text;
}

Result<std::uint64_t> number_of(std::string_view name, const Value& value) {
    const auto number = parse_number(value.text);
    if (value.kind != Value::Kind::integer || !number) {
        return invalid_argument(
            fmt::format("The argument '{}' must be an integer of at least 0", name));
    }
    return *number;
}

Result<bool> boolean_of(std::string_view name, const Value& value) {
    if (value.kind != Value::Kind::boolean) {
        return invalid_argument(fmt::format("The argument '{}' must be true or false", name));
    }
    return value.text == "true";
}

/// Replaces $index outside of parentheses by the variable with the element's index; inside, it keeps its FHIRPath meaning.
std::string with_index_variable(std::string_view text) {
    constexpr std::string_view kIndex = "$index";
    std::string out;
    char quote = '\0';
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote != '\0') {
            if (c == '\\' && i + 1 < text.size()) {
                out += c;
                out += text[++i];
                continue;
            }
            quote = c == quote ? '\0' : quote;
        } else if (c == '\'' || c == '`' || c == '"') {
            quote = c;
        } else if (c == '(' || c == ')') {
            depth += c == '(' ? 1 : -1;
        } else if (depth == 0 && text.substr(i).starts_with(kIndex)) {
            out.append("%").append(kIndexVariable);
            i += kIndex.size() - 1;
            continue;
        }
        out += c;
    }
    return out;
}

Result<fhirpath::Expression> expression_of(std::string_view name, const Value& value) {
    ANNALS_TRY(const std::string text, scalar_of(name, value));
    Result<fhirpath::Expression> expression =
        fhirpath::Expression::parse(with_index_variable(text));
    if (!expression) {
        return invalid_argument(fmt::format("{}: {}", name, expression.error().detail));
    }
    return expression;
}

/// A literal search value: escapes what would separate values in a URL.
std::string without_separators(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) {
            out += text[i++];
        } else if (text[i] == ',') {
            out += '\\';
        }
        out += text[i];
    }
    return out;
}

constexpr std::array<std::string_view, 3> kAboutThePage{"_count", "_sort", "_total"};
constexpr std::array<std::string_view, 4> kBesideParameters{"_filter", "_list", "_text",
                                                            "_content"};

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

Result<std::string> criterion_of(std::string_view name, const Value& value) {
    const bool as_it_is = is_among(kAboutThePage, name) || name == "_filter";
    const auto one = [&](const Value& item) -> Result<std::string> {
        ANNALS_TRY(const std::string text, scalar_of(name, item));
        return as_it_is ? text : without_separators(text);
    };
    if (value.kind != Value::Kind::list) {
        return one(value);
    }
    std::string out;
    bool any = false;
    for (const Value& item : value.items) {
        ANNALS_TRY(const std::string text, one(item));
        out.append(any ? "," : "").append(text);
        any = true;
    }
    if (!any) {
        return invalid_argument(fmt::format("The argument '{}' has no value", name));
    }
    return out;
}

/// Errors of its methods: those of read_call().
class Reader {
  public:
    Reader(const FieldDefinition& field, const Selection& selection, const CallContext& context,
           Location& fault)
        : field_(field), selection_(selection), context_(context), fault_(fault) {}

    Result<Call> run() {
        for (const Argument& argument : selection_.arguments) {
            fault_ = argument.at;
            const Value value = resolved(argument.value, context_.variables);
            ANNALS_TRY_VOID(check_name(argument.name));
            if (!value.is_null()) {
                ANNALS_TRY_VOID(take(argument.name, value));
            }
        }
        fault_ = selection_.at;
        ANNALS_TRY_VOID(check());
        for (const Directive& directive : selection_.directives) {
            fault_ = directive.at;
            ANNALS_TRY_VOID(take(directive));
        }
        return std::move(call_);
    }

  private:
    bool is_search() const noexcept {
        return field_.kind == FieldKind::list || field_.kind == FieldKind::connection;
    }

    TypeId type() const { return *field_.type.resource_type(); }

    /// Whether there is an argument of that name, even if its value is null.
    Result<void> check_name(std::string_view name) const {
        const Error unknown{Errc::invalid,
                            fmt::format("'{}' has no argument '{}'", selection_.name, name)};
        switch (field_.kind) {
            case FieldKind::read:
                return name == "id" ? Result<void>() : unknown;
            case FieldKind::resolved:
                return name == "optional" || name == "type" ? Result<void>() : unknown;
            case FieldKind::list:
            case FieldKind::connection:
                return check_search_name(name, unknown);
            case FieldKind::sibling:
                return unknown;
            default:
                break;
        }
        if (field_.is_leaf() || field_.kind != FieldKind::element) {
            return Error{Errc::invalid, fmt::format("'{}' has no arguments", selection_.name)};
        }
        if (name == "fhirpath" || name == "_offset" || name == "_count") {
            return {};
        }
        return field_.is_any_resource() || field_.element.type().find(name).type().is_primitive()
                   ? Result<void>()
                   : unknown;
    }

    Result<void> check_search_name(std::string_view name, const Error& unknown) const {
        if (name == "_reference" && !context_.at_root) {
            return {};
        }
        if (is_cursor(name)) {
            return context_.at_root
                       ? Result<void>()
                       : Error{Errc::invalid, "A cursor may be given at the root of a query only"};
        }
        if (name == "fhirpath" || !parameter_name(context_.parameters, type(), name).empty()) {
            return {};
        }
        if (search::is_result_parameter(name)) {
            return Error{Errc::not_supported,
                         fmt::format("The argument '{}' is not supported", name)};
        }
        return unknown;
    }

    bool is_cursor(std::string_view name) const noexcept {
        return field_.kind == FieldKind::connection && (name == "cursor" || name == "_cursor");
    }

    Result<void> take(const std::string& name, const Value& value) {
        if (field_.kind == FieldKind::read) {
            ANNALS_TRY(call_.id, scalar_of(name, value));
            return {};
        }
        if (field_.kind == FieldKind::resolved) {
            return take_of_reference(name, value);
        }
        return is_search() ? take_of_search(name, value) : take_of_elements(name, value);
    }

    Result<void> take_of_reference(const std::string& name, const Value& value) {
        if (name == "optional") {
            ANNALS_TRY(call_.resolve.optional, boolean_of(name, value));
            return {};
        }
        const std::vector<Value> one{value};
        for (const Value& item : value.kind == Value::Kind::list ? value.items : one) {
            ANNALS_TRY(const std::string text, scalar_of(name, item));
            const auto type = find_resource_type(text);
            if (!type) {
                return invalid_argument(
                    fmt::format("There is no resource type '{}'", text.substr(0, 100)));
            }
            call_.resolve.types.emplace_back(*type);
        }
        return {};
    }

    Result<void> take_of_search(const std::string& name, const Value& value) {
        SearchCall& search = call_.search;
        if (name == "fhirpath") {
            ANNALS_TRY(search.filter, expression_of(name, value));
        } else if (is_cursor(name)) {
            ANNALS_TRY(search.cursor, scalar_of(name, value));
        } else if (name == "_reference") {
            ANNALS_TRY(const std::string text, scalar_of(name, value));
            search.reference = parameter_name(context_.parameters, type(), text);
            const search::Parameter* const parameter =
                context_.parameters.find(type(), *search.reference);
            if (parameter == nullptr || parameter->type != schema::SearchType::reference) {
                return invalid_argument(
                    fmt::format("'{}' is not a reference search parameter of {}",
                                text.substr(0, 100), field_.type.name()));
            }
        } else {
            const std::string code = parameter_name(context_.parameters, type(), name);
            ANNALS_TRY(std::string text, criterion_of(code, value));
            if (code == "_count") {
                ANNALS_TRY(search.count, number_of(name, value));
            }
            search.criteria.emplace_back(code, std::move(text));
        }
        return {};
    }

    Result<void> take_of_elements(const std::string& name, const Value& value) {
        ElementFilter& elements = call_.elements;
        if (name == "fhirpath") {
            ANNALS_TRY(elements.filter, expression_of(name, value));
        } else if (name == "_offset") {
            ANNALS_TRY(elements.offset, number_of(name, value));
        } else if (name == "_count") {
            ANNALS_TRY(elements.count, number_of(name, value));
        } else {
            ANNALS_TRY(std::string text, scalar_of(name, value));
            elements.equal.emplace_back(name, std::move(text));
        }
        return {};
    }

    /// Checks that required arguments are present.
    Result<void> check() const {
        if (field_.kind == FieldKind::read && call_.id.empty()) {
            return Error{Errc::required,
                         fmt::format("'{}' needs the argument id", selection_.name)};
        }
        if (is_search() && !context_.at_root && !call_.search.reference) {
            return Error{Errc::required,
                         fmt::format("'{}' inside a resource needs the argument _reference",
                                     selection_.name)};
        }
        return {};
    }

    Result<void> take(const Directive& directive) {
        const std::string_view name = directive.name;
        if (name == "skip" || name == "include") {
            return {};  // handled by is_included()
        }
        if (name == "slice") {
            return take_slice(directive);
        }
        if (!directive.arguments.empty()) {
            return invalid_argument(fmt::format("@{} has no arguments", name));
        }
        bool* const flag = name == "flatten"     ? &call_.flatten
                           : name == "first"     ? &call_.first
                           : name == "singleton" ? &call_.singleton
                                                 : nullptr;
        if (flag == nullptr) {
            return invalid_argument(fmt::format("There is no directive @{}", name));
        }
        if (flag == &call_.flatten && field_.is_leaf()) {
            return invalid_argument("@flatten is only for elements that have fields");
        }
        *flag = true;
        return {};
    }

    Result<void> take_slice(const Directive& directive) {
        if (field_.kind != FieldKind::element || field_.is_leaf()) {
            return invalid_argument("@slice is only for elements that have fields");
        }
        if (directive.arguments.size() != 1 || (directive.arguments.front().name != "path" &&
                                                directive.arguments.front().name != "fhirpath")) {
            return invalid_argument("@slice has one argument, path");
        }
        const Value path = resolved(directive.arguments.front().value, context_.variables);
        ANNALS_TRY(call_.slice, expression_of("path", path));
        return {};
    }

    const FieldDefinition& field_;
    const Selection& selection_;
    const CallContext& context_;
    Location& fault_;
    Call call_;
};

}  // namespace

std::string parameter_name(const search::ParameterSet& parameters, TypeId type,
                           std::string_view name) {
    if (is_among(kAboutThePage, name) || is_among(kBesideParameters, name) ||
        parameters.find(type, name) != nullptr) {
        return std::string(name);
    }
    std::string dashed(name);
    std::replace(dashed.begin() + (name.starts_with('_') ? 1 : 0), dashed.end(), '_', '-');
    return parameters.find(type, dashed) != nullptr ? dashed : std::string();
}

bool ResolveCall::wants(schema::Type type) const noexcept {
    return types.empty() || std::find(types.begin(), types.end(), type) != types.end();
}

Result<Call> read_call(const FieldDefinition& field, const Selection& selection,
                       const CallContext& context, Location& fault) {
    return Reader(field, selection, context, fault).run();
}

Result<bool> is_included(const Selection& selection, const Variables& variables, Location& fault) {
    bool included = true;
    for (const Directive& directive : selection.directives) {
        fault = directive.at;
        const bool skips = directive.name == "skip";
        if (!skips && directive.name != "include") {
            if (selection.kind != Selection::Kind::field) {
                return invalid_argument(
                    fmt::format("@{} is not allowed on a fragment", directive.name));
            }
            continue;
        }
        if (directive.arguments.size() != 1 || directive.arguments.front().name != "if") {
            return invalid_argument(fmt::format("@{} has one argument, if", directive.name));
        }
        const Value value = resolved(directive.arguments.front().value, variables);
        ANNALS_TRY(const bool condition, boolean_of("if", value));
        included = included && condition != skips;
    }
    return included;
}

}  // namespace annals::core::graphql
