#include "core/search/reading.h"

#include <fmt/format.h>

namespace annals::core::search {

namespace {

// That the parts of a composite hold of a resource says nothing of whether they hold of one of its elements, so each is
// looked at by itself.
bool is_aligned(const ExtractReader& reader, const Parameter& parameter, TypeId type,
                const std::vector<Plan>& parts, json::Value resource) {
    for (const auto& element : reader.extractor().extract_composite(parameter, type, resource)) {
        bool all = element.size() == parts.size();
        for (std::size_t i = 0; all && i < parts.size(); ++i) {
            all = matches(parts[i], element[i], resource);
        }
        if (all) {
            return true;
        }
    }
    return false;
}

}  // namespace

Plan composite_of(const Asked& asked, std::vector<Plan> parts) {
    Plan candidates = all_of(parts);
    // Where the element is the resource itself there is one only.
    if (asked.parameter.expression == resource_type_name(asked.type)) {
        return candidates;
    }
    return verified(std::move(candidates),
                    [reader = ExtractReader(asked.reading.context), &parameter = asked.parameter,
                     type = asked.type, parts = std::move(parts)](json::Value resource) {
                        return is_aligned(reader, parameter, type, parts, resource);
                    });
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
