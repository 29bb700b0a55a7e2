#include "core/search/reading.h"

#include <fmt/format.h>

namespace annals::core::search {

namespace {

// The parts of a composite must hold for the same element, so each element is checked.
bool is_aligned(const ExtractReader& reader, const Parameter& parameter,
                const std::vector<Plan>& parts, json::Value resource) {
    for (const auto& element : reader.extractor().extract_composite(parameter, resource)) {
        bool all = element.size() == parts.size();
        for (std::size_t i = 0; all && i < parts.size(); ++i) {
            all = matches(parts[i], element[i], resource);
        }
        if (all) {
            return true;
        }
    }
    return false;
}

// Verifies the bodies of the resources that have all components, perhaps in different elements. `make` and `make_own`
// make the plan of a component; `make_own` uses its own columns, which hold what the component finds in an element.
template <typename Make, typename MakeOwn>
Result<Plan> verified_plan(const Asked& asked, const Make& make, const MakeOwn& make_own) {
    std::vector<Plan> candidates;
    std::vector<Plan> checks;
    const auto& components = asked.parameter.components;
    for (std::size_t i = 0; i < components.size(); ++i) {
        const Asked component{asked.reading, asked.type, *components[i].parameter,
                              asked.name,    {},         asked.depth};
        ANNALS_TRY(Plan candidate, make(component, i));
        ANNALS_TRY(Plan check, make_own(component, i));
        candidates.push_back(std::move(candidate));
        checks.push_back(std::move(check));
    }
    return verified(all_of(std::move(candidates)),
                    [reader = ExtractReader(asked.reading.context), &parameter = asked.parameter,
                     checks = std::move(checks)](json::Value resource) {
                        return is_aligned(reader, parameter, checks, resource);
                    });
}

// How many conditions one counts for that is checked on each element of each candidate's body.
constexpr std::size_t kVerifiedConditions = 1000;

// Applies the plan of a value's text to what follows `code\x1Fsystem\x1F` of the key in the texts of `column`.
Plan behind_key(Column column, const TokenText& key, Plan of_value) {
    std::string begin = key.code + kPartEnd;
    if (key.system) {
        begin += *key.system;
        begin += kPartEnd;
    }
    if (of_value.kind == Plan::Kind::interval) {
        of_value.in_unit = [range = of_value.range](std::string_view) { return range; };
    }
    Plan plan;
    plan.kind = Plan::Kind::quantity;
    plan.column = column;
    plan.comparison = of_value.comparison;
    plan.range = of_value.range;
    plan.text = begin;
    plan.in_unit = [begin = std::move(begin), any_system = !key.system,
                    in_unit = std::move(of_value.in_unit)](std::string_view text) {
        if (!text.starts_with(begin)) {
            return std::optional<Range>();
        }
        text.remove_prefix(begin.size());
        return in_unit(any_system ? text.substr(text.find(kPartEnd) + 1) : text);
    };
    return plan;
}

// Restricts the plan of a composite's value, in the composite's own column, to elements that also have the key. None if
// the index can't decide it.
std::optional<Plan> with_key(Column column, const TokenText& key, Plan value) {
    switch (value.kind) {
        case Plan::Kind::nothing:
            return value;
        case Plan::Kind::all_of:
        case Plan::Kind::any_of:
            for (Plan& part : value.parts) {
                auto narrowed = with_key(column, key, std::move(part));
                if (!narrowed) {
                    return std::nullopt;
                }
                part = *std::move(narrowed);
            }
            return value;
        case Plan::Kind::terms: {
            const Term code =
                key.system ? token(column, *key.system, key.code) : token(column, key.code);
            std::vector<Term> terms;
            for (const Term term : value.terms) {
                if (term == present(column)) {
                    return std::nullopt;
                }
                terms.push_back(paired(code, term));
            }
            return carrying(std::move(terms));
        }
        case Plan::Kind::prefix: {
            const std::string system =
                key.system ? kPartEnd + *key.system + kPartEnd : std::string(1, kAnySystem);
            return begins_with(column, key.code + system + value.text);
        }
        case Plan::Kind::interval:
        case Plan::Kind::quantity:
            return behind_key(column, key, std::move(value));
        default:
            return std::nullopt;
    }
}

}  // namespace

Plan composite_presence(const Asked& asked) {
    if (asked.layout().composite) {
        return carrying({present(asked.parameter.column)});
    }
    const auto any = [](const Asked& component, std::size_t) -> Result<Plan> {
        return presence_plan(component);
    };
    const auto own = [](const Asked& component, std::size_t) -> Result<Plan> {
        return carrying({present(component.parameter.column)});
    };
    return *verified_plan(asked, any, own);
}

// search.html#composite: parts separated by `$`, each read by its own type.
Result<Plan> composite_plan(const Asked& asked, std::string_view value) {
    if (!asked.modifier.empty()) {
        return asked.unsupported();
    }
    const auto texts = split_unescaped(value, '$');
    const auto& components = asked.parameter.components;
    if (texts.size() != components.size()) {
        return asked.bad(
            fmt::format("{} values with '$' between them are needed", components.size()));
    }
    for (const std::string_view text : texts) {
        if (text.empty()) {
            return asked.bad("a value is needed before and after every '$'");
        }
        ANNALS_TRY_VOID(asked.reading.spend());
    }
    if (const auto& paths = asked.layout().composite) {
        ANNALS_TRY(const TokenText key, read_token(asked, texts[paths->key]));
        // Reads the value as if it were in the composite's column.
        Parameter other = *components[1 - paths->key].parameter;
        other.column = asked.parameter.column;
        const Asked of_value{asked.reading, asked.type, other, asked.name, {}, asked.depth};
        ANNALS_TRY(Plan value_only, own_value_plan(of_value, texts[1 - paths->key]));
        auto plan = key.code.empty() ? std::optional<Plan>()
                                     : with_key(other.column, key, std::move(value_only));
        if (plan) {
            return *std::move(plan);
        }
    }
    ANNALS_TRY_VOID(asked.reading.spend(kVerifiedConditions));
    return verified_plan(
        asked,
        [&](const Asked& component, std::size_t i) { return value_plan(component, texts[i]); },
        [&](const Asked& component, std::size_t i) { return own_value_plan(component, texts[i]); });
}

}  // namespace annals::core::search
