#include "core/search/extract.h"
#include "core/search/reading.h"

#include <fmt/format.h>

#include <memory>

namespace annals::core::search {

namespace {

// A composite of elements that there can be several of: that its parts hold says nothing of whether they hold of one
// element, so each is looked at by itself.
class Alignment {
  public:
    Alignment(const Asked& asked, std::vector<Plan> parts)
        : parameters_(asked.reading.context.parameters),
          parameter_(asked.parameter),
          type_(asked.type),
          parts_(std::move(parts)),
          // Keys of references must be the index's own; a composite has none of them but through a component.
          extractor_(parameters_, asked.reading.context.stored.seed(),
                     asked.reading.context.base_url) {}

    bool holds(json::Value resource) {
        for (const auto& element : extractor_.extract_composite(parameter_, type_, resource)) {
            bool all = element.size() == parts_.size();
            for (std::size_t i = 0; all && i < parts_.size(); ++i) {
                all = matches(parts_[i], element[i], resource);
            }
            if (all) {
                return true;
            }
        }
        return false;
    }

  private:
    std::shared_ptr<const ParameterSet> parameters_;
    const Parameter& parameter_;
    TypeId type_;
    std::vector<Plan> parts_;
    Extractor extractor_;
};

}  // namespace

Plan composite_of(const Asked& asked, std::vector<Plan> parts) {
    Plan candidates = all_of(parts);
    // Where the element is the resource itself there is one only.
    if (asked.parameter.expression == resource_type_name(asked.type)) {
        return candidates;
    }
    auto alignment = std::make_shared<Alignment>(asked, std::move(parts));
    return verified(std::move(candidates),
                    [alignment](json::Value resource) { return alignment->holds(resource); });
}

// search.html#composite: the parts between `$`, each as its own type has it.
Result<Plan> composite_plan(const Asked& asked, std::string_view value) {
    if (!asked.modifier.empty()) {
        return asked.unsupported();
    }
    const auto texts = split_unescaped(value, '$');
    const auto& components = asked.parameter.components;
    if (texts.size() != components.size()) {
        return asked.bad(
            fmt::format("{} values with '$' between them are needed", components.size()));
    }
    std::vector<Plan> parts;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (texts[i].empty()) {
            return asked.bad("a value is needed before and after every '$'");
        }
        ANNALS_TRY_VOID(asked.reading.spend());
        const Asked part{asked.reading, asked.type, *components[i].parameter,
                         asked.name,    {},         asked.depth};
        ANNALS_TRY(Plan plan, value_plan(part, texts[i]));
        parts.push_back(std::move(plan));
    }
    return composite_of(asked, std::move(parts));
}

}  // namespace annals::core::search
