#include "core/graphql/plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core::graphql {

namespace {

const Value& meant(const Value& value, const Variables& variables) {
    static const Value nothing;
    if (value.kind != Value::Kind::variable) {
        return value;
    }
    const auto found = variables.find(value.text);
    return found == variables.end() ? nothing : found->second;
}

/// Compares with variables replaced.
bool means_the_same(const Value& a, const Value& b, const Variables& variables) {
    const Value& one = meant(a, variables);
    const Value& other = meant(b, variables);
    return &one == &other ||
           (one.kind == other.kind && one.text == other.text && one.names == other.names &&
            std::equal(
                one.items.begin(), one.items.end(), other.items.begin(), other.items.end(),
                [&](const Value& x, const Value& y) { return means_the_same(x, y, variables); }));
}

bool means_the_same(const std::vector<Argument>& a, const std::vector<Argument>& b,
                    const Variables& variables) {
    return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const Argument& one) {
               return std::any_of(b.begin(), b.end(), [&](const Argument& other) {
                   return one.name == other.name &&
                          means_the_same(one.value, other.value, variables);
               });
           });
}

/// Whether two fields have the same result.
bool means_the_same(const Selection& a, const Selection& b, const Variables& variables) {
    const auto changes = [](const Selection& one) {
        std::vector<Directive> out;
        std::copy_if(one.directives.begin(), one.directives.end(), std::back_inserter(out),
                     [](const Directive& directive) {
                         return directive.name != "skip" && directive.name != "include";
                     });
        return out;
    };
    const std::vector<Directive> of_a = changes(a);
    const std::vector<Directive> of_b = changes(b);
    return a.name == b.name && means_the_same(a.arguments, b.arguments, variables) &&
           std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                      [&](const Directive& one, const Directive& other) {
                          return one.name == other.name &&
                                 means_the_same(one.arguments, other.arguments, variables);
                      });
}

}  // namespace

struct Planner::Collecting {
    const ObjectType& type;
    bool at_root;
    Location& fault;
    ObjectPlan& plan;
    std::vector<const FragmentDefinition*> fragments;  ///< those already included
};

Result<std::unique_ptr<ObjectPlan>> Planner::root(const ObjectType& type, Location& fault) {
    return make({&operation_.selections}, type, type.kind == ObjectKind::query, fault);
}

Result<ObjectPlan*> Planner::below(FieldPlan& field, const ObjectType& type, Location& fault) {
    for (const auto& [known, plan] : field.below) {
        if (known.kind == type.kind && known.type == type.type) {
            return plan.get();
        }
    }
    ANNALS_TRY(std::unique_ptr<ObjectPlan> made, make(field.selections, type, false, fault));
    return field.below.emplace_back(type, std::move(made)).second.get();
}

Result<std::unique_ptr<ObjectPlan>> Planner::make(
    const std::vector<const std::vector<Selection>*>& selections, const ObjectType& type,
    bool at_root, Location& fault) {
    auto plan = std::make_unique<ObjectPlan>();
    Collecting collecting{type, at_root, fault, *plan, {}};
    for (const std::vector<Selection>* const list : selections) {
        ANNALS_TRY_VOID(collect(*list, collecting));
    }
    return plan;
}

Result<void> Planner::collect(const std::vector<Selection>& selections, Collecting& collecting) {
    for (const Selection& selection : selections) {
        ANNALS_TRY(const bool included, is_included(selection, variables_, collecting.fault));
        if (!included) {
            continue;
        }
        if (selection.kind == Selection::Kind::field) {
            ANNALS_TRY_VOID(add(selection, collecting));
            continue;
        }
        const std::vector<Selection>* of_fragment = &selection.selections;
        std::string_view type = selection.name;
        if (selection.kind == Selection::Kind::spread) {
            const FragmentDefinition* const fragment = document_.fragment(selection.name);
            auto& known = collecting.fragments;
            if (fragment == nullptr ||
                std::find(known.begin(), known.end(), fragment) != known.end()) {
                continue;
            }
            known.push_back(fragment);
            of_fragment = &fragment->selections;
            type = fragment->type;
        }
        if (type.empty() || is_for(type, collecting.type)) {
            ANNALS_TRY_VOID(collect(*of_fragment, collecting));
        }
    }
    return {};
}

/// The list that the field must be added to; null: an equivalent field exists, and its sub-selections have been extended.
Result<std::vector<FieldPlan>*> Planner::find_list(const Selection& selection,
                                                   const FieldDefinition& definition,
                                                   Collecting& collecting) {
    std::vector<FieldPlan>& fields = collecting.plan.fields;
    const auto same_key = std::find_if(fields.begin(), fields.end(), [&](const FieldPlan& one) {
        return one.key == selection.alias;
    });
    if (same_key == fields.end()) {
        return &fields;
    }
    const auto is_same = [&](const FieldPlan& one) {
        return means_the_same(*one.selection, selection, variables_);
    };
    std::vector<FieldPlan>& others = same_key->others;
    const auto other = std::find_if(others.begin(), others.end(), is_same);
    FieldPlan* const known = is_same(*same_key)      ? &*same_key
                             : other != others.end() ? &*other
                                                     : nullptr;
    if (known != nullptr) {
        known->selections.push_back(&selection.selections);
        return nullptr;
    }
    // Fields with the same key must be equivalent, except for `resource` with different types.
    if (definition.kind != FieldKind::resolved ||
        same_key->definition.kind != FieldKind::resolved) {
        collecting.fault = selection.at;
        return Error{Errc::invalid,
                     fmt::format("Two different fields are both named '{}'; one needs an alias",
                                 selection.alias)};
    }
    return &others;
}

Result<void> Planner::add(const Selection& selection, Collecting& collecting) {
    const FieldDefinition definition = find_field(collecting.type, selection.name);
    // The selection may refer to several types, and this one lacks the field or has it in another form.
    if (!definition || definition.is_leaf() != selection.selections.empty()) {
        return {};
    }
    Result<Call> call = read_call(definition, selection,
                                  {variables_, parameters_, collecting.at_root}, collecting.fault);
    if (!call) {
        return {};
    }
    collecting.plan.collates = collecting.plan.collates || call->flatten || call->slice.has_value();
    ANNALS_TRY(std::vector<FieldPlan>* const into, find_list(selection, definition, collecting));
    if (into == nullptr) {
        return {};
    }
    if (++planned_ > kPlannedMax) {
        return Error{Errc::too_costly, "Too many fields are selected of too many types"};
    }
    FieldPlan field;
    field.key = selection.alias;
    field.definition = definition;
    field.call = *std::move(call);
    field.selection = &selection;
    field.selections.push_back(&selection.selections);
    into->push_back(std::move(field));
    return {};
}

}  // namespace annals::core::graphql
