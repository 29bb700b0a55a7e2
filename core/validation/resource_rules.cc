#include "codec/schema/search_type.h"
#include "core/base/ascii.h"
#include "core/base/text_map.h"
#include "core/canonical.h"
#include "core/validation/context.h"
#include "core/validation/profile.h"
#include "core/validation/references.h"
#include "core/validation/terminology.h"

#include <fmt/format.h>

#include <set>

namespace annals::validation {

namespace {

// ---- Questionnaire ----

/// The nodes of a Questionnaire's items by their linkId.
using Questions = TextMap<std::uint32_t>;

void collect_items(Context& context, json::Value items, std::size_t depth, Questions& found) {
    if (depth > kJsonDepthMax) {
        return;
    }
    for (const json::Value item : items.elements()) {
        if (!context.spend()) {
            return;
        }
        found.emplace(item["linkId"].string(), item.index());
        collect_items(context, item["item"], depth + 1, found);
    }
}

void check_items(Context& context, json::Value items, std::size_t depth, const Questions& known) {
    if (depth > kJsonDepthMax) {
        return;
    }
    for (const json::Value item : items.elements()) {
        const json::Value conditions = item["enableWhen"];
        if (conditions.size() > 1 && !item["enableBehavior"] && !item["_enableBehavior"]) {
            context.error("invariant", item,
                          "More than one enableWhen requires an enableBehavior (que-12)");
        }
        for (const json::Value condition : conditions.elements()) {
            const json::Value question = condition["question"];
            const auto found = known.find(question.string());
            // R4's text requires a System.Boolean, which an element never is.
            if (condition["operator"].equals("exists") && !condition["answerBoolean"]) {
                context.error("invariant", condition,
                              "The operator exists requires answerBoolean (que-7)");
            }
            if (!question.is_string()) {
                continue;
            }
            if (found == known.end()) {
                context.error("business-rule", question,
                              fmt::format("There is no question {}", question.string()));
            } else if (found->second >= item.index() && found->second < item.node().next) {
                context.error("business-rule", question,
                              "An item's enableWhen must not refer to a question inside the item");
            } else if (found->second > item.index()) {
                context.tell(Severity::warning, "business-rule", question.index(),
                             "An item's enableWhen refers to a question after the item");
            }
        }
        check_items(context, item["item"], depth + 1, known);
    }
}

void check_questionnaire(Context& context, const Frame& frame) {
    Questions known;
    const json::Value items = frame.resource.value()["item"];
    collect_items(context, items, 0, known);
    check_items(context, items, 0, known);
}

// ---- CodeSystem ----

std::size_t count_concepts(json::Value concepts, std::size_t depth) {
    std::size_t count = 0;
    for (const json::Value item : concepts.elements()) {
        count += 1 + (depth < kJsonDepthMax ? count_concepts(item["concept"], depth + 1) : 0);
    }
    return count;
}

void check_property_values(Context& context, json::Value concepts, std::size_t depth,
                           const TextMap<std::string>& types) {
    for (const json::Value item : concepts.elements()) {
        if (depth > kJsonDepthMax || !context.spend()) {
            return;
        }
        for (const json::Value property : item["property"].elements()) {
            const auto type = types.find(property["code"].string());
            if (type == types.end()) {
                continue;
            }
            for (const auto [key, value] : property.members()) {
                std::string_view name = key.raw_string();
                if (!name.starts_with("value")) {
                    continue;
                }
                name.remove_prefix(5);
                const bool fits = name.size() == type->second.size() && !name.empty() &&
                                  (name.front() | 0x20) == (type->second.front() | 0x20) &&
                                  name.substr(1) == std::string_view(type->second).substr(1);
                if (!fits) {
                    context.error("business-rule", property,
                                  fmt::format("The property {} is of the type {}", type->first,
                                              type->second));
                }
            }
        }
        check_property_values(context, item["concept"], depth + 1, types);
    }
}

void check_code_system(Context& context, const Frame& frame) {
    const json::Value resource = frame.resource.value();
    const json::Value count = resource["count"];
    if (count && resource["content"].equals("complete") && resource["concept"]) {
        const std::size_t actual = count_concepts(resource["concept"], 0);
        if (count.raw() != std::to_string(actual)) {
            context.error(
                "invalid", count,
                fmt::format("The code system states {} concepts but has {}", count.raw(), actual));
        }
    }
    TextMap<std::string> types;
    std::set<std::string> uris;
    for (const json::Value property : resource["property"].elements()) {
        const std::string code = property["code"].string();
        if (!types.emplace(code, property["type"].string()).second) {
            context.error("business-rule", property,
                          fmt::format("There is more than one property {}", code));
        }
        const std::string uri = property["uri"].string();
        if (!uri.empty() && !uris.insert(uri).second) {
            context.error("business-rule", property,
                          fmt::format("There is more than one property of the uri {}", uri));
        }
    }
    check_property_values(context, resource["concept"], 0, types);
}

// ---- ValueSet ----

/// Whether an expression constraint begins with an operator or a concept, and has operators between concepts.
bool is_constraint(std::string_view text) {
    // Detects two operands, or an operand and an operator before the next, that nothing joins: "1 << 2".
    bool after_operand = false;
    bool in_term = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '|') {
            in_term = !in_term;
        }
        if (in_term || c == ' ' || c == '|') {
            continue;
        }
        if (is_digit(c)) {
            if (after_operand) {
                return false;
            }
            while (i + 1 < text.size() && is_digit(text[i + 1])) {
                ++i;
            }
            after_operand = true;
        } else if (c == '<' || c == '>' || c == '^') {
            if (after_operand) {
                return false;
            }
        } else {
            after_operand = false;
        }
    }
    return true;
}

void check_include(Context& context, json::Value include) {
    const json::Value system = include["system"];
    if (!system.is_string()) {
        return;
    }
    const std::string text = system.string();
    if (!is_absolute(text)) {
        context.error(
            "invalid", system,
            fmt::format("The system of a value set's codes must be an absolute URI, not {}", text));
    }
    if (text != kSnomed) {
        return;
    }
    for (const json::Value item : include["concept"].elements()) {
        if (!context.spend()) {
            return;
        }
        const std::string code = item["code"].string();
        if (!code.empty() && !is_snomed_code(code)) {
            context.tell_unknown_code(item.index(),
                                      fmt::format("'{}' is not a code of SNOMED CT", code));
        }
    }
    for (const json::Value filter : include["filter"].elements()) {
        const bool is_expression =
            filter["property"].equals("constraint") || filter["property"].equals("expression");
        if (is_expression && !is_constraint(filter["value"].string())) {
            context.error("invalid", filter,
                          "The filter is not an expression constraint of SNOMED CT");
        }
    }
}

void check_value_set(Context& context, const Frame& frame) {
    const json::Value compose = frame.resource.value()["compose"];
    for (const std::string_view name : {"include", "exclude"}) {
        for (const json::Value include : compose[name].elements()) {
            check_include(context, include);
        }
    }
}

// ---- SearchParameter, CapabilityStatement ----

/// The name of the type of R4's own search parameter called `url`; empty if R4 has no such parameter.
std::string_view search_type_of(std::string_view url) {
    static constexpr std::string_view kPrefix = "http://hl7.org/fhir/SearchParameter/";
    url = core::split_canonical(url).url;
    if (!url.starts_with(kPrefix)) {
        return {};
    }
    url.remove_prefix(kPrefix.size());
    for (const schema::SearchParameter parameter : schema::search_parameters()) {
        if (parameter.id() == url) {
            return schema::search_type_name(parameter.type());
        }
    }
    return {};
}

void check_search_parameter(Context& context, const Frame& frame) {
    const json::Value resource = frame.resource.value();
    const json::Value type = resource["type"];
    if (type.equals("composite") && resource["component"].size() < 2) {
        context.error("business-rule", frame.resource,
                      "A composite search parameter must have at least two components");
    }
    const std::string_view own = search_type_of(resource["derivedFrom"].string());
    if (!own.empty() && !type.equals(own)) {
        context.error("business-rule", frame.resource,
                      fmt::format("{} is of the type {}", resource["derivedFrom"].string(), own));
    }
}

void check_capability_statement(Context& context, const Frame& frame) {
    for (const json::Value rest : frame.resource.value()["rest"].elements()) {
        for (const json::Value resource : rest["resource"].elements()) {
            for (const json::Value parameter : resource["searchParam"].elements()) {
                if (!context.spend(100)) {
                    return;
                }
                const std::string_view own = search_type_of(parameter["definition"].string());
                if (!own.empty() && !parameter["type"].equals(own)) {
                    context.error(
                        "invalid", parameter,
                        fmt::format("{} is of the type {}", parameter["definition"].string(), own));
                }
            }
        }
    }
}

// ---- StructureDefinition ----

void check_structure_definition(Context& context, const Frame& frame) {
    const json::Value resource = frame.resource.value();
    if (!resource["derivation"].equals("constraint") || !resource["differential"]) {
        return;
    }
    const auto profile = Profile::compile(context, nullptr, resource);
    if (!profile) {
        return;  // nothing can be checked if the base is unknown
    }
    for (const std::string& fault : (*profile)->faults()) {
        context.error("value", frame.resource, fault);
    }
}

// ---- Observation ----

struct VitalSign {
    std::string_view loinc;
    std::string_view other_loinc;
    std::string_view snomed;
    std::string_view profile;
};

// observation-vitalsigns.html, "Vital Signs Table"; SNOMED CT codes as in its mapping.
constexpr VitalSign kVitalSigns[] = {
    {"85353-1", "", "", "vitalspanel"},        {"9279-1", "", "86290005", "resprate"},
    {"8867-4", "", "364075005", "heartrate"},  {"2708-6", "59408-5", "431314004", "oxygensat"},
    {"8310-5", "", "386725007", "bodytemp"},   {"8310-5", "", "276885007", "bodytemp"},
    {"8302-2", "", "50373000", "bodyheight"},  {"9843-4", "", "363812007", "headcircum"},
    {"29463-7", "", "27113001", "bodyweight"}, {"39156-5", "", "60621009", "bmi"},
    {"85354-9", "", "75367002", "bp"},
};

void check_observation(Context& context, const Frame& frame) {
    const json::Value resource = frame.resource.value();
    bool is_vital_sign = false;
    for (const json::Value category : resource["category"].elements()) {
        for (const json::Value coding : category["coding"].elements()) {
            is_vital_sign = is_vital_sign || coding["code"].equals("vital-signs");
        }
    }
    if (!is_vital_sign) {
        return;
    }
    const json::Value codings = resource["code"]["coding"];
    const auto has = [&](std::string_view system, std::string_view code) {
        for (const json::Value coding : codings.elements()) {
            if (!code.empty() && coding["system"].equals(system) && coding["code"].equals(code)) {
                return true;
            }
        }
        return false;
    };
    for (const VitalSign& sign : kVitalSigns) {
        const bool by_loinc =
            has("http://loinc.org", sign.loinc) || has("http://loinc.org", sign.other_loinc);
        if (!by_loinc && !has(kSnomed, sign.snomed)) {
            continue;
        }
        if (!by_loinc) {
            context.error("structure", child(frame.resource, "code"),
                          fmt::format("The vital sign requires the LOINC code {}", sign.loinc));
        }
        const std::string url =
            fmt::format("http://hl7.org/fhir/StructureDefinition/{}", sign.profile);
        if (Profile::load(context, url)) {
            check_profile(context, frame, frame.resource, url, Severity::information);
        }
        return;
    }
}

// ---- ConceptMap ----

void check_concept_map(Context& context, const Frame& frame) {
    for (const json::Value group : frame.resource.value()["group"].elements()) {
        const auto check = [&](json::Value coded, std::string_view system) {
            const json::Value code = coded["code"];
            if (code.is_string() && group[system].is_string() && context.spend()) {
                check_code(context, code.index(),
                           {.system = group[system].string(),
                            .code = code.string(),
                            .display = coded["display"].string(),
                            .version = group[std::string(system) + "Version"].string()});
            }
        };
        for (const json::Value element : group["element"].elements()) {
            check(element, "source");
            for (const json::Value target : element["target"].elements()) {
                check(target, "target");
            }
        }
        check(group["unmapped"], "target");
    }
}

struct Rules {
    std::string_view type;
    void (*check)(Context&, const Frame&);
};

constexpr Rules kRules[] = {
    {"CapabilityStatement", check_capability_statement},
    {"CodeSystem", check_code_system},
    {"ConceptMap", check_concept_map},
    {"Observation", check_observation},
    {"Questionnaire", check_questionnaire},
    {"SearchParameter", check_search_parameter},
    {"StructureDefinition", check_structure_definition},
    {"ValueSet", check_value_set},
};

}  // namespace

void check_resource_rules(Context& context, const Frame& frame) {
    for (const Rules& rules : kRules) {
        if (frame.resource.type.name() == rules.type) {
            rules.check(context, frame);
        }
    }
}

}  // namespace annals::validation
