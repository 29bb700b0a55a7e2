#include "core/search/plan.h"

#include "core/base/sort_unique.h"
#include "core/search/container.h"

#include <algorithm>
#include <utility>

namespace annals::core::search {

namespace {

using Kind = Plan::Kind;

Plan of_kind(Kind kind) {
    Plan plan;
    plan.kind = kind;
    return plan;
}

bool has_text(const Plan& plan, const storage::SearchEntries& entries) {
    for (const auto& text : entries.texts) {
        if (text.column != plan.column) {
            continue;
        }
        const std::string_view own = entries.text(text);
        if (plan.kind == Kind::prefix ? own.starts_with(plan.text)
                                      : own.find(plan.text) != std::string_view::npos) {
            return true;
        }
    }
    return false;
}

bool has_interval(const storage::SearchEntries& entries, Column column, Comparison comparison,
                  Range range) {
    return std::any_of(entries.intervals.begin(), entries.intervals.end(),
                       [&](const auto& interval) {
                           return interval.column == column &&
                                  compares(comparison, {interval.low, interval.high}, range);
                       });
}

bool has_quantity(const Plan& plan, const storage::SearchEntries& entries) {
    const Column units = beside(plan.column, ":units");
    for (const auto& text : entries.texts) {
        if (text.column != units) {
            continue;
        }
        const std::string_view unit = entries.text(text);
        const std::optional<Range> range = plan.in_unit(unit);
        if (range && has_interval(entries, beside(plan.column, "=" + std::string(unit)),
                                  plan.comparison, *range)) {
            return true;
        }
    }
    return false;
}

// The resource or version that a plan is tested on.
struct Held {
    const storage::SearchEntries& entries;
    json::Value resource;
    const Related& related;
    std::optional<Term> partly;  ///< identity term of a version of which only the entries are known
    Container* container = nullptr;  ///< the resource that contains it, if any
};

bool holds(const Plan& plan, const Held& held, bool negated = false);

// Whether an inner resource matches one of the other parts.
bool holds_within(const Plan& plan, const Held& held) {
    Container own(held.resource);
    return plan.within(
        held.resource, held.container != nullptr ? *held.container : own,
        [&](std::size_t part, json::Value inner, Container& around, const Plan::Extract& extract) {
            const auto known = around.verdict(plan, inner);
            if (known) {
                return *known;
            }
            storage::SearchEntries entries;
            extract(entries);
            const bool matches =
                holds(plan.parts[part], {entries, inner, held.related, {}, &around});
            around.keep_verdict(plan, inner, matches);
            return matches;
        });
}

// With `partly`, both a plan that can't be decided and its negation hold.
bool holds(const Plan& plan, const Held& held, bool negated) {
    static const Column instants = column_of("_lastUpdated");
    const auto& entries = held.entries;
    const auto one = [&](const Plan& part) { return holds(part, held, negated); };
    const auto carried = [&](Term term) {
        return term == held.partly ||
               std::binary_search(entries.terms.begin(), entries.terms.end(), term);
    };
    switch (plan.kind) {
        case Kind::everything:
            return true;
        case Kind::nothing:
            return false;
        case Kind::all_of:
            return std::all_of(plan.parts.begin(), plan.parts.end(), one);
        case Kind::any_of:
            return std::any_of(plan.parts.begin(), plan.parts.end(), one);
        case Kind::negation:
            return !holds(plan.parts[0], held, !negated);
        case Kind::terms:
            return std::any_of(plan.terms.begin(), plan.terms.end(), carried);
        case Kind::prefix:
        case Kind::contains:
            return has_text(plan, entries);
        case Kind::interval:
            return held.partly && plan.column == instants
                       ? !negated
                       : has_interval(entries, plan.column, plan.comparison, plan.range);
        case Kind::quantity:
            return has_quantity(plan, entries);
        case Kind::has:
            if (held.container != nullptr) {
                return false;  // Other resources can't refer to a contained one.
            }
            [[fallthrough]];
        case Kind::chain:
            return held.partly ? !negated : held.related && held.related(plan, entries);
        case Kind::verified:
            return one(plan.parts[0]) && (held.partly ? !negated : plan.check(held.resource));
        case Kind::contained:
            return one(plan.parts[0]) && (held.partly ? !negated : holds_within(plan, held));
    }
    return false;
}

// The smallest set of terms of which every match has at least one; none if any resource may match.
std::optional<std::vector<Term>> terms_of(const Plan& plan) {
    switch (plan.kind) {
        case Kind::nothing:
            return std::vector<Term>();
        case Kind::terms:
            return plan.terms;
        case Kind::verified:
        case Kind::contained:
            return terms_of(plan.parts[0]);
        case Kind::all_of: {
            std::optional<std::vector<Term>> best;
            for (const Plan& part : plan.parts) {
                auto terms = terms_of(part);
                if (terms && (!best || terms->size() < best->size())) {
                    best = std::move(terms);
                }
            }
            return best;
        }
        case Kind::any_of: {
            std::vector<Term> all;
            for (const Plan& part : plan.parts) {
                const auto terms = terms_of(part);
                if (!terms) {
                    return std::nullopt;
                }
                all.insert(all.end(), terms->begin(), terms->end());
            }
            sort_unique(all);
            return all;
        }
        case Kind::everything:
        case Kind::negation:
        case Kind::prefix:
        case Kind::contains:
        case Kind::interval:
        case Kind::quantity:
        case Kind::chain:
        case Kind::has:
            return std::nullopt;
    }
    return std::nullopt;
}

std::vector<Plan> both(Plan a, Plan b) {
    std::vector<Plan> plans;
    plans.reserve(2);
    plans.push_back(std::move(a));
    plans.push_back(std::move(b));
    return plans;
}

void add_others(const Plan& plan, std::vector<TypeId>& others) {
    if (plan.kind == Kind::chain || plan.kind == Kind::has) {
        others.push_back(plan.type);
    }
    for (const Plan& part : plan.parts) {
        add_others(part, others);
    }
}

}  // namespace

Plan everything() {
    return {};
}

Plan nothing() {
    return of_kind(Kind::nothing);
}

Plan carrying(std::vector<Term> terms) {
    if (terms.empty()) {
        return nothing();
    }
    Plan plan = of_kind(Kind::terms);
    plan.terms = std::move(terms);
    sort_unique(plan.terms);
    return plan;
}

Plan all_of(std::vector<Plan> parts) {
    if (parts.size() == 1) {
        return Plan(std::move(parts[0]));
    }
    Plan plan = of_kind(Kind::all_of);
    for (Plan& part : parts) {
        if (part.kind == Kind::nothing) {
            return nothing();
        }
        if (part.kind == Kind::all_of) {
            std::move(part.parts.begin(), part.parts.end(), std::back_inserter(plan.parts));
        } else if (part.kind != Kind::everything) {
            plan.parts.push_back(std::move(part));
        }
    }
    if (plan.parts.empty()) {
        return everything();
    }
    if (plan.parts.size() == 1) {
        return Plan(std::move(plan.parts[0]));
    }
    return plan;
}

Plan any_of(std::vector<Plan> parts) {
    if (parts.size() == 1) {
        return Plan(std::move(parts[0]));
    }
    Plan plan = of_kind(Kind::any_of);
    std::vector<Term> terms;
    const auto take = [&](Plan&& part) {
        if (part.kind == Kind::terms) {
            terms.insert(terms.end(), part.terms.begin(), part.terms.end());
        } else if (part.kind != Kind::nothing) {
            plan.parts.push_back(std::move(part));
        }
    };
    for (Plan& part : parts) {
        if (part.kind == Kind::everything) {
            return everything();
        }
        if (part.kind != Kind::any_of) {
            take(std::move(part));
            continue;
        }
        for (Plan& inner : part.parts) {
            take(std::move(inner));
        }
    }
    if (!terms.empty()) {
        plan.parts.push_back(carrying(std::move(terms)));
    }
    if (plan.parts.empty()) {
        return nothing();
    }
    if (plan.parts.size() == 1) {
        return Plan(std::move(plan.parts[0]));
    }
    return plan;
}

Plan all_of(Plan a, Plan b) {
    return all_of(both(std::move(a), std::move(b)));
}

Plan any_of(Plan a, Plan b) {
    return any_of(both(std::move(a), std::move(b)));
}

Plan negation_of(Plan part) {
    switch (part.kind) {
        case Kind::everything:
            return nothing();
        case Kind::nothing:
            return everything();
        case Kind::negation:
            return Plan(std::move(part.parts[0]));
        default:
            break;
    }
    Plan plan = of_kind(Kind::negation);
    plan.parts.push_back(std::move(part));
    return plan;
}

Plan begins_with(Column column, std::string text) {
    // Every value begins with the empty string.
    if (text.empty()) {
        return carrying({present(column)});
    }
    Plan plan = of_kind(Kind::prefix);
    plan.column = column;
    plan.text = std::move(text);
    return plan;
}

Plan containing(Column column, std::string text) {
    Plan plan = begins_with(column, std::move(text));
    if (plan.kind == Kind::prefix) {
        plan.kind = Kind::contains;
    }
    return plan;
}

Plan interval(Column column, Comparison comparison, Range range) {
    Plan plan = of_kind(Kind::interval);
    plan.column = column;
    plan.comparison = comparison;
    plan.range = range;
    return plan;
}

Plan chain(Column column, TypeId type, Plan of) {
    if (of.kind == Kind::nothing) {
        return of;
    }
    Plan plan = of_kind(Kind::chain);
    plan.column = column;
    plan.type = type;
    plan.parts.push_back(std::move(of));
    return plan;
}

Plan has(Column column, TypeId type, Plan of) {
    Plan plan = chain(column, type, std::move(of));
    if (plan.kind == Kind::chain) {
        plan.kind = Kind::has;
    }
    return plan;
}

Plan verified(Plan candidates, std::function<bool(json::Value resource)> check, std::string text) {
    if (candidates.kind == Kind::nothing) {
        return candidates;
    }
    Plan plan = of_kind(Kind::verified);
    plan.parts.push_back(std::move(candidates));
    plan.check = std::move(check);
    plan.text = std::move(text);
    return plan;
}

Plan contained(Plan candidates, std::vector<Plan> of, decltype(Plan::within) within) {
    if (candidates.kind == Kind::nothing) {
        return candidates;
    }
    Plan plan = of_kind(Kind::contained);
    plan.parts.push_back(std::move(candidates));
    std::move(of.begin(), of.end(), std::back_inserter(plan.parts));
    plan.within = std::move(within);
    return plan;
}

bool matches(const Plan& plan, const storage::SearchEntries& entries, json::Value resource,
             const Related& related, Container* container) {
    return holds(plan, {entries, resource, related, {}, container});
}

bool matches_within(const Plan& plan, json::Value resource, const Related& related) {
    static const storage::SearchEntries kNone;
    return holds_within(plan, {kNone, resource, related, {}});
}

bool may_match(const Plan& plan, const storage::SearchEntries& entries, Term identity) {
    return holds(plan, {entries, {}, {}, identity});
}

std::vector<TypeId> related_types(const Plan& plan) {
    std::vector<TypeId> types;
    add_others(plan, types);
    sort_unique(types);
    return types;
}

Watch guard_terms(const Plan& plan) {
    return {.terms = terms_of(plan), .others = related_types(plan)};
}

}  // namespace annals::core::search
