#include "codec/fhirpath/decimal.h"
#include "codec/fhirpath/temporal.h"
#include "codec/fhirpath/ucum.h"
#include "core/validation/context.h"
#include "core/validation/profile.h"
#include "core/validation/terminology.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::validation {

namespace {

using fhirpath::Decimal;
using fhirpath::Order;

std::string named(const Node& node) {
    return node.slice.empty() ? node.name : fmt::format("{}:{}", node.name, node.slice);
}

schema::Strength strength_of(json::Value binding) {
    const json::Value strength = binding["strength"];
    if (strength.equals("required")) {
        return schema::Strength::required;
    }
    return strength.equals("extensible")  ? schema::Strength::extensible
           : strength.equals("preferred") ? schema::Strength::preferred
                                          : schema::Strength::none;
}

/// Empty if there is none.
std::string max_value_set(json::Value binding) {
    constexpr std::string_view kUrl =
        "http://hl7.org/fhir/StructureDefinition/elementdefinition-maxValueSet";
    for (const json::Value extension : binding["extension"].elements()) {
        if (extension["url"].equals(kUrl)) {
            const json::Value canonical = extension["valueCanonical"];
            return (canonical ? canonical : extension["valueUri"]).string();
        }
    }
    return {};
}

/// The length of a text in characters, not bytes.
std::size_t length_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

Order order(const Decimal& a, const Decimal& b) {
    return a < b ? Order::less : b < a ? Order::greater : Order::equal;
}

/// Unknown if they can't be compared.
Order order(json::Value a, json::Value b) {
    if (a.is(json::Kind::number) && b.is(json::Kind::number)) {
        const auto left = Decimal::parse(a.raw());
        const auto right = Decimal::parse(b.raw());
        return left && right ? order(*left, *right) : Order::unknown;
    }
    if (!a.is_string() || !b.is_string()) {
        return Order::unknown;
    }
    const std::string left = a.string();
    const std::string right = b.string();
    const auto first = fhirpath::parse_date_time(left);
    const auto second = fhirpath::parse_date_time(right);
    if (first && second) {
        return fhirpath::compare(*first, *second);
    }
    const auto early = fhirpath::parse_time(left);
    const auto late = fhirpath::parse_time(right);
    return early && late ? fhirpath::compare(*early, *late) : Order::unknown;
}

/// The same for a Quantity and a limit, if their units are equal or can be converted by UCUM. A limit without unit applies to
/// the number.
Order order_quantities(json::Value quantity, json::Value limit) {
    if (quantity["comparator"]) {
        return Order::unknown;
    }
    const json::Value number = quantity["value"];
    const std::string code = limit["code"].string();
    const std::string unit = limit["unit"].string();
    const bool is_same = code.empty() ? unit.empty() || quantity["unit"].equals(unit)
                                      : quantity["code"].equals(code) &&
                                            quantity["system"].string() == limit["system"].string();
    if (is_same || !number.is(json::Kind::number) || !limit["value"].is(json::Kind::number)) {
        return order(number, limit["value"]);
    }
    if (!quantity["system"].equals(fhirpath::kUcum) || !limit["system"].equals(fhirpath::kUcum)) {
        return Order::unknown;
    }
    const auto from = fhirpath::parse_unit(quantity["code"].string());
    const auto to = fhirpath::parse_unit(code);
    const auto value = Decimal::parse(number.raw());
    const auto bound = Decimal::parse(limit["value"].raw());
    const auto converted =
        from && to && value ? fhirpath::convert(*value, *from, *to) : std::nullopt;
    return converted && bound ? order(*converted, *bound) : Order::unknown;
}

void check_value(Context& context, const Profile& profile, const Node& node, const Spot& spot) {
    const json::Value value = spot.value();
    if (node.fixed && !same_value(context, value, node.fixed)) {
        context.error("value", spot,
                      fmt::format("{} fixes {} to {}", profile.url(), named(node),
                                  node.fixed.raw().substr(0, 200)));
    }
    if (node.pattern && !has_pattern(context, value, node.pattern)) {
        context.error("value", spot,
                      fmt::format("{0} requires the pattern {2} for {1}", profile.url(),
                                  named(node), node.pattern.raw().substr(0, 200)));
    }
    if (!value) {
        return;
    }
    if (node.max_length && value.is_string() && length_of(value.string()) > *node.max_length) {
        context.error("too-long", spot,
                      fmt::format("{} allows {} characters in {}", profile.url(), *node.max_length,
                                  named(node)));
    }
    const auto order_to = [&](json::Value limit) {
        return value.is_object() && limit.is_object() ? order_quantities(value, limit)
                                                      : order(value, limit);
    };
    if (node.min_value && order_to(node.min_value) == Order::less) {
        context.error("value", spot,
                      fmt::format("{0} requires a value of at least {2} for {1}", profile.url(),
                                  named(node), node.min_value.raw().substr(0, 100)));
    }
    if (node.max_value && order_to(node.max_value) == Order::greater) {
        context.error("value", spot,
                      fmt::format("{0} requires a value of at most {2} for {1}", profile.url(),
                                  named(node), node.max_value.raw().substr(0, 100)));
    }
    const schema::Strength strength = strength_of(node.binding);
    check_binding(context, spot, strength, node.binding["valueSet"].string());
    check_max_binding(context, spot, strength, max_value_set(node.binding));
}

void check_constraints(Context& context, const Frame& frame, const Profile& profile,
                       const Node& node, const Spot& spot) {
    for (const auto& [definition, rule] : node.constraints) {
        if (rule && context.spend() && holds(context, frame, spot, *rule) == false) {
            const bool is_error = definition["severity"].equals("error");
            context.tell(
                is_error ? Severity::error : Severity::warning, "invariant", spot,
                fmt::format("The rule {} of {} is violated: {}", definition["key"].string(),
                            profile.url(), definition["human"].string().substr(0, 400)));
        }
    }
}

/// The target of a reference must have one of the permitted types and profiles.
void check_target(Context& context, const Frame& frame, const Profile& profile, const Node& node,
                  const Spot& spot, const std::vector<std::string>& targets) {
    const Target target = resolve(context, frame, spot.value()["reference"]);
    schema::Type type = target.type;
    if (!type && spot.value()["type"]) {
        type = schema::find_type(spot.value()["type"].string());
    }
    if (!type) {
        return;
    }
    bool allowed = false;
    for (const std::string& url : targets) {
        if (const schema::Type own = own_type(url)) {
            allowed = allowed || type.is_a(own);
            continue;
        }
        const auto wanted = Profile::load(context, url);
        if (!wanted) {
            allowed = true;  // unknown
        } else if (type.is_a((*wanted)->type())) {
            allowed = allowed || !target.resource.type ||
                      conforms(context, target.frame, target.resource, url).value_or(true);
        }
    }
    if (!allowed) {
        context.error("structure", spot,
                      fmt::format("{} does not allow {} to refer to this {}", profile.url(),
                                  named(node), type.name()));
    }
}

/// Checks types, their profiles, and the profiles of references' targets.
void check_types(Context& context, const Frame& frame, const Profile& profile, const Node& node,
                 const Spot& spot) {
    if (!node.types || !spot.type) {
        return;
    }
    std::vector<std::string> profiles;
    std::vector<std::string> targets;
    bool fits = false;
    bool has_system_type = false;
    for (const json::Value type : node.types.elements()) {
        const std::string code = type["code"].string();
        const schema::Type known = schema::find_type(code);
        has_system_type = has_system_type || !known;
        // The types of a choice are listed explicitly: a Quantity doesn't permit an Age.
        const bool is_of = spot.element.is_choice() ? spot.type == known : spot.type.is_a(known);
        if (!known || !(is_of || spot.type.kind() == schema::TypeKind::backbone)) {
            continue;
        }
        fits = true;
        for (const json::Value url : type["profile"].elements()) {
            profiles.push_back(url.string());
        }
        for (const json::Value url : type["targetProfile"].elements()) {
            targets.push_back(url.string());
        }
    }
    if (!fits) {
        if (!has_system_type) {
            context.error("structure", spot,
                          fmt::format("{} does not allow the type {} for {}", profile.url(),
                                      spot.type.name(), named(node)));
        }
        return;
    }
    if (profiles.size() == 1) {
        check_profile(context, frame, spot, profiles.front(), Severity::information);
    } else if (!profiles.empty()) {
        bool any = false;
        for (const std::string& url : profiles) {
            any = any || conforms(context, frame, spot, url).value_or(true);
        }
        if (!any) {
            context.error("structure", spot,
                          fmt::format("{} conforms to none of the profiles that {} allows",
                                      named(node), profile.url()));
        }
    }
    if (!targets.empty() && spot.type == schema::reference_type()) {
        check_target(context, frame, profile, node, spot, targets);
    }
}

}  // namespace

void check_node(Context& context, const Frame& frame, const Profile& profile, const Node& node,
                const Spot& spot) {
    if (!context.spend() || context.depth > 4 * kJsonDepthMax) {
        return;
    }
    ++context.depth;
    check_value(context, profile, node, spot);
    check_types(context, frame, profile, node, spot);
    check_constraints(context, frame, profile, node, spot);

    std::vector<Spot> spots;
    for (const std::uint32_t index : node.children) {
        const Node& wanted = profile.node(index);
        // The spot's type may lack the element, if this is about another type of value[x].
        if (!spot.type || spot.type.find_base(wanted.name).empty()) {
            continue;
        }
        spots.clear();
        collect(spot, wanted.name, spots);
        if (spots.size() < wanted.min) {
            context.error("structure", spot,
                          fmt::format("{} requires at least {} of {}, found {}", profile.url(),
                                      wanted.min, wanted.name, spots.size()));
        }
        if (spots.size() > wanted.max) {
            context.error("structure", spot,
                          fmt::format("{} allows at most {} of {}, found {}", profile.url(),
                                      wanted.max, wanted.name, spots.size()));
        }
        for (const Spot& found : spots) {
            if (found.type.is_resource()) {
                check_node(context, frame_of(frame, found, spot), profile, wanted, found);
            } else {
                check_node(context, frame, profile, wanted, found);
            }
        }
        if (!wanted.slices.empty() || wanted.slicing) {
            check_slices(context, frame, profile, wanted, spots, spot);
        }
    }
    --context.depth;
}

}  // namespace annals::validation
