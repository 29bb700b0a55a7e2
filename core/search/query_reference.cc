#include "core/base/ids.h"
#include "core/canonical.h"
#include "core/search/canonical_links.h"
#include "core/search/reading.h"

#include <algorithm>
#include <optional>

namespace annals::core::search {

namespace {

Term term_for(const Asked& asked, TypeId type, std::string_view id) {
    return reference(asked.parameter.column, asked.reading.context.stored.key(type, id));
}

// Adds the terms of references to the resource. Without a configured base URL, absolute references are indexed as written.
void add_terms(const Asked& asked, TypeId type, std::string_view id, std::string_view version,
               std::vector<Term>& terms) {
    const std::string& base = asked.reading.context.base_url;
    std::string url = base;
    url.append("/").append(resource_type_name(type)).append("/").append(id);
    if (version.empty()) {
        terms.push_back(term_for(asked, type, id));
    } else {
        // With a version, it is indexed from its type on.
        url.append("/_history/").append(version);
        terms.push_back(
            exact(asked.parameter.column, std::string_view(url).substr(base.size() + 1)));
    }
    if (!base.empty()) {
        terms.push_back(exact(asked.parameter.column, url));
    }
}

Plan by_name(const Asked& asked, TypeId type, std::string_view id, std::string_view version) {
    std::vector<Term> terms;
    add_terms(asked, type, id, version, terms);
    return carrying(std::move(terms));
}

// A reference without its type.
struct BareReference {
    std::string_view id;
    std::string_view version;  ///< empty if there is none
};

// Reads `id` and `id/_history/version`.
std::optional<BareReference> read_bare(std::string_view text) {
    static constexpr std::string_view kHistory = "/_history/";
    const std::size_t history = text.find(kHistory);
    BareReference bare{text.substr(0, history), {}};
    if (history != std::string_view::npos) {
        bare.version = text.substr(history + kHistory.size());
        if (!is_resource_id(bare.version)) {
            return std::nullopt;
        }
    }
    return is_resource_id(bare.id) ? std::optional(bare) : std::nullopt;
}

// A bare id may belong to any type that the parameter can refer to.
Result<Plan> by_id(const Asked& asked, const BareReference& bare) {
    std::vector<Term> terms;
    for (const TypeId type : targets_of(asked.parameter)) {
        add_terms(asked, type, bare.id, bare.version, terms);
    }
    ANNALS_TRY_VOID(asked.reading.spend(terms.size()));
    return carrying(std::move(terms));
}

// How many levels of parts `:above` and `:below` follow.
constexpr std::size_t kHierarchyLevels = 10;
// How many conditions that counts for: each level is a step of its own, with several plans.
constexpr std::size_t kHierarchyConditions = 100;

// The parameter by which resources of a type are parts of others of the same type.
const Parameter* part_of(const Asked& asked, TypeId type) {
    for (const std::string_view code : {"partof", "part-of"}) {
        const Parameter* parameter = asked.reading.context.parameters->find_usable(type, code);
        if (parameter != nullptr && parameter->type == schema::SearchType::reference &&
            std::ranges::find(parameter->targets, type) != parameter->targets.end()) {
            return parameter;
        }
    }
    return nullptr;
}

// Matches references to the resource and to its parts (`:below`) or to what it is a part of (`:above`).
Plan through_parts(const Asked& asked, const Parameter& part, TypeId type, std::string_view id) {
    const std::uint64_t key = asked.reading.context.stored.key(type, id);
    // The first level is its parts (below), or what it is a part of (above).
    Plan near = asked.modifier == "below" ? nothing() : carrying({identity(key)});
    for (std::size_t level = 0; level < kHierarchyLevels; ++level) {
        Plan further = asked.reading.linked(type, std::move(near));
        near = asked.modifier == "below"
                   ? any_of(carrying({reference(part.column, key)}),
                            chain(part.column, type, std::move(further)))
                   : any_of(carrying({identity(key)}), has(part.column, type, std::move(further)));
    }
    return any_of(by_name(asked, type, id, {}),
                  chain(asked.parameter.column, type, asked.reading.linked(type, std::move(near))));
}

// search.html#recursive: for types whose resources can be parts of each other.
Result<Plan> by_hierarchy(const Asked& asked, std::string_view text) {
    const auto local = read_local(text, asked.reading.context.base_url);
    if (local ? !local->version.empty() : !is_resource_id(text)) {
        // A resource has parts or is one, not a version.
        return asked.bad("an id or Type/id is needed, without a version");
    }
    std::vector<Plan> plans;
    for (const TypeId type : targets_of(asked.parameter)) {
        const Parameter* part = part_of(asked, type);
        if (part != nullptr && (!local || local->type == type)) {
            ANNALS_TRY_VOID(asked.reading.spend(kHierarchyConditions));
            plans.push_back(through_parts(asked, *part, type, local ? local->id : text));
        }
    }
    if (plans.empty()) {
        return asked.bad("the types it refers to have no hierarchy");
    }
    return any_of(std::move(plans));
}

bool is_canonical(schema::Element element) {
    return element.type().name() == "canonical";
}

// Whether an absolute reference may be a canonical: what has a hierarchy of parts has no canonical URL.
bool may_be_canonical(const LocalReference& local) {
    return local.version.empty() && may_be_named(local.type);
}

// Whether `own` is `asked` or a version within it: `url|1` covers `url|1` and `url|1.0`, but not `url|10`.
bool is_within(std::string_view own, std::string_view asked) {
    static constexpr std::string_view kSeparators = ".-+";
    return own.starts_with(asked) &&
           (own.size() == asked.size() ||
            kSeparators.find(own[asked.size()]) != std::string_view::npos);
}

// search.html#versions: a canonical in any version, or in those that begin with the given one.
Result<Plan> by_canonical(const Asked& asked, std::string text) {
    const Canonical named = split_canonical(text);
    Plan in_any_version = carrying({exact(asked.parameter.column, named.url)});
    if (named.version.empty()) {
        // Below the server's own base, one without a version is indexed as a reference to the resource.
        const auto local = read_local(named.url, asked.reading.context.base_url);
        return local ? by_name(asked, local->type, local->id, {}) : in_any_version;
    }
    return with_value(asked, std::move(in_any_version),
                      [text = std::move(text)](json::Value value) {
                          const json::Value own = value.is_string() ? value : value["reference"];
                          return is_within(own.string(), text);
                      });
}

}  // namespace

// search.html#reference
Result<Plan> reference_plan(const Asked& asked, std::string_view value) {
    const Column column = asked.parameter.column;
    if (asked.modifier == "identifier") {
        return token_in(asked, beside(column, ":identifier"), value);
    }
    auto text = unescape(value);
    if (!text) {
        return asked.bad("unknown escape");
    }
    if (const Links& links = asked.reading.context.links) {
        text = links(*text).value_or(*std::move(text));
    }
    const auto local = read_local(*text, asked.reading.context.base_url);
    const bool is_url = text->find(':') != std::string::npos;
    if (asked.modifier == "below" && is_url && (!local || may_be_canonical(*local)) &&
        finds_element(asked, is_canonical)) {
        return by_canonical(asked, *std::move(text));
    }
    if (asked.modifier == "above" || asked.modifier == "below") {
        return by_hierarchy(asked, *text);
    }
    const auto bare = read_bare(*text);
    if (!asked.modifier.empty()) {
        ANNALS_TRY(const TypeId type, type_in_modifier(asked));
        if (local && local->type == type) {
            return by_name(asked, type, local->id, local->version);
        }
        if (local || !bare) {
            return asked.bad("an id is needed");
        }
        return by_name(asked, type, bare->id, bare->version);
    }
    if (local) {
        return by_name(asked, local->type, local->id, local->version);
    }
    if (bare) {
        return by_id(asked, *bare);
    }
    // References to elsewhere, and canonicals, are found as written.
    if (!is_url) {
        return asked.bad("an id, Type/id or an absolute URL is needed");
    }
    return carrying({exact(column, *text)});
}

}  // namespace annals::core::search
