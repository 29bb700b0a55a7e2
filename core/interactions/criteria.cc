#include "core/interactions/criteria.h"

#include "codec/json/resource.h"
#include "core/base/ids.h"
#include "core/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace annals::core {

namespace {

/// The parts of `text` between separators that no backslash escapes; escapes stay.
std::vector<std::string_view> split_unescaped(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == separator) {
            parts.push_back(text.substr(begin, i - begin));
            begin = i + 1;
        }
    }
    parts.push_back(text.substr(begin));
    return parts;
}

/// FHIR's escapes of parameter values resolved: \, \$ \| and \\; nothing for any other.
std::optional<std::string> unescape(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
            if (i == text.size() ||
                std::string_view(",$|\\").find(text[i]) == std::string_view::npos) {
                return std::nullopt;
            }
        }
        plain += text[i];
    }
    return plain;
}

Error bad_value(std::string_view name, std::string_view why) {
    return {Errc::invalid, fmt::format("search parameter '{}': {}", name, why), {}};
}

Result<IdentifierToken> parse_identifier(std::string_view text) {
    const auto parts = split_unescaped(text, '|');
    if (parts.size() > 2) {
        return bad_value("identifier", "more than one '|'");
    }
    const auto value = unescape(parts.back());
    const auto system = unescape(parts.front());
    if (!value || !system) {
        return bad_value("identifier", "unknown escape");
    }
    if (value->empty()) {
        return bad_value("identifier", "a value is needed");
    }
    IdentifierToken token;
    token.value = *value;
    if (parts.size() == 2) {
        token.system = *system;
    }
    return token;
}

Result<Criterion> parse_criterion(std::string_view name, std::string_view text) {
    Criterion criterion;
    if (text.empty()) {
        return bad_value(name, "empty value");
    }
    for (const std::string_view part : split_unescaped(text, ',')) {
        if (name == "_id") {
            if (!is_resource_id(part)) {
                return bad_value(name, "not an id");
            }
            criterion.ids.emplace_back(part);
        } else {
            ANNALS_TRY(auto token, parse_identifier(part));
            criterion.identifiers.push_back(std::move(token));
        }
    }
    return criterion;
}

bool is_about_the_answer(std::string_view name) {
    static constexpr std::array<std::string_view, 4> kNames{"_format", "_pretty", "_summary",
                                                            "_elements"};
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

bool has_identifier(const std::vector<IdentifierToken>& tokens, json::Value resource) {
    return std::any_of(tokens.begin(), tokens.end(), [&](const IdentifierToken& token) {
        return json::matches_identifier(resource, token.system, token.value);
    });
}

/// Adds `info` to the matches if its bytes match and it is not there yet.
Result<void> consider(const storage::Store& store, const Criteria& criteria,
                      const storage::VersionInfo& info, CriteriaMatches& matches) {
    thread_local json::Parser parser;
    for (const storage::StoredVersion& other : matches.found) {
        if (other.info.resource == info.resource) {
            return {};
        }
    }
    auto stored = store.load(info);
    if (!stored) {
        if (stored.error().code == Errc::not_found) {
            return {};  // Erased since the index was read.
        }
        return std::move(stored.error());
    }
    ANNALS_TRY(json::Document document, parser.parse(stored->body));
    if (matches_criteria(criteria, stored->id, document.root())) {
        matches.found.push_back(*std::move(stored));
    }
    parser.recycle(std::move(document));
    return {};
}

}  // namespace

Result<Criteria> parse_criteria(TypeId type, std::string_view query) {
    ANNALS_TRY(const Parameters parameters, parse_query(query));
    Criteria criteria{type, {}};
    for (const auto& [name, value] : parameters) {
        if (is_about_the_answer(name)) {
            continue;
        }
        if (name != "_id" && name != "identifier") {
            return Error{Errc::invalid,
                         fmt::format("search parameter '{}' is not supported in criteria", name),
                         {}};
        }
        ANNALS_TRY(auto criterion, parse_criterion(name, value));
        criteria.all.push_back(std::move(criterion));
    }
    if (criteria.all.empty()) {
        return Error{Errc::invalid, "no search criteria: at least _id or identifier is needed", {}};
    }
    return criteria;
}

Result<Criteria> parse_if_none_exist(TypeId type, std::string_view text) {
    // A '?' inside a value comes after the first '='.
    const std::size_t mark = text.find('?');
    if (mark == std::string_view::npos || mark > text.find('=')) {
        return parse_criteria(type, text);
    }
    std::string_view name = text.substr(0, mark);
    while (!name.empty() && name.back() == '/') {
        name.remove_suffix(1);
    }
    if (const std::size_t slash = name.rfind('/'); slash != std::string_view::npos) {
        name.remove_prefix(slash + 1);
    }
    if (!name.empty() && name != resource_type_name(type)) {
        return Error{Errc::invalid,
                     fmt::format("criteria name the type '{}', the request {}", name,
                                 resource_type_name(type)),
                     {}};
    }
    return parse_criteria(type, text.substr(mark + 1));
}

bool is_conditional_reference(std::string_view reference) noexcept {
    const std::size_t mark = reference.find('?');
    return mark != std::string_view::npos &&
           find_resource_type(reference.substr(0, mark)).has_value();
}

Result<Criteria> parse_conditional_reference(std::string_view reference) {
    const std::size_t mark = reference.find('?');
    const auto type = find_resource_type(reference.substr(0, mark));
    if (mark == std::string_view::npos || !type) {
        return Error{Errc::invalid, "not a conditional reference", {}};
    }
    return parse_criteria(*type, reference.substr(mark + 1));
}

bool matches_criteria(const Criteria& criteria, std::string_view id, json::Value resource) {
    return std::all_of(criteria.all.begin(), criteria.all.end(), [&](const Criterion& criterion) {
        if (!criterion.ids.empty()) {
            return std::find(criterion.ids.begin(), criterion.ids.end(), id) != criterion.ids.end();
        }
        return has_identifier(criterion.identifiers, resource);
    });
}

Result<CriteriaMatches> find_matches(const storage::Store& store, const Criteria& criteria) {
    CriteriaMatches matches;
    // Read before anything else: a change after it, seen below or not, trips the guards.
    const Position as_of = store.last_position();

    // Every match carries a term of any one identifier criterion, so one of them suffices.
    const auto by_identifier =
        std::find_if(criteria.all.begin(), criteria.all.end(),
                     [](const Criterion& criterion) { return criterion.ids.empty(); });
    if (by_identifier != criteria.all.end()) {
        for (const IdentifierToken& token : by_identifier->identifiers) {
            const std::uint64_t term = storage::identifier_term(criteria.type, token.value);
            matches.guards.push_back(
                {.type = criteria.type, .terms = {}, .as_of = as_of, .identifier = term});
            for (const storage::VersionInfo& info : store.carriers(criteria.type, term)) {
                if (matches.found.size() == kCriteriaMatchesMax) {
                    return matches;
                }
                ANNALS_TRY_VOID(consider(store, criteria, info, matches));
            }
        }
        return matches;
    }
    for (const std::string& id : criteria.all.front().ids) {
        if (const storage::Head head = store.head(criteria.type, id); head.ticket.value != 0) {
            matches.pending = head.ticket;
            return matches;
        }
        const auto info = store.current(criteria.type, id);
        if (info && !info->deletion && matches.found.size() < kCriteriaMatchesMax) {
            ANNALS_TRY_VOID(consider(store, criteria, *info, matches));
        }
    }
    return matches;
}

Error several_matches(const Criteria& criteria, std::size_t count) {
    return {Errc::multiple_matches,
            fmt::format("the criteria match {}{} {} resources",
                        count >= kCriteriaMatchesMax ? "at least " : "", count,
                        resource_type_name(criteria.type)),
            {}};
}

}  // namespace annals::core
