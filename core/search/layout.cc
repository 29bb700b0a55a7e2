#include "core/search/layout.h"

#include "core/base/digest.h"
#include "core/search/walk.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace annals::core::search {

namespace {

using schema::SearchType;

/// How many sets' layouts a thread keeps: a process serves one store, tests several.
constexpr std::size_t kSetsMax = 4;

/// Empty if the expression is more than paths.
std::vector<Path> read_paths(const std::string& expression, schema::Type context) {
    const auto parsed = fhirpath::Expression::parse(expression);
    auto paths = parsed ? paths_of(*parsed, context) : std::optional<std::vector<Path>>();
    return std::move(paths).value_or(std::vector<Path>());
}

bool contains(const std::vector<Path>& paths, const Path& path) {
    return std::ranges::find(paths, path) != paths.end();
}

/// The layouts of one set, made when first used.
class Layouts {
  public:
    explicit Layouts(std::shared_ptr<const ParameterSet> set) : set_(std::move(set)) {}

    const std::shared_ptr<const ParameterSet>& set() const noexcept { return set_; }

    const Layout& of(TypeId type, const Parameter& parameter) {
        const auto [known, is_new] = layouts_.try_emplace(&parameter);
        if (is_new) {
            known->second.parts = parts_of(type, parameter);
            if (parameter.type == SearchType::composite && known->second.parts.empty()) {
                known->second.composite = composite_of(type, parameter);
            }
        }
        return known->second;
    }

  private:
    const std::vector<Path>& paths(TypeId type, const Parameter& parameter) {
        const auto [known, is_new] = paths_.try_emplace(&parameter);
        if (is_new) {
            known->second = read_paths(parameter.expression, schema::Type(type));
        }
        return known->second;
    }

    // Parameters for sorting or links need columns of their own; custom ones may change.
    static bool may_have_parts(const Parameter& parameter) {
        return parameter.standard &&
               (parameter.type == SearchType::token || parameter.type == SearchType::quantity ||
                parameter.type == SearchType::composite);
    }

    static bool is_alike(const Parameter& a, const Parameter& b) {
        const auto same = [](const Parameter::Component& one, const Parameter::Component& other) {
            return one.parameter->type == other.parameter->type &&
                   one.expression == other.expression;
        };
        return b.standard && a.type == b.type &&
               std::ranges::equal(a.components, b.components, same);
    }

    std::vector<const Parameter*> parts_of(TypeId type, const Parameter& parameter) {
        std::vector<const Parameter*> parts;
        if (!may_have_parts(parameter)) {
            return parts;
        }
        const std::vector<Path> all = paths(type, parameter);
        std::vector<Path> left = all.size() > 1 ? all : std::vector<Path>();
        for (const Parameter& other : set_->of(type)) {
            if (left.empty()) {
                break;
            }
            if (!is_alike(parameter, other)) {
                continue;
            }
            // Parts must have fewer paths, so that the recursion ends.
            const std::vector<Path>& own = paths(type, other);
            const auto is_left = [&](const Path& path) { return contains(left, path); };
            if (own.size() < all.size() && std::ranges::any_of(own, is_left) &&
                std::ranges::all_of(own, [&](const Path& path) { return contains(all, path); })) {
                parts.push_back(&other);
                std::erase_if(left, [&](const Path& path) { return contains(own, path); });
            }
        }
        if (!left.empty()) {
            parts.clear();
        }
        return parts;
    }

    std::optional<CompositePaths> composite_of(TypeId type, const Parameter& parameter) {
        const auto& components = parameter.components;
        const auto key = std::ranges::find_if(components, [](const auto& component) {
            return component.parameter->type == SearchType::token;
        });
        const std::vector<Path>& elements = paths(type, parameter);
        if (components.size() != 2 || key == components.end() || elements.size() != 1) {
            return std::nullopt;
        }
        CompositePaths composite;
        composite.element = elements.front();
        composite.type = schema::Type(type);
        for (const Step& step : composite.element.steps) {
            const auto found = composite.type.find_base(step.name);
            if (found.size() != 1 || step.only) {
                return std::nullopt;
            }
            composite.type = found[0].type();
        }
        composite.key = static_cast<std::size_t>(key - components.begin());
        const Parameter::Component& value = components[1 - composite.key];
        composite.keys = read_paths(key->expression, composite.type);
        composite.values = read_paths(value.expression, composite.type);
        composite.value_type = value.parameter->type;
        Pairs unused(parameter.column);
        const bool walks = !composite.keys.empty() && !composite.values.empty() &&
                           Walk(schema::Type(type)).add(composite, unused);
        return walks ? std::optional(std::move(composite)) : std::nullopt;
    }

    std::shared_ptr<const ParameterSet> set_;
    std::unordered_map<const Parameter*, std::vector<Path>> paths_;
    std::unordered_map<const Parameter*, Layout> layouts_;
};

}  // namespace

const Layout& layout_of(const std::shared_ptr<const ParameterSet>& set, TypeId type,
                        const Parameter& parameter) {
    thread_local std::vector<std::unique_ptr<Layouts>> kept;
    for (const auto& layouts : kept) {
        if (layouts->set() == set) {
            return layouts->of(type, parameter);
        }
    }
    if (kept.size() >= kSetsMax) {
        kept.erase(kept.begin());
    }
    return kept.emplace_back(std::make_unique<Layouts>(set))->of(type, parameter);
}

Term paired(Term key, Term value) noexcept {
    return hash64({reinterpret_cast<const char*>(&value), sizeof value}, key);
}

}  // namespace annals::core::search
