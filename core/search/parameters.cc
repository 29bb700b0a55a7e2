#include "core/search/parameters.h"

#include "codec/fhirpath/fhirpath.h"
#include "codec/schema/search_type.h"
#include "core/base/all_resource_types.h"
#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/search/expression_budget.h"
#include "core/search/expression_text.h"
#include "core/search/reference_targets.h"
#include "core/search/reference_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace annals::core::search {

namespace {

/// Must change whenever the same resource and parameters yield different entries.
constexpr std::uint64_t kVocabularyVersion = 8;

constexpr std::string_view kStandardUrl = "http://hl7.org/fhir/SearchParameter/";
constexpr std::size_t kCodeBytesMax = 64;
constexpr std::size_t kComponentsMax = 8;
/// How many parameters SearchParameter resources may add, counted per type.
constexpr std::size_t kAddedParametersMax = 20'000;

/// Whether `expression` is a plain path that begins with `base`. If so, it is preferred to what R4's composite says
/// about the component: in DocumentReference's relationship, code and target are swapped.
bool is_path_below(std::string_view base, std::string_view expression) {
    return expression.starts_with(base) && expression.substr(base.size()).starts_with('.') &&
           std::ranges::all_of(expression,
                               [](char c) { return c == '.' || is_identifier_char(c); });
}

/// Whether a query may use it as a name. Names that begin with an underscore are reserved for the standard.
bool is_code(std::string_view code) {
    return !code.empty() && code.size() <= kCodeBytesMax && code.front() != '_' &&
           std::ranges::all_of(code, [](char c) { return is_identifier_char(c) || c == '-'; });
}

/// Calls `operand` for each operand of the unions at the top level of `expression`.
template <typename See>
void for_each_operand(std::string_view expression, const See& operand) {
    int depth = 0;
    char quote = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < expression.size(); ++i) {
        const char c = expression[i];
        if (quote != 0) {
            if (c == '\\') {
                ++i;
            } else if (c == quote) {
                quote = 0;
            }
        } else if (c == '\'' || c == '`' || c == '"') {
            quote = c;
        } else if (c == '(' || c == '[' || c == '{') {
            ++depth;
        } else if (c == ')' || c == ']' || c == '}') {
            --depth;
        } else if (c == '|' && depth == 0) {
            operand(trimmed(expression.substr(begin, i - begin)));
            begin = i + 1;
        }
    }
    operand(trimmed(expression.substr(begin)));
}

/// The resource type that a path begins with, perhaps after parentheses; missing if there is none.
schema::Type type_at_start(std::string_view operand) {
    operand.remove_prefix(std::min(operand.find_first_not_of("( "), operand.size()));
    std::size_t size = 0;
    while (size < operand.size() && is_identifier_char(operand[size])) {
        ++size;
    }
    const schema::Type type = schema::find_type(operand.substr(0, size));
    return type && type.is_resource() ? type : schema::Type();
}

bool fits(const std::string& expression, schema::Type type) {
    const auto parsed = fhirpath::Expression::parse(expression);
    return parsed && parsed->check(type);
}

/// The same for a component's expression, applied to each of a composite's elements.
std::string component_of(const std::string& elements, const std::string& expression,
                         schema::Type type) {
    const auto of_elements = [&](const std::string& part) {
        return fmt::format("({}).select({})", elements, part);
    };
    std::string other = with_options_as_types(expression);
    if (!fits(of_elements(expression), type) && fits(of_elements(other), type)) {
        return other;
    }
    return expression;
}

}  // namespace

std::string expression_for(std::string_view expression, schema::Type type) {
    std::string part;
    for_each_operand(expression, [&](std::string_view operand) {
        const schema::Type start = type_at_start(operand);
        if (operand.empty() || (start && !type.is_a(start))) {
            return;
        }
        part += part.empty() ? "" : " | ";
        part += operand;
    });
    return part;
}

std::vector<TypeId> targets_of(const Parameter& parameter) {
    return parameter.targets.empty()
               ? std::vector<TypeId>(kAllResourceTypes.begin(), kAllResourceTypes.end())
               : parameter.targets;
}

/// A search parameter before it is split by types.
struct ParameterSet::Definition {
    struct Component {
        std::string url;
        std::string expression;
    };

    std::string code;
    std::string url;
    schema::SearchType type = schema::SearchType::string;
    std::string expression;
    std::vector<schema::Type> bases;
    std::vector<TypeId> targets;
    std::vector<Component> components;
    bool standard = true;
    bool ready = true;
    std::string expression_of_fault;

    Error fault(std::string detail) const {
        return {Errc::invalid, std::move(detail), expression_of_fault};
    }
};

namespace {

template <typename Types>
std::vector<TypeId> concrete(const Types& types) {
    std::vector<TypeId> ids;
    for (const schema::Type type : types) {
        if (const auto id = type.resource_type()) {
            ids.push_back(*id);
        }
    }
    return ids;
}

/// Restricts the targets to those possible for this type: the definition of `patient` names Group, which no `patient`
/// refers to.
void narrow_targets(Parameter& parameter, schema::Type type) {
    if (parameter.type != schema::SearchType::reference) {
        return;
    }
    const std::vector<TypeId> led_to = types_led_to(parameter.expression, type);
    std::vector<TypeId> narrowed;
    std::ranges::copy_if(parameter.targets, std::back_inserter(narrowed), [&](TypeId target) {
        return std::ranges::find(led_to, target) != led_to.end();
    });
    if (!narrowed.empty()) {
        parameter.targets = std::move(narrowed);
    }
}

}  // namespace

std::span<const Parameter> ParameterSet::of(TypeId type) const noexcept {
    return of_type_[type.value];
}

const Parameter* ParameterSet::find(TypeId type, std::string_view code) const noexcept {
    const std::vector<Parameter>& own = of_type_[type.value];
    const auto found = std::ranges::lower_bound(own, code, {}, &Parameter::code);
    return found != own.end() && found->code == code ? &*found : nullptr;
}

const Parameter* ParameterSet::find_usable(TypeId type, std::string_view code) const noexcept {
    const Parameter* const found = find(type, code);
    return found != nullptr && found->ready && !found->expression.empty() ? found : nullptr;
}

/// The definitions for each type, in their order.
std::vector<ParameterSet::Definitions> ParameterSet::by_type(
    const std::vector<Definition>& definitions) {
    std::vector<Definitions> of_type(kResourceTypeCount);
    for (const Definition& definition : definitions) {
        const auto add = [&](TypeId type) {
            Definitions& own = of_type[type.value];
            if (own.empty() || own.back() != &definition) {
                own.push_back(&definition);
            }
        };
        for (const schema::Type base : definition.bases) {
            if (const auto type = base.resource_type()) {
                add(*type);  // No concrete resource type is the base of another.
                continue;
            }
            for (const TypeId type : kAllResourceTypes) {
                if (schema::Type(type).is_a(base)) {
                    add(type);
                }
            }
        }
    }
    return of_type;
}

/// The parameter that `definition` makes for `type`, without its components, or why it can't be used. `added` counts
/// those that are not R4's own.
Result<Parameter> ParameterSet::parameter_of(const Definition& definition, schema::Type type,
                                             std::size_t& added) {
    Parameter parameter;
    parameter.code = definition.code;
    parameter.url = definition.url;
    parameter.type = definition.type;
    parameter.expression = expression_for(definition.expression, type);
    parameter.targets = definition.targets;
    parameter.column = column_of(definition.code);
    parameter.standard = definition.standard;
    parameter.ready = definition.ready;
    if (definition.standard) {
        narrow_targets(parameter, type);
        return parameter;
    }
    if (parameter.expression.empty()) {
        return definition.fault(fmt::format("the expression has no part for {}", type.name()));
    }
    if (++added > kAddedParametersMax) {
        return definition.fault("there are too many search parameters");
    }
    const auto check = [&](const std::string& expression) {
        const auto parsed = fhirpath::Expression::parse(expression);
        return parsed ? parsed->check(type) : Result<void>(parsed.error());
    };
    if (const auto checked = check(parameter.expression); !checked) {
        // Only as a fallback: what looks like the option of a choice may be an element (Device.property.valueQuantity).
        parameter.expression = with_options_as_types(parameter.expression);
        if (!fits(parameter.expression, type)) {
            return definition.fault(
                fmt::format("the expression for {}: {}", type.name(), checked.error().detail));
        }
    }
    return parameter;
}

/// Sets the components of the composites among `own`, which is sorted by code. Those that lack one are removed first,
/// because that moves others.
void ParameterSet::add_components(schema::Type type, Definitions composites,
                                  std::vector<Parameter>& own, std::vector<Error>& faults) {
    const auto find_url = [&](std::string_view url) -> const Parameter* {
        const auto found = std::ranges::find_if(own, [&](const Parameter& parameter) {
            return parameter.url == url && parameter.type != schema::SearchType::composite &&
                   parameter.type != schema::SearchType::special;
        });
        return found == own.end() ? nullptr : &*found;
    };
    std::erase_if(composites, [&](const Definition* composite) {
        for (const Definition::Component& component : composite->components) {
            if (find_url(component.url) == nullptr) {
                faults.push_back(composite->fault(
                    fmt::format("{} has no search parameter {}", type.name(), component.url)));
                std::erase_if(own, [&](const Parameter& parameter) {
                    return parameter.code == composite->code;
                });
                return true;
            }
        }
        return false;
    });
    for (const Definition* const composite : composites) {
        Parameter& parameter =
            *std::ranges::lower_bound(own, composite->code, {}, &Parameter::code);
        for (const Definition::Component& component : composite->components) {
            const Parameter* of = find_url(component.url);
            std::string expression = component.expression;
            if (!parameter.standard) {
                expression = component_of(parameter.expression, component.expression, type);
            } else if (is_path_below(parameter.expression, of->expression)) {
                expression = of->expression.substr(parameter.expression.size() + 1);
            }
            parameter.components.push_back({of, std::move(expression)});
        }
    }
}

/// Of several definitions with the same code and type, the first is used.
void ParameterSet::add(const std::vector<Definition>& definitions, std::vector<Error>& faults) {
    of_type_.resize(kResourceTypeCount);
    const std::vector<Definitions> defined = by_type(definitions);
    std::size_t added = 0;
    for (const TypeId id : kAllResourceTypes) {
        const schema::Type type(id);
        std::vector<Parameter>& own = of_type_[id.value];
        Definitions composites;
        for (const Definition* const definition : defined[id.value]) {
            if (std::ranges::find(own, definition->code, &Parameter::code) != own.end()) {
                faults.push_back(definition->fault(fmt::format("{} has another search parameter {}",
                                                               type.name(), definition->code)));
                continue;
            }
            Result<Parameter> parameter = parameter_of(*definition, type, added);
            if (!parameter) {
                faults.push_back(std::move(parameter.error()));
                continue;
            }
            own.push_back(*std::move(parameter));
            if (!definition->components.empty()) {
                composites.push_back(definition);
            }
        }
        std::ranges::sort(own, {}, &Parameter::code);
        add_components(type, std::move(composites), own, faults);
    }
    take_fingerprints();
}

void ParameterSet::take_fingerprints() {
    fingerprint_ = kVocabularyVersion;
    for (const std::vector<Parameter>& own : of_type_) {
        std::uint64_t fingerprint = kVocabularyVersion;
        for (const Parameter& parameter : own) {
            fingerprint = hash64(parameter.code, fingerprint);
            fingerprint = hash64(schema::search_type_name(parameter.type), fingerprint);
            fingerprint = hash64(parameter.expression, fingerprint);
            for (const Parameter::Component& component : parameter.components) {
                fingerprint = hash64(component.parameter->code, fingerprint);
                fingerprint = hash64(component.expression, fingerprint);
            }
            if (!parameter.standard) {
                // Only their expressions may be more than paths.
                fingerprint = hash64("steps", fingerprint ^ kBodyStepsMax);
            }
        }
        if (references_ == References::all) {
            fingerprint = hash64(kReferencesCode, fingerprint);
        }
        if (zone_ != nullptr) {
            fingerprint = hash64("zone", fingerprint ^ zone_->fingerprint());
        }
        fingerprints_.push_back(fingerprint);
        fingerprint_ =
            hash64({reinterpret_cast<const char*>(&fingerprint), sizeof fingerprint}, fingerprint_);
    }
}

std::vector<ParameterSet::Definition> ParameterSet::standard_definitions() {
    std::vector<Definition> definitions;
    for (const schema::SearchParameter from : schema::search_parameters()) {
        Definition definition;
        definition.code = from.code();
        definition.url = std::string(kStandardUrl) + std::string(from.id());
        definition.type = from.type();
        definition.expression = from.expression();
        for (const schema::Type base : from.bases()) {
            definition.bases.push_back(base);
        }
        definition.targets = concrete(from.targets());
        for (std::size_t i = 0; i < from.component_count(); ++i) {
            const auto component = from.component(i);
            // The standard writes value.as(DateTime), which is System.DateTime, but means the data type.
            std::string expression(component.expression);
            if (const std::size_t at = expression.find("as(DateTime)"); at != std::string::npos) {
                expression[at + 3] = 'd';
            }
            definition.components.push_back(
                {std::string(kStandardUrl) + std::string(component.parameter.id()),
                 std::move(expression)});
        }
        definitions.push_back(std::move(definition));
    }
    return definitions;
}

std::shared_ptr<const ParameterSet> ParameterSet::standard() {
    static const std::shared_ptr<const ParameterSet> set = [] {
        const std::shared_ptr<ParameterSet> made(new ParameterSet);
        std::vector<Error> faults;
        made->add(standard_definitions(), faults);
        return made;
    }();
    return set;
}

Result<ParameterSet::Definition> ParameterSet::read(json::Value resource) {
    Definition definition;
    definition.standard = false;
    definition.code = resource["code"].string();
    definition.url = resource["url"].string();
    definition.expression = resource["expression"].string();
    const std::string type = resource["type"].string();
    definition.expression_of_fault = fmt::format("SearchParameter/{}", resource["id"].string());
    const auto invalid = [&](std::string detail) { return definition.fault(std::move(detail)); };
    if (definition.url.empty()) {
        return invalid("a search parameter needs a url");
    }
    if (!is_code(definition.code)) {
        return invalid(
            fmt::format("{} is not allowed as the name of a parameter", definition.code));
    }
    if (definition.expression.empty()) {
        return invalid("a search parameter needs an expression");
    }
    const auto search_type = schema::find_search_type(type);
    if (!search_type || search_type == schema::SearchType::special) {
        return invalid(fmt::format("search parameters of type {} are not supported", type));
    }
    definition.type = *search_type;
    for (const json::Value base : resource["base"].elements()) {
        const schema::Type found = schema::find_type(base.string());
        if (!found || !found.is_resource()) {
            return invalid(fmt::format("{} is not a resource type", base.string()));
        }
        definition.bases.push_back(found);
    }
    for (const json::Value target : resource["target"].elements()) {
        if (const auto found = find_resource_type(target.string())) {
            definition.targets.push_back(*found);
        }
    }
    for (const json::Value component : resource["component"].elements()) {
        std::string url = component["definition"].string();
        url.resize(std::min(url.find('|'), url.size()));
        definition.components.push_back({std::move(url), component["expression"].string()});
        const auto parsed = fhirpath::Expression::parse(definition.components.back().expression);
        if (!parsed) {
            return invalid(fmt::format("a component's expression: {}", parsed.error().detail));
        }
    }
    const bool composite = definition.type == schema::SearchType::composite;
    if (composite != !definition.components.empty() ||
        definition.components.size() > kComponentsMax) {
        return invalid(
            fmt::format("a composite must have 1 to {} components, others none", kComponentsMax));
    }
    return definition;
}

std::shared_ptr<const ParameterSet> ParameterSet::with(std::span<const json::Value> resources,
                                                       std::span<const std::string> unready,
                                                       std::vector<Error>* faults,
                                                       References references,
                                                       std::shared_ptr<const TimeZone> zone) {
    std::vector<Error> unsaid;
    std::vector<Error>& found = faults != nullptr ? *faults : unsaid;
    std::vector<Definition> definitions = standard_definitions();
    for (const json::Value resource : resources) {
        if (!resource["status"].equals("active")) {
            continue;
        }
        Result<Definition> definition = read(resource);
        if (!definition) {
            found.push_back(std::move(definition.error()));
            continue;
        }
        // One of R4's own, stored again from its package, changes nothing.
        if (definition->url.starts_with(kStandardUrl) &&
            std::ranges::any_of(definitions, [&](const Definition& other) {
                return other.standard && other.url == definition->url;
            })) {
            continue;
        }
        definition->ready = std::ranges::find(unready, definition->url) == unready.end();
        definitions.push_back(*std::move(definition));
    }
    const std::shared_ptr<ParameterSet> made(new ParameterSet);
    made->references_ = references;
    made->zone_ = std::move(zone);
    made->add(definitions, found);
    return made;
}

}  // namespace annals::core::search
