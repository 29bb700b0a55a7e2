#include "core/search/reading.h"

#include "core/base/ids.h"
#include "core/search/parameter_values.h"
#include "core/search/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace annals::core::search {

Result<void> Reading::spend(std::size_t conditions) {
    spent += conditions;
    if (spent > kSearchConditionsMax) {
        return Error{Errc::too_costly,
                     fmt::format("The search has more than {} conditions", kSearchConditionsMax)};
    }
    return {};
}

Result<void> Reading::follow(std::size_t targets) {
    followed += targets;
    if (followed > kSearchTargetsMax) {
        return Error{Errc::too_costly,
                     fmt::format("The search's chains lead to more than {} types, all in all; say "
                                 "which are meant (subject:Patient.name)",
                                 kSearchTargetsMax)};
    }
    return {};
}

Plan Reading::linked(TypeId type, Plan plan) {
    if (context.view.of(type).kind != Plan::Kind::nothing) {
        others.push_back(type);
    }
    return seen_of(context.view, type, std::move(plan));
}

Result<void> pass_over(const QueryContext& context, std::string detail, Query& query) {
    if (context.strict || context.conditional) {
        return Error{Errc::invalid, std::move(detail)};
    }
    query.warnings.push_back(std::move(detail));
    return {};
}

Error bad_value(std::string_view name, std::string_view why) {
    return {Errc::invalid, fmt::format("search parameter '{}': {}", name, why)};
}

Error unsupported_modifier(std::string_view name, std::string_view modifier) {
    return {
        Errc::not_supported,
        fmt::format("search parameter '{}': the modifier ':{}' is not supported", name, modifier)};
}

bool leads_to(const Parameter& parameter, TypeId type) {
    return parameter.type == schema::SearchType::reference &&
           (parameter.targets.empty() ||
            std::ranges::find(parameter.targets, type) != parameter.targets.end());
}

Result<TypeId> type_in_modifier(const Asked& asked) {
    const auto type = find_resource_type(asked.modifier);
    if (!type) {
        return asked.unsupported();
    }
    if (!leads_to(asked.parameter, *type)) {
        return asked.bad(fmt::format("it does not lead to {}", asked.modifier));
    }
    return *type;
}

ExtractReader::ExtractReader(const QueryContext& context)
    : parameters_(context.parameters), seed_(context.stored.seed()), base_url_(context.base_url) {
}

Extractor& ExtractReader::extractor() const {
    return thread_extractor(parameters_, seed_, base_url_);
}

std::string_view shown(std::string_view text) noexcept {
    constexpr std::size_t kShownBytes = 100;
    if (text.size() <= kShownBytes) {
        return text;
    }
    std::size_t end = kShownBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
        --end;
    }
    return text.substr(0, end);
}

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

std::optional<std::string> unescape(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t at = text.find('\\'); at != std::string_view::npos; at = text.find('\\')) {
        if (at + 1 == text.size() ||
            std::string_view(",$|\\").find(text[at + 1]) == std::string_view::npos) {
            return std::nullopt;
        }
        plain.append(text.substr(0, at)) += text[at + 1];
        text.remove_prefix(at + 2);
    }
    plain.append(text);
    return plain;
}

Prefixed take_prefix(std::string_view value) noexcept {
    static constexpr std::array<std::pair<std::string_view, Comparison>, 9> kPrefixes{{
        {"eq", Comparison::eq},
        {"ne", Comparison::ne},
        {"gt", Comparison::gt},
        {"lt", Comparison::lt},
        {"ge", Comparison::ge},
        {"le", Comparison::le},
        {"sa", Comparison::sa},
        {"eb", Comparison::eb},
        {"ap", Comparison::ap},
    }};
    for (const auto& [prefix, comparison] : kPrefixes) {
        if (value.starts_with(prefix)) {
            return {comparison, value.substr(prefix.size())};
        }
    }
    return {Comparison::eq, value};
}

std::optional<LocalReference> read_local(std::string_view text, std::string_view base_url) {
    if (!base_url.empty() && text.starts_with(base_url)) {
        std::string_view rest = text.substr(base_url.size());
        if (base_url.ends_with('/') || rest.starts_with('/')) {
            text = rest.starts_with('/') ? rest.substr(1) : rest;
        }
    }
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) {
        return std::nullopt;
    }
    const auto type = find_resource_type(text.substr(0, slash));
    std::string_view id = text.substr(slash + 1);
    std::string_view version;
    if (const std::size_t next = id.find('/'); next != std::string_view::npos) {
        static constexpr std::string_view kHistory = "/_history/";
        if (!id.substr(next).starts_with(kHistory)) {
            return std::nullopt;
        }
        version = id.substr(next + kHistory.size());
        id = id.substr(0, next);
        if (!is_resource_id(version)) {
            return std::nullopt;
        }
    }
    if (!type || !is_resource_id(id)) {
        return std::nullopt;
    }
    return LocalReference{*type, id, version};
}

namespace {

// The elements of `type` to which `path` leads, with all types of choices.
std::vector<schema::Element> elements_at(schema::Type type, const Path& path) {
    std::vector<schema::Type> types{type};
    std::vector<schema::Element> elements;
    for (const Step& step : path.steps) {
        elements.clear();
        for (const schema::Type from : types) {
            for (const schema::Element element : from.find_base(step.name)) {
                if (!step.only || is_kept_by_as(element.type(), step.only)) {
                    elements.push_back(element);
                }
            }
        }
        // Each type once: otherwise, choices below choices multiply.
        types.clear();
        for (const schema::Element element : elements) {
            if (std::ranges::find(types, element.type()) == types.end()) {
                types.push_back(element.type());
            }
        }
    }
    return elements;
}

}  // namespace

bool finds_element(const Asked& asked, bool (*holds)(schema::Element element)) {
    const schema::Type type(asked.type);
    const auto parsed = expression_of(asked.parameter);
    const auto paths = parsed ? paths_of(*parsed, type) : std::nullopt;
    return paths && std::ranges::any_of(*paths, [&](const Path& path) {
               return std::ranges::any_of(elements_at(type, path), holds);
           });
}

Result<Plan> with_value(const Asked& asked, Plan candidates,
                        std::function<bool(json::Value own)> holds) {
    ANNALS_TRY_VOID(asked.reading.spend(kBodyConditions));
    // The set is held because the parameter is part of it.
    return verified(std::move(candidates), [set = asked.reading.context.parameters,
                                            &parameter = asked.parameter,
                                            holds = std::move(holds)](json::Value resource) {
        bool found = false;
        ExpressionBudget budget;
        for_each_parameter_value(parameter, resource, budget,
                                 [&](json::Value own) { found = found || holds(own); });
        return found;
    });
}

Plan presence_plan(const Asked& asked) {
    if (asked.parameter.code == "_lastUpdated" || asked.parameter.code == "_id") {
        return everything();
    }
    return *any_part(asked, [](const Asked& part) -> Result<Plan> {
        return part.parameter.type == schema::SearchType::composite
                   ? composite_presence(part)
                   : carrying({present(part.parameter.column)});
    });
}

Result<Plan> missing_plan(const Asked& asked, std::string_view value) {
    if (value != "true" && value != "false") {
        return asked.bad("true or false is needed");
    }
    ANNALS_TRY_VOID(asked.reading.spend());
    Plan any = presence_plan(asked);
    return value == "true" ? negation_of(std::move(any)) : any;
}

Result<Plan> any_part(const Asked& asked,
                      const std::function<Result<Plan>(const Asked&)>& plan_of) {
    const std::vector<const Parameter*>& parts = asked.layout().parts;
    if (parts.empty()) {
        return plan_of(asked);
    }
    std::vector<Plan> plans;
    for (const Parameter* const part : parts) {
        ANNALS_TRY(Plan plan, plan_of({asked.reading, asked.type, *part, asked.name, asked.modifier,
                                       asked.depth}));
        plans.push_back(std::move(plan));
    }
    return any_of(std::move(plans));
}

Result<Plan> value_plan(const Asked& asked, std::string_view value) {
    return any_part(asked, [&](const Asked& part) { return own_value_plan(part, value); });
}

Result<Plan> own_value_plan(const Asked& asked, std::string_view value) {
    switch (asked.parameter.type) {
        case schema::SearchType::number:
            return number_plan(asked, value);
        case schema::SearchType::date:
            return date_plan(asked, value);
        case schema::SearchType::string:
            return string_plan(asked, value);
        case schema::SearchType::token:
            return token_plan(asked, value);
        case schema::SearchType::reference:
            return reference_plan(asked, value);
        case schema::SearchType::composite:
            return composite_plan(asked, value);
        case schema::SearchType::quantity:
            return quantity_plan(asked, value);
        case schema::SearchType::uri:
            return uri_plan(asked, value);
        case schema::SearchType::special:
            return near_plan(asked, value);
    }
    return asked.bad("unknown type");
}

Result<Plan> parameter_plan(const Asked& asked, std::string_view value) {
    if (value.empty()) {
        return asked.bad("a value is needed");
    }
    if (asked.modifier == "missing") {
        return missing_plan(asked, value);
    }
    const std::vector<std::string_view> values = split_unescaped(value, ',');
    std::vector<Plan> alternatives;
    alternatives.reserve(values.size());
    for (const std::string_view alternative : values) {
        if (alternative.empty()) {
            return asked.bad("a value is needed before and after every comma");
        }
        ANNALS_TRY_VOID(asked.reading.spend());
        ANNALS_TRY(Plan plan, value_plan(asked, alternative));
        alternatives.push_back(std::move(plan));
    }
    Plan plan = any_of(std::move(alternatives));
    if (asked.modifier == "not" || asked.modifier == "not-in") {
        return negation_of(std::move(plan));
    }
    return plan;
}

}  // namespace annals::core::search
