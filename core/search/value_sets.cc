#include "core/search/value_sets.h"

#include "codec/schema/schema.h"
#include "core/base/ids.h"
#include "core/canonical.h"
#include "core/search/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <set>
#include <unordered_map>

namespace annals::core::search {

namespace {

constexpr std::size_t kValueSetDepthMax = 16;
constexpr std::size_t kValueSetsMax = 200;  // that one refers to, all in all
constexpr std::size_t kConceptsMax = 500'000;

using Codes = std::vector<std::string>;

Error invalid(std::string detail) {
    return {Errc::invalid, std::move(detail), {}};
}

Error unsupported(std::string detail) {
    return {Errc::not_supported, std::move(detail), {}};
}

Error too_many() {
    return {Errc::too_costly, fmt::format("more than {} codes", kExpansionMax), {}};
}

/// A stored CodeSystem's concepts, and which stand above which.
class Hierarchy {
  public:
    static Result<Hierarchy> of(StoredDocument document) {
        Hierarchy hierarchy(std::move(document));
        hierarchy.read_relations();
        ANNALS_TRY_VOID(hierarchy.add(hierarchy.document_->root()["concept"], {}, 0));
        hierarchy.connect();
        return hierarchy;
    }

    const StoredDocument& document() const { return document_; }

    bool is_complete() const { return document_->root()["content"].equals("complete"); }

    bool knows(std::string_view code) const { return concepts_.contains(std::string(code)); }

    const std::unordered_map<std::string, json::Value>& concepts() const { return concepts_; }

    /// `code` and all that can be reached from it upwards or downwards.
    Codes reached(std::string_view code, bool upwards) const {
        const auto& next = upwards ? parents_ : children_;
        std::set<std::string> seen{std::string(code)};
        Codes todo{std::string(code)};
        while (!todo.empty()) {
            const std::string at = std::move(todo.back());
            todo.pop_back();
            const auto found = next.find(at);
            if (found == next.end()) {
                continue;
            }
            for (const std::string& other : found->second) {
                if (seen.insert(other).second) {
                    todo.push_back(other);
                }
            }
        }
        return {seen.begin(), seen.end()};
    }

  private:
    explicit Hierarchy(StoredDocument document) : document_(std::move(document)) {}

    // What the code system calls the properties that say parent and child.
    void read_relations() {
        static constexpr std::string_view kProperties = "http://hl7.org/fhir/concept-properties#";
        for (const json::Value property : document_->root()["property"].elements()) {
            const std::string uri = property["uri"].string();
            if (!uri.starts_with(kProperties)) {
                continue;
            }
            const std::string code = property["code"].string();
            if (uri.ends_with("#parent")) {
                parent_names_.push_back(code);
            } else if (uri.ends_with("#child")) {
                child_names_.push_back(code);
            }
        }
    }

    Result<void> add(json::Value concepts, const std::string& parent, std::size_t depth) {
        if (depth > kJsonDepthMax) {
            return {};
        }
        for (const json::Value item : concepts.elements()) {
            if (concepts_.size() >= kConceptsMax) {
                return Error{Errc::too_costly,
                             fmt::format("the code system has more than {} codes", kConceptsMax),
                             {}};
            }
            const std::string code = item["code"].string();
            concepts_.emplace(code, item);
            if (!parent.empty()) {
                relate(parent, code);
            }
            ANNALS_TRY_VOID(add(item["concept"], code, depth + 1));
        }
        return {};
    }

    void connect() {
        for (const auto& [code, item] : concepts_) {
            for (const json::Value property : item["property"].elements()) {
                const std::string name = property["code"].string();
                std::string other = property["valueCode"].string();
                if (other.empty()) {
                    other = property["valueCoding"]["code"].string();
                }
                if (other.empty()) {
                    continue;
                }
                if (says(parent_names_, name)) {
                    relate(other, code);
                } else if (says(child_names_, name)) {
                    relate(code, other);
                }
            }
        }
    }

    static bool says(const Codes& names, std::string_view name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    }

    void relate(const std::string& parent, const std::string& child) {
        parents_[child].push_back(parent);
        children_[parent].push_back(child);
    }

    StoredDocument document_;
    Codes parent_names_{"parent"};
    Codes child_names_{"child"};
    std::unordered_map<std::string, json::Value> concepts_;
    std::unordered_map<std::string, Codes> parents_;
    std::unordered_map<std::string, Codes> children_;
};

/// What was made of the code systems that were asked for last. Threads: any.
class Hierarchies {
  public:
    Result<std::shared_ptr<const Hierarchy>> of(const StoredDocument& document) {
        {
            const std::lock_guard lock(mutex_);
            const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const auto& kept) {
                return kept->document() == document;
            });
            if (found != kept_.end()) {
                kept_.splice(kept_.begin(), kept_, found);
                return *found;
            }
        }
        ANNALS_TRY(Hierarchy hierarchy, Hierarchy::of(document));
        auto made = std::make_shared<const Hierarchy>(std::move(hierarchy));
        const std::lock_guard lock(mutex_);
        kept_.push_front(made);
        if (kept_.size() > kKeptMax) {
            kept_.pop_back();
        }
        return made;
    }

  private:
    static constexpr std::size_t kKeptMax = 8;

    std::mutex mutex_;
    std::list<std::shared_ptr<const Hierarchy>> kept_;  // guarded by mutex_; used last comes first
};

using KnownHierarchy = std::shared_ptr<const Hierarchy>;  // null: not stored

Result<KnownHierarchy> find_code_system(const StoredResources& stored, std::string_view system,
                                        std::string_view version) {
    const Canonical name = split_canonical(system);
    ANNALS_TRY(StoredDocument document, stored.find(*find_resource_type("CodeSystem"), name.url,
                                                    version.empty() ? name.version : version));
    if (!document) {
        return KnownHierarchy();
    }
    static Hierarchies hierarchies;
    return hierarchies.of(document);
}

Result<Codes> reached(const StoredResources& stored, std::string_view system, std::string_view code,
                      bool upwards) {
    ANNALS_TRY(const auto hierarchy, find_code_system(stored, system, {}));
    if (!hierarchy) {
        return invalid(fmt::format("the code system '{}' is not stored here", shown(system)));
    }
    Codes codes = hierarchy->reached(code, upwards);
    if (codes.size() > kExpansionMax) {
        return too_many();
    }
    return codes;
}

// ---- compose ----

std::string property_text(json::Value property) {
    for (const auto [key, value] : property.members()) {
        if (!key.raw_string().starts_with("value")) {
            continue;
        }
        return value.is_object()   ? value["code"].string()
               : value.is_string() ? value.string()
                                   : std::string(value.raw());
    }
    return {};
}

bool is_one_of(std::string_view list, std::string_view text) {
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        std::string_view item = list.substr(0, comma);
        while (item.starts_with(' ')) {
            item.remove_prefix(1);
        }
        while (item.ends_with(' ')) {
            item.remove_suffix(1);
        }
        if (item == text) {
            return true;
        }
        list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    }
    return false;
}

/// Whether the concept has a value of the property as the operator says.
bool has_property(json::Value item, std::string_view property, std::string_view op,
                  std::string_view value) {
    const auto holds = [&](std::string_view own) {
        return op == "=" ? own == value : is_one_of(value, own);
    };
    if (property == "code" || property == "concept") {
        return holds(item["code"].string());
    }
    if (property == "display") {
        return holds(item["display"].string());
    }
    for (const json::Value own : item["property"].elements()) {
        if (own["code"].equals(property) && (op == "exists" || holds(property_text(own)))) {
            return true;
        }
    }
    return false;
}

/// The codes that pass one filter of an include.
Result<std::set<std::string>> pass(const Hierarchy& hierarchy, json::Value filter) {
    const std::string property = filter["property"].string();
    const std::string op = filter["op"].string();
    const std::string value = filter["value"].string();
    std::set<std::string> passed;
    const auto take_if = [&](auto&& holds) {
        for (const auto& [code, item] : hierarchy.concepts()) {
            if (holds(code, item)) {
                passed.insert(code);
            }
        }
    };
    if (op == "is-a" || op == "descendent-of" || op == "is-not-a" || op == "generalizes") {
        const Codes reached = hierarchy.reached(value, op == "generalizes");
        std::set<std::string> near(reached.begin(), reached.end());
        if (op == "is-not-a") {
            take_if([&](const std::string& code, json::Value) { return !near.contains(code); });
            return passed;
        }
        if (op == "descendent-of") {
            near.erase(value);
        }
        return near;
    }
    if (op == "=" || op == "in" || op == "not-in" || op == "exists") {
        const bool wanted = op != "not-in" && !(op == "exists" && value == "false");
        take_if([&](const std::string&, json::Value item) {
            return has_property(item, property, op, value) == wanted;
        });
        return passed;
    }
    return unsupported(fmt::format("the filter '{} {}' of a value set", property, op));
}

struct Expander {
    const StoredResources& stored;
    std::size_t depth = 0;
    std::size_t looked_up = 0;

    Result<Expansion> value_set(std::string_view name);
    Result<Expansion> composed(json::Value root);
    Result<Expansion> included(json::Value include);
    Result<Expansion> of_system(json::Value include, const std::string& system);
};

Result<void> tidy(Expansion& expansion) {
    auto& codes = expansion.codes;
    std::sort(codes.begin(), codes.end());
    codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
    auto& systems = expansion.systems;
    std::sort(systems.begin(), systems.end());
    systems.erase(std::unique(systems.begin(), systems.end()), systems.end());
    if (codes.size() > kExpansionMax) {
        return too_many();
    }
    return {};
}

bool has_system(const Expansion& expansion, const std::string& system) {
    return std::binary_search(expansion.systems.begin(), expansion.systems.end(), system);
}

bool has_code(const Expansion& expansion, const Coding& coding) {
    return has_system(expansion, coding.system) ||
           std::binary_search(expansion.codes.begin(), expansion.codes.end(), coding);
}

/// What is in both. Requires: tidy ones.
Expansion intersection(const Expansion& a, const Expansion& b) {
    Expansion both;
    for (const Coding& coding : a.codes) {
        if (has_code(b, coding)) {
            both.codes.push_back(coding);
        }
    }
    for (const Coding& coding : b.codes) {
        if (has_system(a, coding.system)) {
            both.codes.push_back(coding);
        }
    }
    std::set_intersection(a.systems.begin(), a.systems.end(), b.systems.begin(), b.systems.end(),
                          std::back_inserter(both.systems));
    return both;
}

void add_expansion(json::Value contains, std::size_t depth, Expansion& out) {
    if (depth > kJsonDepthMax || out.codes.size() > kExpansionMax) {
        return;
    }
    for (const json::Value item : contains.elements()) {
        if (item["code"] && item["abstract"].raw() != "true") {
            out.codes.push_back({item["system"].string(), item["code"].string()});
        }
        add_expansion(item["contains"], depth + 1, out);
    }
}

Result<Expansion> Expander::of_system(json::Value include, const std::string& system) {
    Expansion out;
    if (const json::Value concepts = include["concept"]) {
        for (const json::Value item : concepts.elements()) {
            if (out.codes.size() > kExpansionMax) {
                return too_many();
            }
            out.codes.push_back({system, item["code"].string()});
        }
        return out;
    }
    ANNALS_TRY(const auto hierarchy, find_code_system(stored, system, include["version"].string()));
    const json::Value filters = include["filter"];
    if (!hierarchy || (!hierarchy->is_complete() && !filters)) {
        if (filters) {
            return invalid(fmt::format("the code system '{}' is not stored here", shown(system)));
        }
        out.systems.push_back(system);
        return out;
    }
    std::optional<std::set<std::string>> passed;
    for (const json::Value filter : filters.elements()) {
        ANNALS_TRY(std::set<std::string> more, pass(*hierarchy, filter));
        if (passed) {
            std::erase_if(more, [&](const std::string& code) { return !passed->contains(code); });
        }
        passed = std::move(more);
    }
    const auto take = [&](const std::string& code) {
        out.codes.push_back({system, code});
        return out.codes.size() <= kExpansionMax;
    };
    if (passed) {
        for (const std::string& code : *passed) {
            if (hierarchy->knows(code) && !take(code)) {
                return too_many();
            }
        }
        return out;
    }
    for (const auto& [code, item] : hierarchy->concepts()) {
        if (!take(code)) {
            return too_many();
        }
    }
    return out;
}

Result<Expansion> Expander::included(json::Value include) {
    std::optional<Expansion> all;
    const auto take = [&](Expansion part) -> Result<void> {
        ANNALS_TRY_VOID(tidy(part));
        all = all ? intersection(*all, part) : std::move(part);
        return tidy(*all);
    };
    if (const std::string system = include["system"].string(); !system.empty()) {
        ANNALS_TRY(Expansion part, of_system(include, system));
        ANNALS_TRY_VOID(take(std::move(part)));
    }
    for (const json::Value name : include["valueSet"].elements()) {
        ANNALS_TRY(Expansion part, value_set(name.string()));
        ANNALS_TRY_VOID(take(std::move(part)));
    }
    return all ? *std::move(all) : Expansion();
}

Result<Expansion> Expander::composed(json::Value root) {
    Expansion out;
    const json::Value compose = root["compose"];
    if (!compose) {
        if (!root["expansion"]) {
            return invalid("the value set lists no codes");
        }
        add_expansion(root["expansion"]["contains"], 0, out);
        ANNALS_TRY_VOID(tidy(out));
        return out;
    }
    for (const json::Value include : compose["include"].elements()) {
        ANNALS_TRY(Expansion part, included(include));
        std::move(part.codes.begin(), part.codes.end(), std::back_inserter(out.codes));
        std::move(part.systems.begin(), part.systems.end(), std::back_inserter(out.systems));
        ANNALS_TRY_VOID(tidy(out));
    }
    for (const json::Value exclude : compose["exclude"].elements()) {
        ANNALS_TRY(const Expansion part, included(exclude));
        for (const Coding& coding : part.codes) {
            if (has_system(out, coding.system)) {
                return unsupported(
                    fmt::format("a value set that excludes codes of '{}', which is not stored here",
                                coding.system));
            }
        }
        std::erase_if(out.codes, [&](const Coding& coding) { return has_code(part, coding); });
        std::erase_if(out.systems,
                      [&](const std::string& system) { return has_system(part, system); });
    }
    return out;
}

Result<Expansion> Expander::value_set(std::string_view name) {
    if (depth >= kValueSetDepthMax || ++looked_up > kValueSetsMax) {
        return Error{Errc::too_costly, "the value set refers to too many others", {}};
    }
    const TypeId type = *find_resource_type("ValueSet");
    const Canonical canonical = split_canonical(name);
    static constexpr std::string_view kRelative = "ValueSet/";
    StoredDocument document;
    if (name.starts_with(kRelative) && is_resource_id(name.substr(kRelative.size()))) {
        ANNALS_TRY(document, stored.read(type, name.substr(kRelative.size())));
    } else {
        ANNALS_TRY(document, stored.find(type, canonical.url, canonical.version));
    }
    if (document) {
        ++depth;
        auto expansion = composed(document->root());
        --depth;
        return expansion;
    }
    const schema::ValueSet own = schema::find_value_set(canonical.url);
    if (!own || !own.enumerated()) {
        return invalid(fmt::format("the value set '{}' is not known here", shown(name)));
    }
    Expansion expansion;
    for (std::size_t i = 0; i < own.size(); ++i) {
        expansion.codes.push_back({std::string(own[i].system), std::string(own[i].code)});
    }
    ANNALS_TRY_VOID(tidy(expansion));
    return expansion;
}

}  // namespace

Result<Expansion> expand(const StoredResources& stored, std::string_view name) {
    return Expander{stored}.value_set(name);
}

Result<Codes> codes_above(const StoredResources& stored, std::string_view system,
                          std::string_view code) {
    return reached(stored, system, code, true);
}

Result<Codes> codes_below(const StoredResources& stored, std::string_view system,
                          std::string_view code) {
    return reached(stored, system, code, false);
}

}  // namespace annals::core::search
