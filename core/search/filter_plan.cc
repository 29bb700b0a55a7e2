// Turns a filter into a plan.

#include "core/search/filter.h"
#include "core/search/fold.h"
#include "core/search/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace annals::core::search {

namespace {

using MaybePlan = std::optional<Plan>;
using Operation = Filter::Operation;
using schema::SearchType;

std::optional<Comparison> comparison_of(Operation operation) {
    switch (operation) {
        case Operation::eq:
            return Comparison::eq;
        case Operation::ne:
            return Comparison::ne;
        case Operation::gt:
            return Comparison::gt;
        case Operation::lt:
            return Comparison::lt;
        case Operation::ge:
            return Comparison::ge;
        case Operation::le:
            return Comparison::le;
        case Operation::ap:
        case Operation::po:
            return Comparison::ap;
        case Operation::co:
            return Comparison::co;
        case Operation::sa:
            return Comparison::sa;
        case Operation::eb:
            return Comparison::eb;
        default:
            return std::nullopt;
    }
}

Error no_such_operation(const Asked& asked) {
    return {Errc::not_supported,
            fmt::format("_filter: '{}' does not support this operation", asked.name)};
}

// The candidates that have a text in the parameter's column for which `holds` is true.
Result<Plan> with_text(const Asked& asked, Plan candidates,
                       std::function<bool(std::string_view own)> holds) {
    ANNALS_TRY_VOID(asked.reading.spend(kBodyConditions));
    return verified(std::move(candidates),
                    [reader = ExtractReader(asked.reading.context), holds = std::move(holds),
                     &parameter = asked.parameter, type = asked.type](json::Value resource) {
                        storage::SearchEntries entries;
                        reader.extractor().extract(parameter, type, resource, entries);
                        return std::ranges::any_of(entries.texts, [&](const auto& text) {
                            return text.column == parameter.column && holds(entries.text(text));
                        });
                    });
}

// Strings are compared folded, uris exactly.
Result<Plan> text_test(const Asked& asked, Operation operation, std::string text) {
    const Column column = asked.parameter.column;
    const bool by_part =
        operation == Operation::co || operation == Operation::sw || operation == Operation::ew;
    if (by_part && text.empty()) {
        return asked.bad(kFoldsToNothing);
    }
    const auto compared = [&](auto compare) {
        return with_text(asked, carrying({present(column)}),
                         [text, compare](std::string_view own) { return compare(own, text); });
    };
    switch (operation) {
        case Operation::eq: {
            Plan candidates = begins_with(column, text);
            return with_text(asked, std::move(candidates),
                             [text](std::string_view own) { return own == text; });
        }
        case Operation::ne:
            return compared(std::not_equal_to<std::string_view>());
        case Operation::gt:
            return compared(std::greater<std::string_view>());
        case Operation::lt:
            return compared(std::less<std::string_view>());
        case Operation::ge:
            return compared(std::greater_equal<std::string_view>());
        case Operation::le:
            return compared(std::less_equal<std::string_view>());
        case Operation::co:
            return containing(column, std::move(text));
        case Operation::sw:
            return begins_with(column, std::move(text));
        case Operation::ew: {
            Plan candidates = containing(column, text);
            return with_text(asked, std::move(candidates),
                             [text](std::string_view own) { return own.ends_with(text); });
        }
        default:
            return no_such_operation(asked);
    }
}

// It has values, but not this one.
Result<Plan> without(const Asked& asked, Result<Plan> equal) {
    if (!equal) {
        return equal;
    }
    return all_of(presence_plan(asked), negation_of(*std::move(equal)));
}

Result<Plan> with_modifier(Asked asked, std::string_view modifier, std::string_view value) {
    asked.modifier = modifier;
    return value_plan(asked, value);
}

// Expands the short names of code systems that the standard allows in filters.
std::string with_whole_system(std::string_view value) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kSystems{{
        {"loinc", "http://loinc.org"},
        {"snomed", "http://snomed.info/sct"},
        {"rxnorm", "http://www.nlm.nih.gov/research/umls/rxnorm"},
        {"ucum", "http://unitsofmeasure.org"},
    }};
    for (const auto& [name, system] : kSystems) {
        if (value.starts_with(name) && value.substr(name.size()).starts_with('|')) {
            return std::string(system).append(value.substr(name.size()));
        }
    }
    return std::string(value);
}

Result<Plan> token_test(const Asked& asked, Operation operation, std::string_view given) {
    const std::string value = with_whole_system(given);
    switch (operation) {
        case Operation::eq:
            return value_plan(asked, value);
        case Operation::ne:
            return without(asked, value_plan(asked, value));
        case Operation::in:
            return with_modifier(asked, "in", value);
        case Operation::ni: {
            ANNALS_TRY(Plan plan, with_modifier(asked, "in", value));
            return negation_of(std::move(plan));
        }
        case Operation::ss:
            return with_modifier(asked, "below", value);
        case Operation::sb:
            return with_modifier(asked, "above", value);
        default:
            return no_such_operation(asked);
    }
}

Result<Plan> ordered_test(const Asked& asked, Operation operation, std::string_view value) {
    const auto comparison = comparison_of(operation);
    if (!comparison) {
        return no_such_operation(asked);
    }
    if (asked.parameter.type == SearchType::date) {
        // `po`: overlaps the period exactly as written.
        if (operation == Operation::po) {
            ANNALS_TRY(Plan plan, date_plan(asked, Comparison::eq, value));
            plan.comparison = Comparison::ap;
            return plan;
        }
        return date_plan(asked, *comparison, value);
    }
    // For numbers, the standard's `co` asks for what the digits of a stored one cover, which isn't indexed.
    if (operation == Operation::po || operation == Operation::co) {
        return no_such_operation(asked);
    }
    if (asked.parameter.type == SearchType::number) {
        return number_plan(asked, *comparison, value);
    }
    return any_part(asked,
                    [&](const Asked& part) { return quantity_plan(part, *comparison, value); });
}

Result<Plan> test_plan(const Asked& asked, Operation operation, const std::string& value) {
    if (operation == Operation::pr) {
        ANNALS_TRY(Plan missing, missing_plan(asked, value));
        return negation_of(std::move(missing));
    }
    switch (asked.parameter.type) {
        case SearchType::string:
            return text_test(asked, operation, fold(value));
        case SearchType::uri:
            return text_test(asked, operation, value);
        case SearchType::token:
            return token_test(asked, operation, value);
        case SearchType::date:
        case SearchType::number:
        case SearchType::quantity:
            return ordered_test(asked, operation, value);
        case SearchType::reference:
            if (operation == Operation::re) {
                return value_plan(asked, value);
            }
            [[fallthrough]];
        case SearchType::composite:
        case SearchType::special:
            if (operation == Operation::eq) {
                return value_plan(asked, value);
            }
            if (operation == Operation::ne) {
                return without(asked, value_plan(asked, value));
            }
            return no_such_operation(asked);
    }
    return no_such_operation(asked);
}

/// Makes the plan of a filter, for each type that its paths lead to. None if a name is unknown for the type; it is then
/// in `unknown`.
struct Planner {
    Reading& reading;
    std::string unknown{};

    Result<MaybePlan> plan(TypeId type, const Filter& filter, std::size_t depth) {
        switch (filter.kind) {
            case Filter::Kind::test:
                return step(type, filter.path.front().name, filter, 0, depth);
            case Filter::Kind::negation: {
                ANNALS_TRY(MaybePlan inner, plan(type, filter.parts[0], depth));
                return inner ? MaybePlan(negation_of(*std::move(inner))) : MaybePlan();
            }
            case Filter::Kind::sequence:
                break;
        }
        // A run of equal conjunctions is joined at once: moving a plan is not cheap.
        std::vector<Plan> joined;
        const auto join = [&](bool conjunction) {
            return conjunction ? all_of(std::move(joined)) : any_of(std::move(joined));
        };
        for (std::size_t i = 0; i < filter.parts.size(); ++i) {
            ANNALS_TRY(MaybePlan part, plan(type, filter.parts[i], depth));
            if (!part) {
                return MaybePlan();
            }
            if (i > 1 && filter.conjunctions[i - 1] != filter.conjunctions[i - 2]) {
                Plan before = join(filter.conjunctions[i - 2]);
                joined.clear();
                joined.push_back(std::move(before));
            }
            joined.push_back(*std::move(part));
        }
        return MaybePlan(join(filter.conjunctions.back()));
    }

    /// The rest of the path from step `i`, whose name is `name`.
    Result<MaybePlan> step(TypeId type, std::string_view name, const Filter& filter, std::size_t i,
                           std::size_t depth) {
        ANNALS_TRY_VOID(reading.spend());
        if (name.starts_with("_has:")) {
            return has_plan(reading, type, name, depth,
                            [&](TypeId source, std::string_view rest, std::size_t below) {
                                return step(source, rest, filter, i, below);
                            });
        }
        const bool is_last = i + 1 == filter.path.size();
        const std::size_t colon = name.find(':');
        const std::string_view code = name.substr(0, colon);
        const std::string_view modifier = name.substr(std::min(code.size() + 1, name.size()));
        // Only a link may have a modifier: the type that it leads to.
        const bool is_fit = colon == std::string_view::npos || (!is_last && !modifier.empty());
        if (is_last && (code == "_list" || code == "_text" || code == "_content")) {
            return common_test(type, name, filter);
        }
        // The grammar's own examples say `id`.
        const Parameter* const parameter =
            reading.context.parameters->find_usable(type, is_last && code == "id" ? "_id" : code);
        if (parameter == nullptr) {
            const Parameter* const defined = reading.context.parameters->find(type, code);
            unknown =
                defined != nullptr && !defined->ready
                    ? fmt::format("'{}' is new: the stored resources are still being indexed by it",
                                  name)
                    : fmt::format("'{}' is not a search parameter of {}", name,
                                  resource_type_name(type));
            return MaybePlan();
        }
        const Asked asked{reading, type, *parameter, name, modifier, depth};
        if (!is_fit) {
            return asked.unsupported();
        }
        if (!is_last) {
            return link_plan(asked, [&](TypeId target, std::size_t below) {
                return beyond(target, filter, i, below);
            });
        }
        ANNALS_TRY(Plan plan, test_plan(asked, filter.operation, filter.value));
        return MaybePlan(std::move(plan));
    }

    /// The plan for the resources that step `i` leads to.
    Result<MaybePlan> beyond(TypeId type, const Filter& filter, std::size_t i, std::size_t depth) {
        ANNALS_TRY(MaybePlan rest, step(type, filter.path[i + 1].name, filter, i + 1, depth));
        if (!rest || filter.path[i].where.empty()) {
            return rest;
        }
        ANNALS_TRY(MaybePlan where, plan(type, filter.path[i].where.front(), depth));
        if (!where) {
            return MaybePlan();
        }
        return MaybePlan(all_of(*std::move(where), *std::move(rest)));
    }

    /// `_list`, `_text` and `_content`.
    Result<MaybePlan> common_test(TypeId type, std::string_view name, const Filter& filter) {
        const bool fits = filter.operation == Operation::eq ||
                          filter.operation == (name == "_list" ? Operation::in : Operation::co);
        if (!fits) {
            return Error{Errc::not_supported,
                         fmt::format("_filter: '{}' does not support this operation", name)};
        }
        return criterion_plan(reading, type, name, filter.value);
    }
};

}  // namespace

Result<Plan> filter_plan(Reading& reading, TypeId type, std::string_view text) {
    ANNALS_TRY(const Filter filter, parse_filter(text));
    Planner planner{reading};
    ANNALS_TRY(MaybePlan plan, planner.plan(type, filter, 0));
    if (!plan) {
        return Error{Errc::invalid, "_filter: " + planner.unknown};
    }
    return *std::move(plan);
}

}  // namespace annals::core::search
