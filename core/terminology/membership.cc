#include "core/terminology/membership.h"

#include "core/terminology/grammar.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::terminology {

namespace {

Member opposite(Member a) noexcept {
    return a == Member::yes ? Member::no : a == Member::no ? Member::yes : a;
}

}  // namespace

Member both(Member a, Member b) noexcept {
    return std::min(a, b);
}

Within::Within(Session& session, const ValueSet& value_set) : session_(session) {
    const json::Document* const document = value_set.definition().get();
    const auto& within = session.within;
    if (std::find(within.begin(), within.end(), document) != within.end()) {
        entered_ = Error{Errc::processing, fmt::format("The value set {} includes itself",
                                                       value_set.root()["url"].string())};
    } else if (within.size() >= kValueSetDepthMax) {
        entered_ = Error{Errc::not_computable, "The value set refers to others too deeply"};
    }
    session.within.push_back(document);
}

Within::~Within() {
    session_.within.pop_back();
}

Result<Member> member_of_system(Session& session, const Include& include, const Code& code) {
    if (include.system.empty()) {
        return Member::yes;
    }
    if (code.system && *code.system != include.system) {
        return Member::no;
    }
    if (!code.version.empty() && !include.version.empty() && code.version != include.version) {
        return Member::no;
    }
    if (include.lists && !include.by_code.contains(code.code)) {
        // The code may differ in case only.
        ANNALS_TRY(const CodeSystemPointer system,
                   session.code_system(include.system, include.version));
        if (system == nullptr || !system->ignores_case() || !include.lists_in_any_case(code.code)) {
            return Member::no;
        }
    }
    // The given version of the system decides.
    const std::string_view version =
        include.version.empty() ? code.version : std::string_view(include.version);
    ANNALS_TRY(const CodeSystemPointer system, session.code_system(include.system, version));
    const auto number = system ? system->find(code.code) : std::nullopt;
    if (number) {
        Member in = Member::yes;
        for (const Filter& filter : include.filters) {
            ANNALS_TRY(const Member passes,
                       judge_listed(*system, include.system, filter, *number, session.effort()));
            in = both(in, passes);
        }
        return in;
    }
    if (include.lists && include.filters.empty()) {
        // Unless the system is known not to have it, the part has what it lists.
        return system && system->is_complete() ? Member::no : Member::yes;
    }
    Member in = judge_code(system.get(), include.system, code.code);
    for (const Filter& filter : include.filters) {
        ANNALS_TRY(const Member passes,
                   judge_filter(include.system, filter, code.code, session.effort()));
        in = both(in, passes);
    }
    // If a whole system isn't completely available, the part has those of its codes that the other value sets contain.
    const bool open = include.is_whole() && (session.open_systems || !include.value_sets.empty());
    return in == Member::unknown && open ? Member::yes : in;
}

Result<Member> member_of_exclude(Session& session, const Include& exclude, Code code,
                                 std::string_view version) {
    if (exclude.version.empty() && exclude.value_sets.empty() && code.version.empty() &&
        !version.empty()) {
        ANNALS_TRY(const CodeSystemPointer meant, session.code_system(exclude.system, version));
        code.version = meant != nullptr ? version : std::string_view();
    }
    return member_of(session, exclude, code);
}

namespace {

/// Whether a code is a member, and by which version of its system; empty: none is given.
struct Found {
    Member in = Member::no;
    std::string_view version{};
};

Result<Found> find_in(Session& session, const ValueSet& value_set, const Code& code);

Result<Found> find_in(Session& session, std::string_view canonical, const Code& code) {
    ANNALS_TRY(const ValueSetPointer value_set, session.readable_value_set(canonical));
    if (value_set == nullptr) {
        return Found{Member::unknown};
    }
    return find_in(session, *value_set, code);
}

Result<Found> find_in(Session& session, const Include& include, const Code& code) {
    if (include.system.empty() && include.value_sets.empty()) {
        return Found{};
    }
    ANNALS_TRY(const Member of_system, member_of_system(session, include, code));
    Found found{of_system, include.version};
    for (std::size_t i = 0; i < include.value_sets.size() && found.in != Member::no; ++i) {
        ANNALS_TRY(const Found other, find_in(session, include.value_sets[i], code));
        found.in = both(found.in, other.in);
        if (i == 0 && include.system.empty()) {
            found.version = other.version;
        }
    }
    return found;
}

Result<Member> contained(Session& session, const ValueSet& value_set, const Code& code) {
    const auto [first, last] = value_set.contained_by_code().equal_range(code.code);
    for (auto at = first; at != last; ++at) {
        ANNALS_TRY_VOID(session.effort().spend());
        const Contained& own = value_set.contained()[at->second];
        if ((session.takes_abstract || !own.is_abstract) &&
            (!code.system || own.system == *code.system)) {
            return Member::yes;
        }
    }
    return Member::no;
}

// Parts are evaluated one by one: a code that is excluded or inactive in one version may be included by another.
Result<Found> composed(Session& session, const ValueSet& value_set, const Code& code) {
    Found found;
    for (const Include& include : value_set.includes()) {
        ANNALS_TRY_VOID(session.effort().spend(kStepsPerPart));
        ANNALS_TRY(Found part, find_in(session, include, code));
        for (const Include& exclude : value_set.excludes()) {
            if (part.in == Member::no) {
                break;
            }
            ANNALS_TRY_VOID(session.effort().spend());
            ANNALS_TRY(const Member out, member_of_exclude(session, exclude, code, part.version));
            part.in = both(part.in, opposite(out));
        }
        const std::string_view url = code.system.value_or(std::string_view());
        if (part.in != Member::no && value_set.active_only() && !url.empty()) {
            ANNALS_TRY(
                const CodeSystemPointer system,
                session.code_system(url, part.version.empty() ? code.version : part.version));
            const auto number = system ? system->find(code.code) : std::nullopt;
            part.in = number && system->is_inactive(*number) ? Member::no : part.in;
        }
        if (part.in > found.in) {
            found = part;
        }
        if (found.in == Member::yes) {
            break;
        }
    }
    return found;
}

Result<void> add_systems_with(Session& session, const ValueSet& value_set, std::string_view code,
                              std::vector<std::string_view>& systems) {
    const Within within(session, value_set);
    if (!within.entered()) {
        return Error(within.entered().error());
    }
    const auto add = [&](std::string_view system) -> Result<void> {
        ANNALS_TRY_VOID(session.effort().spend(1 + systems.size() / kSystemsPerStep));
        if (std::find(systems.begin(), systems.end(), system) == systems.end()) {
            systems.push_back(system);
        }
        return {};
    };
    for (const Include& include : value_set.includes()) {
        ANNALS_TRY_VOID(session.effort().spend(kStepsPerPart * (1 + include.value_sets.size())));
        if (!include.system.empty()) {
            ANNALS_TRY(const Member in, member_of(session, include, {include.system, code}));
            if (in != Member::no) {
                ANNALS_TRY_VOID(add(include.system));
            }
            continue;
        }
        for (const std::string& name : include.value_sets) {
            ANNALS_TRY(const ValueSetPointer other, session.readable_value_set(name));
            if (other != nullptr) {
                ANNALS_TRY_VOID(add_systems_with(session, *other, code, systems));
            }
        }
    }
    const auto [first, last] = value_set.contained_by_code().equal_range(code);
    for (auto at = first; at != last; ++at) {
        ANNALS_TRY_VOID(add(value_set.contained()[at->second].system));
    }
    return {};
}

Result<Found> find_in(Session& session, const ValueSet& value_set, const Code& code) {
    if (!code.system) {
        // Evaluated for each system: exclusions and intersections of parts only apply to codes of the same system.
        ANNALS_TRY(const std::vector<std::string_view> systems,
                   systems_with(session, value_set, code.code));
        Found found;
        for (std::size_t i = 0; i < systems.size() && found.in != Member::yes; ++i) {
            const Code of_system{systems[i], code.code, code.version};
            ANNALS_TRY(const Found part, find_in(session, value_set, of_system));
            if (part.in > found.in) {
                found = part;
            }
        }
        return found;
    }
    const Within within(session, value_set);
    if (!within.entered()) {
        return Error(within.entered().error());
    }
    Found found{Member::unknown};
    if (value_set.has_compose()) {
        ANNALS_TRY(found, composed(session, value_set, code));
    }
    if (found.in == Member::unknown && value_set.has_expansion()) {
        ANNALS_TRY(found.in, contained(session, value_set, code));
        found.version = {};
    }
    return found;
}

}  // namespace

Result<std::vector<std::string_view>> systems_with(Session& session, const ValueSet& value_set,
                                                   std::string_view code) {
    std::vector<std::string_view> systems;
    ANNALS_TRY_VOID(add_systems_with(session, value_set, code, systems));
    std::erase(systems, std::string_view());
    systems.emplace_back();
    return systems;
}

Result<Member> member_of(Session& session, const ValueSet& value_set, const Code& code) {
    ANNALS_TRY(const Found found, find_in(session, value_set, code));
    return found.in;
}

Result<Member> member_of(Session& session, std::string_view canonical, const Code& code) {
    ANNALS_TRY(const Found found, find_in(session, canonical, code));
    return found.in;
}

Result<Member> member_of(Session& session, const Include& include, const Code& code) {
    ANNALS_TRY(const Found found, find_in(session, include, code));
    return found.in;
}

Result<std::string_view> version_of(Session& session, const ValueSet& value_set, const Code& code) {
    ANNALS_TRY(const Found found, find_in(session, value_set, code));
    return found.version;
}

}  // namespace annals::terminology
