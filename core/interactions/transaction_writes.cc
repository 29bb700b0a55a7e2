#include "core/interactions/transaction_writes.h"

#include "core/base/instant.h"
#include "core/base/sort_unique.h"
#include "core/search/canonical_links.h"
#include "core/search/execute.h"
#include "core/search/resolution.h"
#include "core/search/snapshot.h"
#include "core/search/terms.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace annals::core {

namespace {

using search::Plan;
using Kind = Plan::Kind;

bool leads(const Plan& plan) noexcept {
    return plan.kind == Kind::chain || plan.kind == Kind::has;
}

}  // namespace

void TransactionWrites::replace(TypeId type, std::string_view id,
                                std::optional<std::size_t> writer) {
    const std::uint64_t key = service_.store().search_key(type, id);
    OfType& of_type = types_[type.value];
    of_type.replaced.push_back(search::identity(key));
    if (writer) {
        of_type.written.push_back({.entry = *writer, .key = key});
    }
}

void TransactionWrites::know(std::string_view full_url) {
    const auto [first, last] = unknown_.equal_range(full_url);
    for (auto linking = first; linking != last; ++linking) {
        OfType& of_type = types_[linking->second.type];
        of_type.written[linking->second.written].read = false;
        of_type.outdated.push_back(linking->second.written);
    }
    unknown_.erase(first, last);
}

void TransactionWrites::forget_read() {
    for (auto& [type, of_type] : types_) {
        for (Written& written : std::span(of_type.written).first(of_type.indexed)) {
            written.read = false;
        }
        of_type.by_term.clear();
        of_type.indexed = 0;
        of_type.outdated.clear();
    }
    unknown_.clear();
}

bool TransactionWrites::concern(const Plan& plan) const {
    return (leads(plan) && types_.contains(plan.type.value)) ||
           std::ranges::any_of(plan.parts, [&](const Plan& part) { return concern(part); });
}

Result<Plan> TransactionWrites::overlaid(Plan plan) {
    ANNALS_TRY_VOID(overlay(plan));
    return plan;
}

Result<void> TransactionWrites::overlay(Plan& plan) {
    for (Plan& part : plan.parts) {
        ANNALS_TRY_VOID(overlay(part));
    }
    const auto found = leads(plan) ? types_.find(plan.type.value) : types_.end();
    if (found == types_.end()) {
        return {};
    }
    ANNALS_TRY(const auto matches, find(plan.type, plan.parts[0]));
    std::vector<search::Term> terms;
    for (const Written* const written : matches) {
        if (plan.kind == Kind::chain) {
            add_referrers(*written, plan, terms);
            continue;
        }
        for (const storage::SearchEntries::Link& link : written->entries.links) {
            if (link.column == plan.column) {
                terms.push_back(search::identity(link.target));
            }
        }
    }
    Plan stored = search::all_of(std::move(plan.parts[0]),
                                 search::negation_of(search::carrying(found->second.replaced)));
    plan = search::any_of(plan.kind == Kind::chain
                              ? search::chain(plan.column, plan.type, std::move(stored))
                              : search::has(plan.column, plan.type, std::move(stored)),
                          search::carrying(std::move(terms)));
    return {};
}

Result<std::vector<std::size_t>> TransactionWrites::matching(TypeId type, const Plan& plan) {
    ANNALS_TRY(const auto matches, find(type, plan));
    std::vector<std::size_t> entries;
    for (const Written* const written : matches) {
        entries.push_back(written->entry);
    }
    return entries;
}

Result<void> TransactionWrites::index(TypeId type, OfType& of_type, std::size_t number) {
    Written& written = of_type.written[number];
    if (written.read) {
        return {};
    }
    ANNALS_TRY(Draft draft, read_(written.entry));
    if (!std::exchange(written.links, true)) {
        for (std::string& full_url : draft.unknown) {
            unknown_.emplace(std::move(full_url), Linking{type.value, number});
        }
    }
    written.document = std::move(draft.document);
    storage::SearchEntries& entries = written.entries;
    service_.indexing().epoch()->extract(type, written.document.root(), entries);
    entries.terms.push_back(search::identity(written.key));
    std::ranges::sort(entries.terms);
    // The commit's instant is not known yet, but not before this.
    const std::int64_t instant = now().us;
    entries.intervals.push_back({search::column_of("_lastUpdated"), instant, instant});
    written.read = true;
    // Terms from before its links were resolved are kept: candidates found by them are tested by the plan.
    for (const search::Term term : entries.terms) {
        of_type.by_term[term].push_back(number);
    }
    return {};
}

// Without the terms, each of many entries with criteria would have to look at all entries written before it.
Result<std::vector<std::size_t>> TransactionWrites::candidates(TypeId type, OfType& of_type,
                                                               const Plan& plan) {
    for (; !of_type.outdated.empty(); of_type.outdated.pop_back()) {
        ANNALS_TRY_VOID(index(type, of_type, of_type.outdated.back()));
    }
    for (; of_type.indexed < of_type.written.size(); ++of_type.indexed) {
        ANNALS_TRY_VOID(index(type, of_type, of_type.indexed));
    }
    std::vector<std::size_t> found;
    const search::Watch watch = search::guard_terms(plan);
    if (!watch.terms) {
        found.resize(of_type.written.size());
        std::iota(found.begin(), found.end(), std::size_t{0});
        return found;
    }
    for (const search::Term term : *watch.terms) {
        if (const auto carriers = of_type.by_term.find(term); carriers != of_type.by_term.end()) {
            found.insert(found.end(), carriers->second.begin(), carriers->second.end());
        }
    }
    sort_unique(found);
    return found;
}

class TransactionWrites::Stored {
  public:
    /// `held`: all writes that will be tested. Lifetime: they outlive it.
    Stored(const Service& service, std::span<const Written* const> held)
        : service_(service), held_(held) {}

    /// Whether `part`, a chain or has, leads from `written` to a stored resource that is not replaced. `entries` are
    /// those of `written` or of a resource that it contains.
    Result<bool> has_target(const Plan& part, const Written& written,
                            const storage::SearchEntries& entries) {
        // Any number of others may refer to one resource, of which one is enough; contained resources have few links.
        if (part.kind == Kind::has || &entries != &written.entries) {
            std::vector<search::Term> terms;
            add_terms(part, written, entries, terms);
            ANNALS_TRY(const auto matches, find(part, std::move(terms), 1));
            return !matches.empty();
        }
        auto known = known_.find(&part);
        if (known == known_.end()) {
            // For all of them at once: a search for each would evaluate the part's own plan each time.
            std::vector<search::Term> terms;
            for (const Written* const one : held_) {
                add_terms(part, *one, one->entries, terms);
            }
            ANNALS_TRY(const auto matches, find(part, std::move(terms), search::Wanted().limit));
            search::KeySet keys;
            for (const search::Match& match : matches) {
                search::add_linked(part, match, keys);
            }
            static_cast<void>(keys.seal(search::Pace()));
            known = known_.emplace(&part, std::move(keys)).first;
        }
        return std::ranges::any_of(entries.links, [&](const storage::SearchEntries::Link& link) {
            return link.column == part.column && known->second.contains(link.target);
        });
    }

  private:
    static void add_terms(const Plan& part, const Written& written,
                          const storage::SearchEntries& entries, std::vector<search::Term>& terms) {
        if (part.kind == Kind::has) {
            add_referrers(written, part, terms);
            return;
        }
        for (const storage::SearchEntries::Link& link : entries.links) {
            if (link.column == part.column) {
                terms.push_back(search::identity(link.target));
            }
        }
    }

    /// At most `limit` of the resources that have one of the terms and match the part's plan.
    Result<std::vector<search::Match>> find(const Plan& part, std::vector<search::Term> terms,
                                            std::size_t limit) const {
        const Plan asked = search::all_of(search::carrying(std::move(terms)), part.parts[0]);
        search::Snapshot snapshot(service_.store());
        search::Execution execution(snapshot, part.type, asked);
        execution.want({.limit = limit});
        // This pace never ends a turn.
        ANNALS_TRY_VOID(execution.advance(search::Pace()));
        const auto found = execution.matches();
        return std::vector<search::Match>(found.begin(), found.end());
    }

    const Service& service_;
    std::span<const Written* const> held_;
    std::unordered_map<const Plan*, search::KeySet> known_;
};

Result<std::vector<const TransactionWrites::Written*>> TransactionWrites::find(TypeId type,
                                                                               const Plan& plan) {
    std::vector<const Written*> matches;
    const auto of_type = types_.find(type.value);
    if (of_type == types_.end()) {
        return matches;
    }
    ANNALS_TRY(const auto some, candidates(type, of_type->second, plan));
    std::vector<const Written*> held;
    for (const std::size_t index : some) {
        held.push_back(&of_type->second.written[index]);
    }
    Stored stored(service_, held);
    for (const Written* const written : held) {
        std::optional<Error> fault;
        const search::Related related = [&](const Plan& part,
                                            const storage::SearchEntries& entries) {
            Result<bool> leads_there = stored.has_target(part, *written, entries);
            if (!leads_there) {
                fault = std::move(leads_there.error());
            }
            return leads_there && *leads_there;
        };
        const bool matched =
            search::matches(plan, written->entries, written->document.root(), related);
        if (fault) {
            return *std::move(fault);
        }
        if (matched) {
            matches.push_back(written);
        }
    }
    return matches;
}

void TransactionWrites::add_referrers(const Written& written, const Plan& plan,
                                      std::vector<search::Term>& terms) {
    terms.push_back(search::reference(plan.column, written.key));
    for (const std::uint64_t name : search::names_in(written.entries)) {
        terms.push_back(search::reference(plan.column, name));
    }
}

}  // namespace annals::core
