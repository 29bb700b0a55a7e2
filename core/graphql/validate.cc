#include "core/graphql/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace annals::core::graphql {

namespace {

/// The maximum depth with fragments expanded.
constexpr std::size_t kExpandedDepthMax = 2 * kDepthMax;

Error invalid(std::string what) {
    return {Errc::invalid, std::move(what)};
}

/// Errors of its methods: those of validate().
class Validator {
  public:
    Validator(const Document& document, const OperationDefinition& operation,
              const Variables& variables, const search::ParameterSet& parameters, Location& fault)
        : document_(document),
          operation_(operation),
          variables_(variables),
          parameters_(parameters),
          fault_(fault) {}

    Result<void> run(const Scope& root) {
        for (const auto& [name, value] : variables_) {
            sizes_.emplace(name, size_of(value));
        }
        if (!operation_.directives.empty()) {
            fault_ = operation_.directives.front().at;
            return invalid("Operations have no directives");
        }
        return visit(operation_.selections, root, 1, root.kind == ObjectKind::query);
    }

  private:
    Result<void> visit(const std::vector<Selection>& selections, const Scope& scope,
                       std::size_t depth, bool at_root) {
        for (const Selection& selection : selections) {
            fault_ = selection.at;
            if (++fields_ > kFieldsMax || depth > kExpandedDepthMax) {
                return Error{Errc::too_costly,
                             fmt::format("More than {} fields are selected, or more than {} levels",
                                         kFieldsMax, kExpandedDepthMax)};
            }
            ANNALS_TRY_VOID(check_variables(selection));
            ANNALS_TRY_VOID(is_included(selection, variables_, fault_));
            fault_ = selection.at;
            switch (selection.kind) {
                case Selection::Kind::field:
                    ANNALS_TRY_VOID(visit_field(selection, scope, depth, at_root));
                    break;
                case Selection::Kind::inline_fragment:
                    ANNALS_TRY_VOID(visit_fragment(selection.name, selection.selections, scope,
                                                   depth, at_root));
                    break;
                case Selection::Kind::spread:
                    ANNALS_TRY_VOID(visit_spread(selection, scope, depth, at_root));
                    break;
            }
        }
        return {};
    }

    Result<void> visit_spread(const Selection& selection, const Scope& scope, std::size_t depth,
                              bool at_root) {
        const FragmentDefinition* const fragment = document_.fragment(selection.name);
        if (fragment == nullptr) {
            return invalid(fmt::format("There is no fragment '{}'", selection.name));
        }
        if (!fragment->directives.empty()) {
            return invalid("Fragments have no directives where they are defined");
        }
        if (std::find(inside_.begin(), inside_.end(), fragment) != inside_.end()) {
            return invalid(fmt::format("The fragment '{}' contains itself", fragment->name));
        }
        inside_.push_back(fragment);
        ANNALS_TRY_VOID(
            visit_fragment(fragment->type, fragment->selections, scope, depth, at_root));
        inside_.pop_back();
        return {};
    }

    Result<void> visit_fragment(std::string_view type, const std::vector<Selection>& selections,
                                const Scope& scope, std::size_t depth, bool at_root) {
        if (type.empty()) {
            return visit(selections, scope, depth + 1, at_root);
        }
        if (!is_type_name(type)) {
            return invalid(fmt::format("There is no type '{}'", type));
        }
        Scope narrowed{scope.kind, {}};
        std::copy_if(scope.types.begin(), scope.types.end(), std::back_inserter(narrowed.types),
                     [&](schema::Type one) { return is_for(type, {scope.kind, one}); });
        if (narrowed.empty()) {
            return invalid(
                fmt::format("A fragment on {} never applies here: this is {}", type, scope.name()));
        }
        return visit(selections, narrowed, depth + 1, at_root);
    }

    /// The definitions of the field in the types of the scope; of equal ones only the first.
    static std::vector<FieldDefinition> definitions_of(const Scope& scope, std::string_view name) {
        std::vector<FieldDefinition> definitions;
        for (const schema::Type type : scope.types) {
            const FieldDefinition found = find_field({scope.kind, type}, name);
            const auto is_same = [&](const FieldDefinition& one) {
                return one.kind == found.kind && one.type == found.type &&
                       one.element.type() == found.element.type();
            };
            if (found && std::none_of(definitions.begin(), definitions.end(), is_same)) {
                definitions.push_back(found);
            }
        }
        return definitions;
    }

    Result<void> visit_field(const Selection& selection, const Scope& scope, std::size_t depth,
                             bool at_root) {
        if (selection.name == "__schema" || selection.name == "__type") {
            return Error{Errc::not_supported, "Introspection is not supported"};
        }
        std::vector<FieldDefinition> definitions = definitions_of(scope, selection.name);
        if (definitions.empty()) {
            return invalid(fmt::format("{} has no field '{}'", scope.name(), selection.name));
        }
        const bool has_fields = !selection.selections.empty();
        std::erase_if(definitions,
                      [&](const FieldDefinition& one) { return one.is_leaf() == has_fields; });
        if (definitions.empty()) {
            return invalid(has_fields
                               ? fmt::format("'{}' has no fields to select", selection.name)
                               : fmt::format("'{}' needs a selection of fields", selection.name));
        }
        ANNALS_TRY(const Scope below, check_calls(selection, definitions, at_root));
        return has_fields ? visit(selection.selections, below, depth + 1, false) : Result<void>();
    }

    /// Checks that arguments and directives are valid in at least one of the types; returns the types that the field leads to
    /// there.
    Result<Scope> check_calls(const Selection& selection,
                              const std::vector<FieldDefinition>& definitions, bool at_root) {
        Scope below{ObjectKind::fhir, {}};
        std::optional<Error> first_fault;
        Location where;
        bool any = false;
        for (const FieldDefinition& definition : definitions) {
            fault_ = selection.at;
            Result<Call> call =
                read_call(definition, selection, {variables_, parameters_, at_root}, fault_);
            if (!call) {
                if (!first_fault) {
                    first_fault = std::move(call.error());
                    where = fault_;
                }
                continue;
            }
            any = true;
            if (!definition.is_leaf()) {
                Scope one = scope_of(definition);
                if (!call->resolve.types.empty()) {
                    one.types = call->resolve.types;
                }
                below.kind = one.kind;
                below.types.insert(below.types.end(), one.types.begin(), one.types.end());
            }
        }
        if (!any) {
            fault_ = where;
            return *std::move(first_fault);
        }
        const auto by_index = [](schema::Type a, schema::Type b) { return a.index() < b.index(); };
        std::sort(below.types.begin(), below.types.end(), by_index);
        below.types.erase(std::unique(below.types.begin(), below.types.end()), below.types.end());
        return below;
    }

    Result<void> check_variables(const Selection& selection) {
        ANNALS_TRY_VOID(check_variables(selection.arguments));
        for (const Directive& directive : selection.directives) {
            ANNALS_TRY_VOID(check_variables(directive.arguments));
        }
        return {};
    }

    Result<void> check_variables(const std::vector<Argument>& arguments) {
        for (const Argument& argument : arguments) {
            fault_ = argument.at;
            ANNALS_TRY_VOID(check_variables(argument.value));
        }
        return {};
    }

    /// Also adds up the size of the values.
    Result<void> check_variables(const Value& value) {
        argument_bytes_ += kValueBytes + value.text.size();
        if (value.kind == Value::Kind::variable) {
            const auto is_it = [&](const VariableDefinition& one) {
                return one.name == value.text;
            };
            if (std::none_of(operation_.variables.begin(), operation_.variables.end(), is_it)) {
                return invalid(fmt::format("The variable ${} is not defined", value.text));
            }
            const auto size = sizes_.find(value.text);
            argument_bytes_ += size == sizes_.end() ? 0 : size->second;
        }
        if (argument_bytes_ > kArgumentBytesMax) {
            return Error{Errc::too_costly,
                         fmt::format("The arguments have more than {} bytes", kArgumentBytesMax)};
        }
        for (const Value& item : value.items) {
            ANNALS_TRY_VOID(check_variables(item));
        }
        return {};
    }

    /// Size counted for a value in addition to its text.
    static constexpr std::size_t kValueBytes = 8;

    static std::size_t size_of(const Value& value) {
        std::size_t size = kValueBytes + value.text.size();
        for (const Value& item : value.items) {
            size += size_of(item);
        }
        return size;
    }

    const Document& document_;
    const OperationDefinition& operation_;
    const Variables& variables_;
    const search::ParameterSet& parameters_;
    Location& fault_;
    std::vector<const FragmentDefinition*> inside_;
    std::size_t fields_ = 0;
    std::map<std::string_view, std::size_t> sizes_;  // of the variables
    std::size_t argument_bytes_ = 0;
};

}  // namespace

Result<const OperationDefinition*> choose_operation(const Document& document, std::string_view name,
                                                    Location& fault) {
    fault = {};
    const OperationDefinition* chosen = nullptr;
    for (const OperationDefinition& operation : document.operations) {
        if (!name.empty() && operation.name != name) {
            continue;
        }
        if (chosen != nullptr) {
            fault = operation.at;
            return invalid(name.empty() ? "Several operations need an operationName"
                                        : "Two operations have this name");
        }
        chosen = &operation;
    }
    if (chosen == nullptr) {
        return invalid(name.empty() ? std::string("There is no operation")
                                    : fmt::format("There is no operation '{}'", name));
    }
    fault = chosen->at;
    if (chosen->kind != "query") {
        return Error{Errc::not_supported,
                     fmt::format("Only queries are supported, not {}s", chosen->kind)};
    }
    for (const FragmentDefinition& fragment : document.fragments) {
        if (document.fragment(fragment.name) != &fragment) {
            fault = fragment.at;
            return invalid(fmt::format("Two fragments are named '{}'", fragment.name));
        }
    }
    return chosen;
}

Result<void> validate(const Document& document, const OperationDefinition& operation,
                      const Scope& root, const Variables& variables,
                      const search::ParameterSet& parameters, Location& fault) {
    return Validator(document, operation, variables, parameters, fault).run(root);
}

}  // namespace annals::core::graphql
