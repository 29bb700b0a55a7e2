#include "core/terminology/code_system.h"

#include "core/base/sort_unique.h"
#include "core/base/text.h"
#include "core/terminology/kept.h"

#include <fmt/format.h>

#include <functional>
#include <set>
#include <unordered_set>

namespace annals::terminology {

namespace {

constexpr std::size_t kKeptSystemBytesMax = 512 << 20;
constexpr std::size_t kBytesPerConcept = 160;
constexpr std::string_view kProperties = "http://hl7.org/fhir/concept-properties#";

Content content_of(json::Value root) {
    const json::Value content = root["content"];
    if (content.equals("complete")) {
        // Some claim to be complete but list nothing.
        return root["concept"].size() > 0 ? Content::complete : Content::not_present;
    }
    return content.equals("fragment")     ? Content::fragment
           : content.equals("example")    ? Content::example
           : content.equals("supplement") ? Content::supplement
                                          : Content::not_present;
}

using PropertyNameSet = std::set<std::string, std::less<>>;

/// The meaning of a code system's properties, by the names it gives them.
struct PropertyNames {
    PropertyNameSet parent{"parent", "subsumedBy"};
    PropertyNameSet child{"child"};
    PropertyNameSet inactive{"inactive"};
    PropertyNameSet status{"status"};
    PropertyNameSet not_selectable{"notSelectable"};

    explicit PropertyNames(json::Value root) {
        for (const json::Value property : root["property"].elements()) {
            const std::string uri = property["uri"].string();
            if (!uri.starts_with(kProperties)) {
                continue;
            }
            const std::string_view what = std::string_view(uri).substr(kProperties.size());
            PropertyNameSet* const names = what == "parent" || what == "subsumedBy" ? &parent
                                           : what == "child"                        ? &child
                                           : what == "inactive"                     ? &inactive
                                           : what == "status"                       ? &status
                                           : what == "notSelectable" ? &not_selectable
                                                                     : nullptr;
            if (names != nullptr) {
                names->insert(property["code"].string());
            }
        }
    }
};

bool says(const PropertyNameSet& names, json::Value name) {
    return name.is_string() && (name.node().escaped ? names.contains(name.string())
                                                    : names.contains(name.raw_string()));
}

}  // namespace

std::string property_text(json::Value property) {
    for (const auto [key, value] : property.members()) {
        if (key.raw_string().starts_with("value")) {
            return value.is_object()   ? value["code"].string()
                   : value.is_string() ? value.string()
                                       : std::string(value.raw());
        }
    }
    return {};
}

void CodeSystem::Edges::make(std::vector<Edge>& edges, std::size_t concepts) {
    sort_unique(edges);
    first.assign(concepts + 1, 0);
    others.reserve(edges.size());
    for (const auto& [from, to] : edges) {
        ++first[from + 1];
        others.push_back(to);
    }
    for (std::size_t i = 0; i < concepts; ++i) {
        first[i + 1] += first[i];
    }
}

CodeSystem::CodeSystem(Definition definition) : definition_(std::move(definition)) {
    url_ = characters_of(root()["url"], texts_);
    version_ = characters_of(root()["version"], texts_);
    content_ = content_of(root());
    ignores_case_ = root()["caseSensitive"].raw() == "false";
}

Result<CodeSystemPointer> CodeSystem::make(Definition definition, Effort& effort) {
    ANNALS_TRY_VOID(effort.spend(definition->nodes().size() / 4));
    std::shared_ptr<CodeSystem> made(new CodeSystem(std::move(definition)));
    std::vector<Edge> below;
    if (made->content() != Content::supplement) {
        ANNALS_TRY_VOID(made->add(made->root()["concept"], {}, 0, below, effort));
    }
    made->read_properties(below);
    made->children_.make(below, made->concepts_.size());
    for (Edge& edge : below) {
        std::swap(edge.first, edge.second);
    }
    made->parents_.make(below, made->concepts_.size());
    made->bytes_ = bytes_of(*made->definition_) + made->concepts_.size() * kBytesPerConcept +
                   sizeof(CodeSystem);
    return CodeSystemPointer(made);
}

Result<void> CodeSystem::add(json::Value concepts, std::optional<Number> parent, std::size_t depth,
                             std::vector<Edge>& below, Effort& effort) {
    if (depth > kJsonDepthMax) {
        return {};
    }
    for (const json::Value item : concepts.elements()) {
        const json::Value code = item["code"];
        if (!code.is_string()) {
            continue;
        }
        if (concepts_.size() >= kConceptsMax) {
            return Error{
                Errc::answer_too_costly,
                fmt::format("The code system {} has more than {} concepts", url_, kConceptsMax)};
        }
        ANNALS_TRY_VOID(effort.spend());
        const std::string_view text = characters_of(code, texts_);
        const std::string_view key =
            ignores_case_ ? std::string_view(texts_.emplace_back(ascii_lower(text))) : text;
        const auto number = static_cast<Number>(concepts_.size());
        const auto [known, is_new] = by_code_.try_emplace(key, number);
        if (is_new) {
            concepts_.push_back({text, characters_of(item["display"], texts_), item, false, false});
        }
        if (parent) {
            below.emplace_back(*parent, known->second);
        }
        const Number own = known->second;
        ANNALS_TRY_VOID(add(item["concept"], own, depth + 1, below, effort));
    }
    return {};
}

void CodeSystem::read_properties(std::vector<Edge>& below) {
    const PropertyNames names(root());
    for (Number number = 0; number < concepts_.size(); ++number) {
        Concept& own = concepts_[number];
        for (const json::Value property : own.item["property"].elements()) {
            const json::Value name = property["code"];
            if (says(names.parent, name)) {
                if (const auto other = find(property_text(property))) {
                    below.emplace_back(*other, number);
                }
            } else if (says(names.child, name)) {
                if (const auto other = find(property_text(property))) {
                    below.emplace_back(number, *other);
                }
            } else if (says(names.inactive, name)) {
                own.inactive = own.inactive || property_text(property) == "true";
            } else if (says(names.status, name)) {
                const std::string status = property_text(property);
                own.inactive = own.inactive || status == "inactive" || status == "retired";
            } else if (says(names.not_selectable, name)) {
                own.is_abstract = property_text(property) == "true";
            }
        }
    }
}

std::optional<CodeSystem::Number> CodeSystem::find(std::string_view code) const {
    const auto found = by_code_.find(ignores_case_ ? std::string_view(ascii_lower(code)) : code);
    return found == by_code_.end() ? std::nullopt : std::optional(found->second);
}

Result<bool> CodeSystem::is_below(Number number, Number ancestor, Effort& effort) const {
    if (number == ancestor) {
        return true;
    }
    // Most concepts have at most one parent, and then no visited set is needed.
    for (std::size_t steps = 0; parents_.of(number).size() == 1 && steps < kJsonDepthMax; ++steps) {
        ANNALS_TRY_VOID(effort.spend());
        number = parents_.of(number).front();
        if (number == ancestor) {
            return true;
        }
    }
    std::unordered_set<Number> seen{number};
    std::vector<Number> todo{number};
    while (!todo.empty()) {
        const Number at = todo.back();
        todo.pop_back();
        ANNALS_TRY_VOID(effort.spend(1 + parents_.of(at).size()));
        for (const Number other : parents_.of(at)) {
            if (other == ancestor) {
                return true;
            }
            if (seen.insert(other).second) {
                todo.push_back(other);
            }
        }
    }
    return false;
}

Result<std::vector<CodeSystem::Number>> CodeSystem::reached(Number number, bool upwards,
                                                            Effort& effort) const {
    // So many flags are cleared in the time of a step.
    constexpr std::size_t kFlagsPerStep = 4096;
    const Edges& edges = upwards ? parents_ : children_;
    ANNALS_TRY_VOID(effort.spend(concepts_.size() / kFlagsPerStep));
    std::vector<bool> seen(concepts_.size());
    seen[number] = true;
    std::vector<Number> reached{number};
    for (std::size_t i = 0; i < reached.size(); ++i) {
        const Number at = reached[i];
        ANNALS_TRY_VOID(effort.spend(1 + edges.of(at).size()));
        for (const Number other : edges.of(at)) {
            if (!seen[other]) {
                seen[other] = true;
                reached.push_back(other);
            }
        }
    }
    std::ranges::sort(reached);
    return reached;
}

Result<CodeSystemPointer> code_system_of(const Definition& definition, Effort& effort) {
    static Kept<CodeSystem> kept(kKeptSystemBytesMax);
    if (CodeSystemPointer known = kept.find(definition)) {
        return known;
    }
    ANNALS_TRY(CodeSystemPointer made, CodeSystem::make(definition, effort));
    kept.keep(definition, made, made->bytes());
    return made;
}

}  // namespace annals::terminology
