#include "core/validation/discriminators.h"

#include "core/canonical.h"
#include "core/validation/context.h"
#include "core/validation/discriminator_paths.h"
#include "core/validation/terminology.h"

#include <list>
#include <string>
#include <vector>

namespace annals::validation {

namespace {

constexpr std::size_t kDiscriminatorsMax = 16;
constexpr std::size_t kSliceDepthMax = 32;

/// Whether the content of `spot` matches everything that the rule fixes; none if it fixes nothing.
std::optional<bool> content_fits(Context& context, const Profile& profile, const Node& node,
                                 const Spot& spot, std::size_t depth) {
    if (depth > kSliceDepthMax || !context.spend()) {
        return std::nullopt;
    }
    if (node.fixed) {
        return same_value(context, spot.value(), node.fixed);
    }
    if (node.pattern) {
        // Constraints further in apply to elements of the slice, but don't discriminate.
        return has_pattern(context, spot.value(), node.pattern);
    }
    std::optional<bool> fits;
    const auto also = [&fits](bool one) { fits = fits.value_or(true) && one; };
    if (node.binding && node.binding["strength"].equals("required")) {
        if (const auto in = value_in(context, spot, node.binding["valueSet"].string())) {
            also(*in);
        }
    }
    const auto of_child = [&](const Node& child) {
        std::vector<Spot> spots;
        collect(spot, child.name, spots);
        bool any = false;
        bool said = false;
        for (const Spot& inner : spots) {
            const auto one = content_fits(context, profile, child, inner, depth + 1);
            said = said || one.has_value();
            any = any || one == true;
        }
        if (said) {
            also(any);
        } else if (spots.empty() && child.min > 0 && (child.fixed || child.pattern)) {
            also(false);
        }
    };
    for (const std::uint32_t index : node.children) {
        const Node& child = profile.node(index);
        of_child(child);
        for (const std::uint32_t slice : child.slices) {
            if (profile.node(slice).min > 0) {
                of_child(profile.node(slice));
            }
        }
    }
    return fits;
}

/// None if the profile that decides is unknown; the same below.
std::optional<bool> type_fits(Context& context, const Rule& rule, const Spot& spot) {
    if (!rule.node->types) {
        return spot.type.is_a(rule.node->type);
    }
    bool is_unknown = false;
    for (const json::Value type : rule.node->types.elements()) {
        if (!rule.is_resolved) {
            const schema::Type known = schema::find_type(type["code"].string());
            if (known && spot.type.is_a(known)) {
                return true;
            }
            continue;
        }
        for (const json::Value url : type["targetProfile"].elements()) {
            const std::string text = url.string();
            schema::Type known = own_type(text);
            if (!known) {
                const auto profile = Profile::load(context, text);
                is_unknown = is_unknown || !profile;
                known = profile ? (*profile)->type() : schema::Type();
            }
            if (known && spot.type.is_a(known)) {
                return true;
            }
        }
    }
    return is_unknown ? std::nullopt : std::optional(false);
}

std::optional<bool> profile_fits(Context& context, const Frame& frame, const Rule& rule,
                                 const Spot& spot) {
    bool is_unknown = false;
    for (const json::Value type : rule.node->types.elements()) {
        const schema::Type code = schema::find_type(type["code"].string());
        if (!rule.is_resolved && code && !spot.type.is_a(code)) {
            continue;
        }
        for (const json::Value url :
             type[rule.is_resolved ? "targetProfile" : "profile"].elements()) {
            const std::string text = url.string();
            std::optional<bool> one;
            if (spot.value()) {
                one = conforms(context, frame, spot, text);
            } else if (const schema::Type own = own_type(text)) {
                one = spot.type.is_a(own);
            } else if (const auto profile = Profile::load(context, text);
                       profile && !spot.type.is_a((*profile)->type())) {
                one = false;
            }
            if (one == true) {
                return true;
            }
            is_unknown = is_unknown || !one;
        }
    }
    return is_unknown ? std::nullopt : std::optional(false);
}

/// Whether the slice specifies a type or profile.
bool is_said(const Rule& rule, bool by_profile) {
    if (rule.node == nullptr) {
        return false;
    }
    if (rule.is_resolved) {
        return !first_profile(*rule.node, "targetProfile").empty();
    }
    return by_profile ? !first_profile(*rule.node).empty() : rule.node->types || rule.node->type;
}

/// The result of a discriminator: `silent` if the slice doesn't specify it, `unknown` if something isn't available.
enum class Verdict : std::uint8_t { no, yes, silent, unknown };

template <typename Fits>
Verdict any_fits(const std::vector<Reached>& places, bool is_unknown, const Fits& fits) {
    for (const Reached& place : places) {
        const std::optional<bool> one = fits(place);
        if (one == true) {
            return Verdict::yes;
        }
        is_unknown = is_unknown || !one;
    }
    return is_unknown ? Verdict::unknown : Verdict::no;
}

Verdict verdict_of(bool is_in) {
    return is_in ? Verdict::yes : Verdict::no;
}

/// Whether the elements that a discriminator of that kind leads to are as its slice specifies.
Verdict judge(Context& context, std::string_view kind, const Rule& rule,
              const std::vector<Reached>& places, const Away& away) {
    if (kind == "exists") {
        // Discriminates if the element is required or prohibited in the slice; an optional one doesn't.
        const bool is_out = rule.node != nullptr && rule.node->max == 0;
        const bool tells = is_out || (rule.node != nullptr && rule.node->min > 0);
        return !tells         ? Verdict::silent
               : away.content ? Verdict::unknown
                              : verdict_of(is_out == places.empty());
    }
    const bool by_profile = kind == "profile";
    if ((kind == "type" || by_profile) && !is_said(rule, by_profile)) {
        return Verdict::silent;
    }
    if (kind == "type") {
        return any_fits(places, away.type,
                        [&](const Reached& found) { return type_fits(context, rule, found.spot); });
    }
    if (by_profile) {
        return any_fits(places, away.type, [&](const Reached& found) {
            return profile_fits(context, *found.frame, rule, found.spot);
        });
    }
    if (rule.expected) {
        return any_fits(places, away.content, [&](const Reached& found) {
            return std::optional(has_pattern(context, found.spot.value(), rule.expected));
        });
    }
    if (rule.node == nullptr) {
        return Verdict::silent;
    }
    bool is_told = places.empty();
    for (const Reached& found : places) {
        const auto one = content_fits(context, *rule.profile, *rule.node, found.spot, 0);
        if (one == true) {
            return Verdict::yes;
        }
        is_told = is_told || one.has_value();
    }
    return away.content ? Verdict::unknown : is_told ? Verdict::no : Verdict::silent;
}

/// Whether `spot` is in the slice according to one discriminator.
Verdict fits(Context& context, const Frame& frame, const Profile& profile, const Node& slice,
             json::Value discriminator, const Spot& spot) {
    const std::string path = discriminator["path"].string();
    const auto steps = discriminator_steps(path);
    if (!steps) {
        return Verdict::silent;
    }
    if (!context.spend(steps->size() + path.size() / 64)) {
        return Verdict::unknown;
    }
    Rule rule;
    rule.profile = &profile;
    rule.node = &slice;
    std::list<Frame> frames;
    Away away;
    std::vector<Reached> places{{spot, &frame}};
    for (const DiscriminatorStep& step : *steps) {
        const bool is_url = step.kind == DiscriminatorStep::Kind::member && step.text == "url" &&
                            rule.node != nullptr;
        if (is_url && rule.profile->find(*rule.node, "url") == nullptr &&
            rule.node->type == schema::extension_type()) {
            // The url is given by the profile that the extension slice names.
            const std::string url = first_profile(*rule.node);
            if (!url.empty()) {
                return verdict_of(!places.empty() && places.front().spot.value()["url"].equals(
                                                         core::split_canonical(url).url));
            }
        }
        rule = step_rule(context, rule, step);
        places = step_places(context, places, step, frames, away);
    }
    return judge(context, discriminator["type"].string(), rule, places, away);
}

/// Whether `spot` is in the slice according to all discriminators; none if it can't be told.
std::optional<bool> is_told_by(Context& context, const Frame& frame, const Profile& profile,
                               json::Value discriminators, const Node& slice, const Spot& spot) {
    const Node* const plain = slice.plain == kUnbounded ? nullptr : &profile.node(slice.plain);
    if (discriminators.size() > kDiscriminatorsMax) {
        return std::nullopt;
    }
    if (discriminators.size() == 0) {
        if (spot.element.is_choice()) {
            // Choices are always sliced by type, even without a discriminator.
            if (slice.slice == spot.element.name()) {
                return true;
            }
            Rule rule;
            rule.node = &slice;
            return is_said(rule, false) ? type_fits(context, rule, spot) : std::nullopt;
        }
        if (spot.type == schema::extension_type()) {
            const Node* const url = profile.find(slice, "url");
            if (url != nullptr && url->fixed) {
                return same_value(context, spot.value()["url"], url->fixed);
            }
            const std::string known = first_profile(slice);
            return known.empty() ? std::nullopt
                                 : std::optional(spot.value()["url"].equals(
                                       core::split_canonical(known).url));
        }
        return std::nullopt;
    }
    bool is_told = false;
    bool is_unknown = false;
    for (const json::Value discriminator : discriminators.elements()) {
        for (const Node* const node : {&slice, plain}) {
            const Verdict one = node == nullptr
                                    ? Verdict::silent
                                    : fits(context, frame, profile, *node, discriminator, spot);
            if (one == Verdict::no) {
                return false;
            }
            is_told = is_told || one == Verdict::yes;
            is_unknown = is_unknown || one == Verdict::unknown;
        }
    }
    return is_told && !is_unknown ? std::optional(true) : std::nullopt;
}

}  // namespace

std::optional<bool> is_in_slice(Context& context, const Frame& frame, const Profile& profile,
                                const Node& node, const Node& slice, const Spot& spot) {
    const Node* at = &slice;
    do {
        const Node* const outer = at->outer == kUnbounded ? nullptr : &profile.node(at->outer);
        json::Value slicing = outer != nullptr && outer->slicing ? outer->slicing : node.slicing;
        if (!slicing && node.plain != kUnbounded) {
            slicing = profile.node(node.plain).slicing;
        }
        const auto in = is_told_by(context, frame, profile, slicing["discriminator"], *at, spot);
        if (in != true) {
            return in;
        }
        at = outer;
    } while (at != nullptr && context.spend(kSliceSteps));
    return true;
}

}  // namespace annals::validation
