#include "core/terminology/membership.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::terminology {

Member both(Member a, Member b) noexcept {
    return std::min(a, b);
}

Member either(Member a, Member b) noexcept {
    return std::max(a, b);
}

Member opposite(Member a) noexcept {
    return a == Member::yes ? Member::no : a == Member::no ? Member::yes : a;
}

Within::Within(Session& session, const ValueSet& value_set) : session_(session) {
    const json::Document* const document = value_set.definition().get();
    const auto& within = session.within;
    if (std::find(within.begin(), within.end(), document) != within.end()) {
        entered_ = Error{
            Errc::processing,
            fmt::format("The value set {} includes itself", value_set.root()["url"].string()), ""};
    } else if (within.size() >= kValueSetDepthMax) {
        entered_ = Error{Errc::not_computable, "The value set refers to others too deeply", ""};
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
        // Codes may be the same in another case.
        ANNALS_TRY(const CodeSystemPointer system,
                   session.code_system(include.system, include.version));
        const auto number = system ? system->find(code.code) : std::nullopt;
        if (!number || !include.by_code.contains(system->code(*number))) {
            return Member::no;
        }
    }
    // The version that is meant is the one that knows.
    const std::string_view version =
        include.version.empty() ? code.version : std::string_view(include.version);
    ANNALS_TRY(const CodeSystemPointer system, session.code_system(include.system, version));
    const bool named = include.lists && include.filters.empty();
    const Member otherwise =
        named || (session.open_systems && include.is_whole()) ? Member::yes : Member::unknown;
    if (system == nullptr) {
        return otherwise;
    }
    const auto number = system->find(code.code);
    if (!number) {
        return system->is_complete() ? Member::no : otherwise;
    }
    for (const Filter& filter : include.filters) {
        ANNALS_TRY(const bool passes, filter.passes(*system, *number, session.effort()));
        if (!passes) {
            return Member::no;
        }
    }
    return Member::yes;
}

Result<Member> member_of(Session& session, const Include& include, const Code& code) {
    if (include.system.empty() && include.value_sets.empty()) {
        return Member::no;
    }
    ANNALS_TRY(Member found, member_of_system(session, include, code));
    for (const std::string& name : include.value_sets) {
        if (found == Member::no) {
            break;
        }
        ANNALS_TRY(const Member in, member_of(session, name, code));
        found = both(found, in);
    }
    return found;
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

Result<Member> member_of(Session& session, std::string_view canonical, const Code& code) {
    Result<ValueSetPointer> value_set = session.value_set(canonical);
    if (!value_set && value_set.error().code == Errc::not_computable) {
        return Member::unknown;
    }
    if (!value_set) {
        return std::move(value_set.error());
    }
    if (*value_set == nullptr) {
        return Member::unknown;
    }
    return member_of(session, **value_set, code);
}

namespace {

Member contained(const ValueSet& value_set, const Code& code) {
    const auto [first, last] = value_set.contained_by_code().equal_range(code.code);
    return std::any_of(first, last,
                       [&](const auto& entry) {
                           const Contained& own = value_set.contained()[entry.second];
                           return !own.is_abstract && (!code.system || own.system == *code.system);
                       })
               ? Member::yes
               : Member::no;
}

/// As of version_of(), where `include` has the code.
Result<std::string_view> version_by(Session& session, const Include& include, const Code& code,
                                    std::size_t depth) {
    if (!include.system.empty() || include.value_sets.empty()) {
        return std::string_view(include.version);
    }
    const Result<ValueSetPointer> other = session.value_set(include.value_sets.front());
    if (!other && other.error().code != Errc::not_computable) {
        return Error(other.error());
    }
    if (!other || *other == nullptr) {
        return std::string_view();
    }
    return version_of(session, **other, code, depth + 1);
}

// Each part by itself: what is excluded of one version, or inactive in it, may be in by another.
Result<Member> composed(Session& session, const ValueSet& value_set, const Code& code) {
    Member found = Member::no;
    for (const Include& include : value_set.includes()) {
        ANNALS_TRY_VOID(session.effort().spend(kStepsPerPart));
        ANNALS_TRY(Member in, member_of(session, include, code));
        std::string_view version;
        if (in != Member::no && (value_set.active_only() || !value_set.excludes().empty())) {
            ANNALS_TRY(version, version_by(session, include, code, 0));
        }
        for (const Include& exclude : value_set.excludes()) {
            if (in == Member::no) {
                break;
            }
            ANNALS_TRY_VOID(session.effort().spend());
            ANNALS_TRY(const Member out, member_of_exclude(session, exclude, code, version));
            in = both(in, opposite(out));
        }
        const std::string_view url = code.system.value_or(std::string_view());
        if (in != Member::no && value_set.active_only() && !url.empty()) {
            ANNALS_TRY(const CodeSystemPointer system,
                       session.code_system(url, version.empty() ? code.version : version));
            const auto number = system ? system->find(code.code) : std::nullopt;
            in = number && system->is_inactive(*number) ? Member::no : in;
        }
        found = either(found, in);
        if (found == Member::yes) {
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
    const auto add = [&](std::string_view system) {
        if (std::find(systems.begin(), systems.end(), system) == systems.end()) {
            systems.push_back(system);
        }
    };
    for (const Include& include : value_set.includes()) {
        ANNALS_TRY_VOID(session.effort().spend(kStepsPerPart * (1 + include.value_sets.size())));
        if (!include.system.empty()) {
            ANNALS_TRY(const Member in, member_of(session, include, {include.system, code}));
            if (in != Member::no) {
                add(include.system);
            }
            continue;
        }
        for (const std::string& name : include.value_sets) {
            const Result<ValueSetPointer> other = session.value_set(name);
            if (!other && other.error().code != Errc::not_computable) {
                return Error(other.error());
            }
            if (other && *other != nullptr) {
                ANNALS_TRY_VOID(add_systems_with(session, **other, code, systems));
            }
        }
    }
    const auto [first, last] = value_set.contained_by_code().equal_range(code);
    std::for_each(first, last,
                  [&](const auto& entry) { add(value_set.contained()[entry.second].system); });
    return {};
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

Result<std::string_view> version_of(Session& session, const ValueSet& value_set, const Code& code,
                                    std::size_t depth) {
    if (depth > kValueSetDepthMax) {
        return std::string_view();
    }
    for (const Include& include : value_set.includes()) {
        ANNALS_TRY_VOID(session.effort().spend(kStepsPerPart * (1 + include.value_sets.size())));
        ANNALS_TRY(const Member in, member_of(session, include, code));
        if (in == Member::yes) {
            return version_by(session, include, code, depth);
        }
    }
    return std::string_view();
}

Result<Member> member_of(Session& session, const ValueSet& value_set, const Code& code) {
    if (!code.system) {
        // Excluding the code of one system, or having it in two parts of different ones, says nothing of others.
        ANNALS_TRY(const std::vector<std::string_view> systems,
                   systems_with(session, value_set, code.code));
        Member found = Member::no;
        for (std::size_t i = 0; i < systems.size() && found != Member::yes; ++i) {
            ANNALS_TRY(const Member in,
                       member_of(session, value_set, {systems[i], code.code, code.version}));
            found = either(found, in);
        }
        return found;
    }
    const Within within(session, value_set);
    if (!within.entered()) {
        return Error(within.entered().error());
    }
    if (!value_set.has_compose()) {
        return value_set.has_expansion() ? contained(value_set, code) : Member::unknown;
    }
    ANNALS_TRY(const Member found, composed(session, value_set, code));
    return found == Member::unknown && value_set.has_expansion() ? contained(value_set, code)
                                                                 : found;
}

}  // namespace annals::terminology
