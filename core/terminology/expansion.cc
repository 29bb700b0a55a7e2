#include "core/terminology/expansion.h"

#include "core/canonical.h"
#include "core/terminology/grammar.h"
#include "core/terminology/kept.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::terminology {

namespace {

// Room for expansions of two code systems of the maximum size, each of which takes some 200 MiB.
constexpr std::size_t kKeptExpansionBytesMax = 512 << 20;
constexpr std::size_t kBytesPerEntry = sizeof(Expansion::Entry) + 48;

Error not_here(std::string_view what, std::string_view name) {
    return {Errc::not_computable,
            fmt::format("{} {} is not available", what, name.substr(0, 200)),
            "",
            {},
            std::string(name)};
}

std::string canonical_of(std::string_view url, std::string_view version) {
    return version.empty() ? std::string(url) : fmt::format("{}|{}", url, version);
}

template <typename T>
void add_once(std::vector<T>& list, T item) {
    if (std::find(list.begin(), list.end(), item) == list.end()) {
        list.push_back(std::move(item));
    }
}

/// Builds one expansion.
class Builder {
  public:
    Builder(Session& session, const ExpandOptions& options)
        : session_(session), options_(options) {}

    Result<void> compose(const ValueSet& value_set);
    Result<void> take_contained(const ValueSetPointer& value_set);

    Expansion take() && { return std::move(made_); }

  private:
    using Entry = Expansion::Entry;

    Result<void> include(const Include& part);
    Result<void> include_system(const Include& part);
    Result<void> include_value_set(const Include& part);
    Result<void> include_open(const Include& part, const std::string& system,
                              const ExpansionPointer& first);
    Result<void> include_listed(const Include& part, const CodeSystemPointer& content);
    Result<void> exclude(const Include& part);
    Result<ExpansionPointer> expansion_of(std::string_view canonical);
    Result<bool> is_in_others(const Include& part, std::optional<std::size_t> from,
                              const Code& code);
    Result<std::uint32_t> system_number(std::string_view url, std::string_view version,
                                        const CodeSystemPointer& content);
    Result<void> add(Entry entry);
    Result<void> add_if_in_value_sets(const Include& part, const Entry& entry);
    Result<void> add_from(const Expansion& other, const Entry& entry);
    bool is_open(const Include& part, const CodeSystemPointer& content) const;

    Session& session_;
    const ExpandOptions& options_;
    Expansion made_;
    bool active_only_ = false;
};

Result<std::uint32_t> Builder::system_number(std::string_view url, std::string_view version,
                                             const CodeSystemPointer& content) {
    // Versions::forced may have replaced the version that the value set gives.
    version = version.empty() || content == nullptr ? version : content->version();
    auto& systems = made_.systems;
    const auto is_it = [&](const Expansion::System& known) {
        return known.url == url &&
               (known.version == version || (content != nullptr && known.content != nullptr &&
                                             known.content->version() == content->version()));
    };
    const auto number = static_cast<std::uint32_t>(
        std::find_if(systems.begin(), systems.end(), is_it) - systems.begin());
    ANNALS_TRY_VOID(session_.effort().spend(number / kSystemsPerStep));
    if (number == systems.size()) {
        systems.push_back({std::string(url), std::string(version), nullptr});
    }
    // A system first met in another expansion may not have had its content looked up.
    if (content != nullptr && systems[number].content == nullptr) {
        systems[number].content = content;
        add_once<std::shared_ptr<const void>>(made_.held, content);
        const std::string canonical = canonical_of(url, content->version());
        add_once<std::pair<std::string_view, std::string>>(made_.used,
                                                           {"used-codesystem", canonical});
        if (!content->is_complete()) {
            add_once<std::pair<std::string_view, std::string>>(made_.used, {"fragment", canonical});
        }
    }
    return number;
}

Result<void> Builder::add(Entry entry) {
    ANNALS_TRY_VOID(session_.effort().spend());
    if ((active_only_ && entry.inactive) ||
        (options_.wanted && !options_.wanted(entry.code, entry.display))) {
        return {};
    }
    auto& by_code = made_.systems[entry.system].by_code;
    if (!by_code.try_emplace(entry.code, static_cast<std::uint32_t>(made_.entries.size())).second) {
        return {};
    }
    if (made_.entries.size() >= options_.codes_max) {
        return Error{Errc::answer_too_costly,
                     fmt::format("The value set has more than {} codes", options_.codes_max)};
    }
    made_.entries.push_back(entry);
    return {};
}

Result<void> Builder::add_from(const Expansion& other, const Entry& entry) {
    const Expansion::System& system = other.systems[entry.system];
    Entry own = entry;
    ANNALS_TRY(own.system, system_number(system.url, system.version, system.content));
    return add(own);
}

Result<void> Builder::take_contained(const ValueSetPointer& value_set) {
    made_ = Expansion();
    for (const Contained& own : value_set->contained()) {
        Entry entry;
        entry.code = own.code;
        entry.display = own.display;
        ANNALS_TRY(entry.system, system_number(own.system, own.item["version"].string(), nullptr));
        entry.listed = own.item;
        entry.is_abstract = own.is_abstract;
        entry.inactive = own.inactive;
        ANNALS_TRY_VOID(add(entry));
    }
    return {};
}

bool Builder::is_open(const Include& part, const CodeSystemPointer& content) const {
    return session_.open_systems && part.is_whole() &&
           (content == nullptr || !content->is_complete());
}

Result<void> Builder::compose(const ValueSet& value_set) {
    active_only_ = value_set.active_only();
    for (const Include& part : value_set.includes()) {
        ANNALS_TRY_VOID(include(part));
    }
    for (const Include& part : value_set.excludes()) {
        ANNALS_TRY_VOID(exclude(part));
    }
    return {};
}

Result<void> Builder::include(const Include& part) {
    ANNALS_TRY_VOID(session_.effort().spend(kStepsPerPart));
    if (part.system.empty() && part.value_sets.empty()) {
        return {};
    }
    if (part.system.empty()) {
        return include_value_set(part);
    }
    if (options_.skipped && options_.skipped(part.system, part.version)) {
        return {};
    }
    if (part.is_whole() && !part.value_sets.empty()) {
        ANNALS_TRY(const CodeSystemPointer content,
                   session_.code_system(part.system, part.version));
        if (content == nullptr || !content->is_complete()) {
            return include_value_set(part);
        }
    }
    return include_system(part);
}

// Adds an entry of the part's system if the part's value sets contain it, too.
Result<void> Builder::add_if_in_value_sets(const Include& part, const Entry& entry) {
    ANNALS_TRY(const bool in, is_in_others(part, std::nullopt, {part.system, entry.code}));
    return in ? add(entry) : Result<void>();
}

// Whether the code is in all parts of the intersection besides the one that it is from: value set number `from`; none: the
// system.
Result<bool> Builder::is_in_others(const Include& part, std::optional<std::size_t> from,
                                   const Code& code) {
    Member found = Member::yes;
    if (from) {
        ANNALS_TRY(found, member_of_system(session_, part, code));
    }
    for (std::size_t i = 0; i < part.value_sets.size() && found != Member::no; ++i) {
        if (i != from) {
            ANNALS_TRY(const Member in, member_of(session_, part.value_sets[i], code));
            found = both(found, in);
        }
    }
    if (found == Member::unknown) {
        return Error{Errc::not_computable,
                     fmt::format("Whether {} is in all parts of the value set cannot be determined",
                                 code.code.substr(0, 100))};
    }
    return found == Member::yes;
}

Result<void> Builder::include_listed(const Include& part, const CodeSystemPointer& content) {
    ANNALS_TRY(const std::uint32_t system, system_number(part.system, part.version, content));
    for (const Include::Listed& listed : part.concepts) {
        Entry entry;
        entry.code = listed.code;
        entry.display = listed.display;
        entry.system = system;
        entry.listed = listed.item;
        entry.number = content ? content->find(listed.code) : std::nullopt;
        if (content && content->is_complete() && !entry.number) {
            continue;  // the code system has no such code
        }
        if (entry.number) {
            entry.display = entry.display.empty() ? content->display(*entry.number) : entry.display;
            entry.inactive = content->is_inactive(*entry.number);
            entry.is_abstract = content->is_abstract(*entry.number);
        }
        bool passes = true;
        for (std::size_t i = 0; i < part.filters.size() && passes; ++i) {
            const Filter& filter = part.filters[i];
            ANNALS_TRY(
                const Member in,
                entry.number
                    ? judge_listed(*content, part.system, filter, *entry.number, session_.effort())
                    : judge_filter(part.system, filter, listed.code, session_.effort()));
            passes = in == Member::yes;
        }
        if (!passes) {
            continue;
        }
        ANNALS_TRY_VOID(add_if_in_value_sets(part, entry));
    }
    return {};
}

Result<void> Builder::include_system(const Include& part) {
    ANNALS_TRY(const CodeSystemPointer content, session_.code_system(part.system, part.version));
    if (part.lists) {
        return include_listed(part, content);
    }
    if (is_open(part, content)) {
        add_once(made_.open_systems, part.system);
        return {};
    }
    if (content == nullptr) {
        return not_here("The code system", canonical_of(part.system, part.version));
    }
    // R4's own expansions contain the codes that example code systems list.
    const bool is_example = content->content() == Content::example;
    if (!content->is_complete() && content->content() != Content::fragment &&
        !((is_example || session_.open_systems) && content->size() > 0)) {
        return Error{Errc::not_computable,
                     fmt::format("The codes of {} are not available", part.system.substr(0, 200)),
                     "",
                     {},
                     part.system};
    }
    std::vector<std::optional<std::vector<bool>>> passing;
    for (const Filter& filter : part.filters) {
        ANNALS_TRY_VOID(session_.effort().spend(content->size() / 8));
        ANNALS_TRY(auto flags, filter.passing(*content, session_.effort()));
        passing.push_back(std::move(flags));
    }
    ANNALS_TRY(const std::uint32_t system, system_number(part.system, part.version, content));
    for (CodeSystem::Number number = 0; number < content->size(); ++number) {
        ANNALS_TRY_VOID(session_.effort().spend());
        bool passes = true;
        for (std::size_t i = 0; i < part.filters.size() && passes; ++i) {
            if (passing[i]) {
                passes = (*passing[i])[number];
            } else {
                ANNALS_TRY(const Member in, judge_listed(*content, part.system, part.filters[i],
                                                         number, session_.effort()));
                passes = in == Member::yes;
            }
        }
        if (!passes) {
            continue;
        }
        Entry entry;
        entry.code = content->code(number);
        entry.display = content->display(number);
        entry.system = system;
        entry.number = number;
        entry.is_abstract = content->is_abstract(number);
        entry.inactive = content->is_inactive(number);
        ANNALS_TRY_VOID(add_if_in_value_sets(part, entry));
    }
    return {};
}

Result<ExpansionPointer> Builder::expansion_of(std::string_view canonical) {
    ANNALS_TRY(const ValueSetPointer value_set, session_.value_set(canonical));
    if (value_set == nullptr) {
        return not_here("The value set", canonical);
    }
    ANNALS_TRY(ExpansionPointer expansion, expand(session_, value_set, options_));
    add_once<std::shared_ptr<const void>>(made_.held, expansion);
    add_once<std::pair<std::string_view, std::string>>(
        made_.used, {"used-valueset", canonical_of(core::split_canonical(canonical).url,
                                                   value_set->root()["version"].string())});
    return expansion;
}

// Adds the codes of the first value set that are also in everything else that the part names.
Result<void> Builder::include_value_set(const Include& part) {
    ANNALS_TRY(const ExpansionPointer first, expansion_of(part.value_sets.front()));
    for (const auto& used : first->used) {
        add_once(made_.used, used);
    }
    for (const Entry& entry : first->entries) {
        ANNALS_TRY(const bool in,
                   is_in_others(part, 0, {first->systems[entry.system].url, entry.code}));
        if (in) {
            ANNALS_TRY_VOID(add_from(*first, entry));
        }
    }
    for (const std::string& system : first->open_systems) {
        ANNALS_TRY_VOID(include_open(part, system, first));
    }
    return {};
}

// Adds the codes of a system that the first value set includes as a whole.
Result<void> Builder::include_open(const Include& part, const std::string& system,
                                   const ExpansionPointer& first) {
    if (!part.system.empty() && part.system != system) {
        return {};
    }
    for (std::size_t i = 1; i < part.value_sets.size(); ++i) {
        ANNALS_TRY(const ExpansionPointer other, expansion_of(part.value_sets[i]));
        const auto& open = other->open_systems;
        if (std::find(open.begin(), open.end(), system) != open.end()) {
            continue;
        }
        for (const Entry& entry : other->entries) {
            const Code code{other->systems[entry.system].url, entry.code};
            if (*code.system != system || first->has(system, entry.code)) {
                continue;
            }
            ANNALS_TRY(const bool in, is_in_others(part, i, code));
            if (in) {
                ANNALS_TRY_VOID(add_from(*other, entry));
            }
        }
        return {};
    }
    add_once(made_.open_systems, system);
    return {};
}

Result<void> Builder::exclude(const Include& part) {
    auto& open = made_.open_systems;
    if (!open.empty()) {
        if (!part.system.empty() && part.is_whole() && part.value_sets.empty()) {
            std::erase(open, part.system);
        } else if (part.system.empty() ||
                   std::find(open.begin(), open.end(), part.system) != open.end()) {
            return Error{
                Errc::not_computable,
                fmt::format("What is left of {} when codes are excluded cannot be determined",
                            part.system.empty() ? open.front() : part.system)};
        }
    }
    std::size_t kept = 0;
    for (Entry& entry : made_.entries) {
        ANNALS_TRY_VOID(session_.effort().spend());
        const Expansion::System& system = made_.systems[entry.system];
        ANNALS_TRY(const Member out,
                   member_of_exclude(session_, part, {system.url, entry.code}, system.version));
        if (out == Member::unknown) {
            return Error{Errc::not_computable,
                         fmt::format("Whether {} is excluded cannot be determined",
                                     entry.code.substr(0, 100))};
        }
        if (out == Member::no) {
            made_.entries[kept++] = entry;
        }
    }
    made_.entries.resize(kept);
    for (Expansion::System& system : made_.systems) {
        system.by_code.clear();
    }
    for (std::uint32_t i = 0; i < kept; ++i) {
        const Entry& entry = made_.entries[i];
        made_.systems[entry.system].by_code.emplace(entry.code, i);
    }
    return {};
}

/// An expansion and the lookups it was made from; valid as long as these give the same results.
struct Made {
    Expansion expansion;
    std::vector<Session::Look> looks{};
};

Kept<Made>& kept_expansions(bool open_systems) {
    static Kept<Made> closed(kKeptExpansionBytesMax);
    static Kept<Made> open(kKeptExpansionBytesMax);
    return open_systems ? open : closed;
}

Result<ExpansionPointer> find_kept(Session& session, const Definition& definition) {
    const auto kept = kept_expansions(session.open_systems).find(definition);
    if (kept == nullptr) {
        return ExpansionPointer();
    }
    for (const Session::Look& look : kept->looks) {
        ANNALS_TRY(const Definition found, session.find(look.type, look.url, look.version));
        if (found != look.found) {
            return ExpansionPointer();
        }
    }
    return ExpansionPointer(kept, &kept->expansion);
}

}  // namespace

bool Expansion::has(std::string_view system, std::string_view code) const {
    return std::any_of(systems.begin(), systems.end(), [&](const System& own) {
        return own.url == system && own.by_code.contains(code);
    });
}

Result<ExpansionPointer> expand(Session& session, const ValueSetPointer& value_set,
                                const ExpandOptions& options) {
    const bool keeps = !options.wanted && !options.skipped && session.versions().empty();
    if (keeps) {
        ANNALS_TRY(ExpansionPointer kept, find_kept(session, value_set->definition()));
        if (kept != nullptr && kept->entries.size() <= options.codes_max) {
            return kept;
        }
    }
    ANNALS_TRY_VOID(session.effort().spend(kStepsPerExpansion));
    const Within within(session, *value_set);
    if (!within.entered()) {
        return Error(within.entered().error());
    }
    Builder builder(session, options);
    if (value_set->has_compose()) {
        Result<void> composed = builder.compose(*value_set);
        if (!composed &&
            !(composed.error().code == Errc::not_computable && value_set->has_expansion())) {
            return std::move(composed.error());
        }
        if (!composed) {
            ANNALS_TRY_VOID(builder.take_contained(value_set));
        }
    } else if (value_set->has_expansion()) {
        ANNALS_TRY_VOID(builder.take_contained(value_set));
    } else {
        std::string url = value_set->root()["url"].string();
        return Error{
            Errc::not_computable,
            fmt::format("The value set {} does not define its content", url.substr(0, 200)),
            "",
            {},
            std::move(url)};
    }
    const auto made = std::make_shared<Made>(std::move(builder).take());
    made->expansion.held.push_back(value_set);
    // For a nested expansion, it isn't known which lookups were its own.
    if (keeps && session.within.size() == 1) {
        std::vector<Definition> documents{value_set->definition()};
        for (const Session::Look& look : session.looks()) {
            if (look.found != nullptr) {
                documents.push_back(look.found);
            }
        }
        made->looks = session.looks();
        kept_expansions(session.open_systems)
            .keep(value_set->definition(), made,
                  sizeof(Made) + made->expansion.entries.size() * kBytesPerEntry +
                      value_set->regexes() * kRegexMemoryMax,
                  std::move(documents));
    }
    return ExpansionPointer(made, &made->expansion);
}

}  // namespace annals::terminology
