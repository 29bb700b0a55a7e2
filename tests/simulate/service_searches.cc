// The searches of a ServiceSimulation: random conditions and orders, and what they mean.

#include "tests/simulate/service_simulation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace annals::test {

namespace {

/// The days that a date covers, as text.
std::pair<std::string, std::string> days_of(const std::string& date) {
    if (date.size() > 7) {
        return {date, date};
    }
    return {date + "-01", date == "2020-02" ? date + "-29" : date + "-31"};
}

/// Whether a date is found by a prefix and a date.
bool date_holds(const std::string& prefix, const std::string& own, const std::string& asked) {
    const auto [low, high] = days_of(own);
    const auto [from, to] = days_of(asked);
    if (prefix == "ne") {
        return low < from || high > to;
    }
    if (prefix == "gt") {
        return high > to;
    }
    if (prefix == "lt") {
        return low < from;
    }
    if (prefix == "ge") {
        return high >= from;
    }
    if (prefix == "le") {
        return low <= to;
    }
    if (prefix == "sa") {
        return low > to;
    }
    if (prefix == "eb") {
        return high < from;
    }
    return low >= from && high <= to;
}

/// A key of _sort.
struct SortKey {
    std::string name;
    bool descending = false;
};

/// The value that a resource is sorted by; empty: none.
std::string sorted_by(const ServiceModel& model, const VersionModel::Version& version,
                      const SortKey& key) {
    const Content& content = model.content(version);
    if (key.name == "_id") {
        const std::string& name = model.name_of(version);
        return name.substr(name.find('/') + 1);
    }
    if (key.name == "family" || key.name == "value-string") {
        return content.text;
    }
    if (key.name == "identifier" || key.name == "code") {
        return content.code;
    }
    if (key.name == "_lastUpdated") {
        return fmt::format("{:020} {:020}", version.info.instant.us, version.info.position.value);
    }
    if (content.date.empty()) {
        return {};
    }
    const auto [low, high] = days_of(content.date);
    return key.descending ? high : low;
}

void sort(const ServiceModel& model, std::vector<const VersionModel::Version*>& found,
          const std::vector<SortKey>& keys) {
    std::ranges::sort(found, [&](const auto* a, const auto* b) {
        for (const SortKey& key : keys) {
            const std::string left = sorted_by(model, *a, key);
            const std::string right = sorted_by(model, *b, key);
            if (left != right) {
                // Without a value last, whatever the direction.
                return left.empty() || right.empty() ? right.empty()
                                                     : (left < right) != key.descending;
            }
        }
        return a->info.position > b->info.position;
    });
}

}  // namespace

// ---- conditions ----

Instant ServiceSimulation::pick_instant() {
    const auto& all = model_.log().versions();
    if (all.empty() || one_in(6)) {
        return model_.now;
    }
    return {pick_from(all).info.instant.us + (static_cast<std::int64_t>(pick(3)) - 1) * 1000};
}

Condition ServiceSimulation::date_condition(const std::string& type) {
    const auto prefix =
        pick_from<std::string>({"", "eq", "ne", "gt", "lt", "ge", "le", "sa", "eb"});
    const auto asked =
        pick_from<std::string>({"2020-01", "2020-01-01", "2020-01-31", "2020-02-01"});
    return {fmt::format("{}={}{}", type == "Patient" ? "birthdate" : "date", prefix, asked),
            [prefix, asked](const ServiceModel& model, const auto& version, Position) {
                const std::string& own = model.content(version).date;
                return !own.empty() && date_holds(prefix, own, asked);
            }};
}

Condition ServiceSimulation::instant_condition() {
    const auto prefix = pick_from<std::string>({"eq", "ge", "le", "gt", "lt"});
    const Instant asked = pick_instant();
    return {fmt::format("_lastUpdated={}{}", prefix, format_instant(asked)),
            [prefix, asked](const ServiceModel&, const auto& version, Position) {
                const Instant own = version.info.instant;
                return prefix == "eq"   ? own == asked
                       : prefix == "ge" ? own >= asked
                       : prefix == "le" ? own <= asked
                       : prefix == "gt" ? own > asked
                                        : own < asked;
            }};
}

Condition ServiceSimulation::pick_condition(const std::string& type) {
    const bool patient = type == "Patient";
    const std::string text_name = patient ? "family" : "value-string";
    const auto text = pick_from<std::string>({"a", "ab", "abc", "b", "c", "q"});
    const auto code = pick_from<std::string>({"x", "y", "z", "w"});
    switch (pick(12)) {
        case 0:
            return {text_name + '=' + text,
                    [text](const ServiceModel& model, const auto& version, Position) {
                        return model.content(version).text.starts_with(text);
                    }};
        case 1:
            return {text_name + ":contains=" + text,
                    [text](const ServiceModel& model, const auto& version, Position) {
                        return model.content(version).text.find(text) != std::string::npos;
                    }};
        case 2:
            return {text_name + ":missing=true",
                    [](const ServiceModel& model, const auto& version, Position) {
                        return model.content(version).text.empty();
                    }};
        case 3:
            return {fmt::format("{}={},http://s%7Cz", patient ? "identifier" : "code", code),
                    [code](const ServiceModel& model, const auto& version, Position) {
                        const std::string& own = model.content(version).code;
                        return own == code || own == "z";
                    }};
        case 4:
            return {fmt::format("{}:not={}", patient ? "identifier" : "code", code),
                    [code](const ServiceModel& model, const auto& version, Position) {
                        return model.content(version).code != code;
                    }};
        case 5:
        case 6:
            return date_condition(type);
        case 7: {
            const std::string target = patient ? "Organization/o" : pick_name("Patient");
            return {fmt::format("{}={}", patient ? "organization" : "subject", target),
                    [target](const ServiceModel& model, const auto& version, Position) {
                        return model.content(version).target == target;
                    }};
        }
        case 8: {
            const std::string one = pick_name(type);
            const std::string other = pick_name(type);
            return {fmt::format("_id={},{}", one.substr(type.size() + 1),
                                other.substr(type.size() + 1)),
                    [one, other](const ServiceModel& model, const auto& version, Position) {
                        return model.name_of(version) == one || model.name_of(version) == other;
                    }};
        }
        case 9:
            return {"_tag=http://s%7Ct",
                    [](const ServiceModel& model, const auto& version, Position) {
                        return std::ranges::count(model.content(version).tags, "t") > 0;
                    }};
        case 10:
            return instant_condition();
        default:
            break;
    }
    if (!patient && one_in(2)) {
        return {"performer:Patient.family=" + text,
                [text](const ServiceModel& model, const auto& version, Position) {
                    const std::string& contained = model.content(version).contained;
                    return !contained.empty() && contained.starts_with(text);
                }};
    }
    if (!patient) {
        return {"subject:Patient.family=" + text,
                [text](const ServiceModel& model, const auto& version, Position bound) {
                    const std::string& target = model.content(version).target;
                    return model.is_live(target, bound) &&
                           model.content(*model.newest(target, bound)).text.starts_with(text);
                }};
    }
    return {"_has:Observation:subject:code=" + code,
            [code](const ServiceModel& model, const auto& version, Position bound) {
                const std::vector<Condition> refers = {
                    {{}, [&](const ServiceModel&, const auto& other, Position) {
                         return model.content(other).target == model.name_of(version) &&
                                model.content(other).code == code;
                     }}};
                return !model.find("Observation", refers, bound).empty();
            }};
}

std::vector<Condition> ServiceSimulation::pick_conditions(const std::string& type) {
    std::vector<Condition> conditions;
    for (std::uint64_t i = pick(3); i > 0; --i) {
        conditions.push_back(pick_condition(type));
    }
    return conditions;
}

ServiceSimulation::Read ServiceSimulation::search() {
    const std::string type = pick_type();
    return search_for(type, '/' + type, pick_conditions(type));
}

ServiceSimulation::Read ServiceSimulation::search_compartment() {
    const std::string patient = pick_name("Patient");
    std::vector<Condition> conditions = pick_conditions("Observation");
    Read read = search_for("Observation", fmt::format("/{}/Observation", patient), conditions,
                           [patient](const ServiceModel& model, const auto& version, Position) {
                               return model.content(version).target == patient;
                           });
    return read;
}

ServiceSimulation::Read ServiceSimulation::search_contained() {
    const auto text = pick_from<std::string>({"a", "ab", "abc", "b", "c", "q"});
    const bool both = one_in(2);
    const auto key = pick_from<SortKey>({{}, {"_id"}, {"_lastUpdated"}, {"_lastUpdated", true}});
    const std::uint64_t count = 1 + pick(4);
    const bool counts = one_in(3);
    const Condition matches{
        {}, [text, both](const ServiceModel& model, const auto& version, Position) {
            const Content& content = model.content(version);
            return model.name_of(version).starts_with("Patient/")
                       ? both && content.text.starts_with(text)
                       : !content.contained.empty() && content.contained.starts_with(text);
        }};
    const auto all = [this, matches, key](Position bound) {
        auto found = bound.value == 0 ? std::vector<const VersionModel::Version*>()
                                      : model_.find("", {matches}, bound);
        if (key.name.empty()) {
            ServiceModel::sort_by_default(found);
        } else {
            sort(model_, found, {key});
        }
        return found;
    };
    std::string target = fmt::format("/Patient?family={}&_contained={}&_count={}", text,
                                     both ? "both" : "true", count);
    if (!key.name.empty()) {
        target += fmt::format("&_sort={}{}", key.descending ? "-" : "", key.name);
    }
    if (counts) {
        target += "&_total=accurate";
    }
    Read read{target, [this, all, count, counts](Position bound) {
                  return first_of(all(bound), count, counts);
              }};
    read.then = [this, all, count, is_sorted = !key.name.empty()](Position bound,
                                                                  const ReceivedBundle& bundle) {
        Chain chain;
        chain.needs_edge = is_sorted;
        chain.is_unsorted = !is_sorted;
        chain.bound = bound;
        chain.found = all;
        chain.count = count;
        begin_chain(std::move(chain), bundle);
    };
    return read;
}

/// The page of the first `count` of `found`.
ServiceSimulation::Expected ServiceSimulation::first_of(
    const std::vector<const VersionModel::Version*>& found, std::uint64_t count,
    bool counts) const {
    Expected expected{.total = found.size(),
                      .total_needed = counts,
                      .more = found.size() > count,
                      .inside = false};
    for (std::size_t i = 0; i < found.size() && i < count; ++i) {
        expected.entries.push_back(model_.label(*found[i]));
    }
    return expected;
}

ServiceSimulation::Read ServiceSimulation::search_for(const std::string& type,
                                                      const std::string& path,
                                                      std::vector<Condition> conditions,
                                                      const Condition::Holds& belongs) {
    const bool patient = type == "Patient";
    std::vector<std::string> parameters;
    for (const Condition& condition : conditions) {
        parameters.push_back(condition.query);
    }
    std::vector<SortKey> keys;
    if (!one_in(3)) {
        const std::vector<std::string> names = {"_id", patient ? "birthdate" : "date",
                                                patient ? "family" : "value-string",
                                                patient ? "identifier" : "code", "_lastUpdated"};
        std::string list;
        for (std::uint64_t i = 1 + pick(2); i > 0; --i) {
            keys.push_back({pick_from(names), one_in(2)});
            list += fmt::format("{}{}{}", list.empty() ? "" : ",",
                                keys.back().descending ? "-" : "", keys.back().name);
        }
        parameters.push_back("_sort=" + list);
    }
    std::uint64_t count = 20;
    if (!one_in(4)) {
        count = 1 + pick(4);
        parameters.push_back(fmt::format("_count={}", count));
    }
    const bool counts = one_in(3);
    if (counts) {
        parameters.emplace_back("_total=accurate");
    }
    std::string includes;
    if (one_in(4)) {
        includes = one_in(2) ? "subject" : "focus";
        parameters.push_back(
            fmt::format("{}=Observation:{}", patient ? "_revinclude" : "_include", includes));
    }
    if (belongs) {
        conditions.push_back({{}, belongs});
    }
    const auto all = [this, type, conditions, keys](Position bound) {
        auto found = bound.value == 0 ? std::vector<const VersionModel::Version*>()
                                      : model_.find(type, conditions, bound);
        if (keys.empty()) {
            ServiceModel::sort_by_default(found);
        } else {
            sort(model_, found, keys);
        }
        return found;
    };
    Read read{fmt::format("{}?{}", path, fmt::join(parameters, "&")),
              [this, all, count, counts, includes](Position bound) {
                  const auto found = all(bound);
                  Expected expected = first_of(found, count, counts);
                  for (std::size_t i = 0; i < expected.entries.size() && !includes.empty(); ++i) {
                      expected.included.merge(included_with(*found[i], includes, bound));
                  }
                  return expected;
              }};
    read.then = [this, all, count, includes, is_sorted = !keys.empty()](
                    Position bound, const ReceivedBundle& bundle) {
        Chain chain;
        chain.needs_edge = is_sorted;
        chain.is_unsorted = !is_sorted;
        chain.includes = includes;
        chain.bound = bound;
        chain.found = all;
        chain.count = count;
        begin_chain(std::move(chain), bundle);
    };
    return read;
}

ServiceSimulation::Read ServiceSimulation::read_everything() {
    const std::string name = one_in(4) ? "" : pick_name("Patient");  // empty: of all
    std::vector<std::string> parameters;
    const bool members_only = one_in(4);
    if (members_only) {
        parameters.emplace_back("_type=Observation");
    }
    std::uint64_t count = 10'000;
    if (!one_in(3)) {
        count = 1 + pick(3);
        parameters.push_back(fmt::format("_count={}", count));
    }
    const auto all = [this, name, members_only](Position bound) {
        std::vector<const ServiceModel::Version*> found;
        if (bound.value == 0) {
            return found;
        }
        if (!members_only) {
            found = model_.find("Patient", {}, bound);
            std::erase_if(found, [&](const auto* version) {
                return !name.empty() && model_.name_of(*version) != name;
            });
            ServiceModel::sort_by_default(found);
        }
        const std::vector<Condition> belong = {
            {{}, [&](const ServiceModel& model, const auto& version, Position) {
                 const std::string& target = model.content(version).target;
                 return name.empty() ? model.is_live(target, bound) : target == name;
             }}};
        auto members = model_.find("Observation", belong, bound);
        ServiceModel::sort_by_default(members);
        found.insert(found.end(), members.begin(), members.end());
        return found;
    };
    const std::string target = fmt::format("/{}/$everything?{}", name.empty() ? "Patient" : name,
                                           fmt::join(parameters, "&"));
    Read read{target, [this, name, count, all](Position bound) {
                  const auto* head = bound.value == 0 ? nullptr : model_.newest(name, bound);
                  const bool is_shown = head != nullptr && model_.shows(*head);
                  if (!name.empty() && (!is_shown || head->info.deletion)) {
                      return Expected{.status = is_shown ? 410 : 404};
                  }
                  const auto found = all(bound);
                  Expected expected{.total = found.size(), .more = found.size() > count};
                  for (std::size_t i = 0; i < found.size() && i < count; ++i) {
                      expected.entries.push_back(model_.label(*found[i]));
                  }
                  return expected;
              }};
    read.then = [this, name, count, all](Position bound, const ReceivedBundle& bundle) {
        Chain chain;
        // Of all: one whose patient was erased since still is an edge only in the order of positions.
        chain.needs_edge = !name.empty();
        chain.may_need_edge = name.empty();
        chain.bound = bound;
        chain.found = all;
        chain.count = count;
        chain.name = name;
        begin_chain(std::move(chain), bundle);
    };
    return read;
}

std::set<std::string> ServiceSimulation::included_with(const ServiceModel::Version& match,
                                                       const std::string& by,
                                                       Position bound) const {
    const auto referred = [&](const ServiceModel::Version& observation) -> const std::string& {
        const Content& content = model_.content(observation);
        return by == "focus" ? content.focus : content.target;
    };
    const bool patient = model_.name_of(match).starts_with("Patient/");
    std::set<std::string> included;
    for (const auto* other : model_.find(patient ? "Observation" : "Patient", {}, bound)) {
        if (patient ? referred(*other) == model_.name_of(match)
                    : referred(match) == model_.name_of(*other)) {
            included.insert(model_.label(*other));
        }
    }
    return included;
}

ServiceSimulation::Read ServiceSimulation::search_earlier() {
    Read read = search();
    read.then = {};  // whether a page shows all is seen by its link
    if (model_.last() == 0) {
        return read;
    }
    if (one_in(2)) {
        const Instant instant = pick_instant();
        read.target += "&_asOf=" + format_instant(instant);
        read.expected = [this, expected = std::move(read.expected), instant](Position bound) {
            return expected(std::min(model_.bound_at(instant), bound));
        };
    } else {
        const Position at{1 + pick(model_.last())};
        read.target += fmt::format("&_asOf={}", at.value);
        read.expected = [expected = std::move(read.expected), at](Position) {
            return expected(at);
        };
    }
    return read;
}

}  // namespace annals::test
