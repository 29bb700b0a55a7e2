#include "core/validation/discriminator_paths.h"

#include "core/canonical.h"
#include "core/validation/context.h"

#include <algorithm>

namespace annals::validation {

std::optional<std::vector<DiscriminatorStep>> discriminator_steps(std::string_view path) {
    std::vector<DiscriminatorStep> steps;
    while (!path.empty()) {
        std::size_t depth = 0;
        bool quoted = false;
        std::size_t end = 0;
        for (; end < path.size(); ++end) {
            const char c = path[end];
            quoted = quoted != (c == '\'');
            depth += !quoted && c == '(' ? 1 : 0;
            depth -= !quoted && c == ')' && depth > 0 ? 1 : 0;
            if (c == '.' && depth == 0 && !quoted) {
                break;
            }
        }
        std::string_view step = path.substr(0, end);
        path.remove_prefix(std::min(path.size(), end + 1));
        const std::size_t open = step.find('(');
        if (open == std::string_view::npos) {
            if (step != "$this" && !step.empty()) {
                steps.push_back({DiscriminatorStep::Kind::member, step.substr(0, step.find('['))});
            }
            continue;
        }
        if (!step.ends_with(')')) {
            return std::nullopt;
        }
        const std::string_view name = step.substr(0, open);
        std::string_view argument = step.substr(open + 1, step.size() - open - 2);
        if (argument.size() >= 2 && (argument.front() == '\'' || argument.front() == '"')) {
            argument = argument.substr(1, argument.size() - 2);
        }
        if (name == "resolve") {
            steps.push_back({DiscriminatorStep::Kind::resolve, {}});
        } else if (name == "extension") {
            steps.push_back({DiscriminatorStep::Kind::extension, argument});
        } else if (name == "ofType") {
            steps.push_back({DiscriminatorStep::Kind::of_type, argument});
        } else {
            return std::nullopt;
        }
    }
    return steps;
}

std::string first_profile(const Node& node, std::string_view member) {
    for (const json::Value type : node.types.elements()) {
        for (const json::Value url : type[member].elements()) {
            return url.string();
        }
    }
    return {};
}

namespace {

json::Value fixed_part(json::Value whole, std::string_view name) {
    json::Value part = whole[name];
    if (part.is_array()) {
        return part.size() == 1 ? *part.elements().begin() : json::Value();
    }
    return part;
}

/// The slice of `extensions` whose profile or fixed url is `url`; the last one, if there are several.
const Node* extension_slice(const Profile& profile, const Node& extensions, std::string_view url) {
    const Node* found = nullptr;
    for (const std::uint32_t index : extensions.slices) {
        const Node& slice = profile.node(index);
        const Node* said = profile.find(slice, "url");
        const std::string canonical = first_profile(slice);
        if (core::split_canonical(canonical).url == url ||
            (said != nullptr && said->fixed.equals(url))) {
            found = &slice;
        }
    }
    return found;
}

/// `follow`: continue in the profile that the types name, if this one says nothing.
Rule step_into(Context& context, const Rule& rule, const DiscriminatorStep& step, bool follow) {
    Rule next;
    if (step.kind == DiscriminatorStep::Kind::of_type) {
        return rule;
    }
    if (step.kind == DiscriminatorStep::Kind::resolve) {
        next = rule;
        next.expected = {};
        next.is_resolved = true;
        return next;
    }
    const std::string_view name =
        step.kind == DiscriminatorStep::Kind::extension ? "extension" : step.text;
    if (rule.expected) {
        next.expected = fixed_part(rule.expected, name);
    }
    if (rule.node == nullptr) {
        return next;
    }
    const json::Value own = rule.node->fixed ? rule.node->fixed : rule.node->pattern;
    if (!next.expected && own) {
        next.expected = fixed_part(own, name);
    }
    const Node* child = rule.profile->find(*rule.node, name);
    if (child != nullptr && step.kind == DiscriminatorStep::Kind::extension) {
        child = extension_slice(*rule.profile, *child, step.text);
    }
    if (child != nullptr) {
        next.profile = rule.profile;
        next.node = child;
        next.keep = rule.keep;
    } else if (follow && !next.expected) {
        const std::string url =
            first_profile(*rule.node, rule.is_resolved ? "targetProfile" : "profile");
        if (!url.empty() && !own_type(url)) {
            if (auto other = Profile::load(context, url)) {
                Rule inner;
                inner.keep = *other;
                inner.profile = inner.keep.get();
                inner.node = &inner.profile->root();
                return step_into(context, inner, step, false);
            }
        }
    }
    return next;
}

}  // namespace

Rule step_rule(Context& context, const Rule& rule, const DiscriminatorStep& step) {
    return step_into(context, rule, step, true);
}

std::vector<Reached> step_places(Context& context, const std::vector<Reached>& places,
                                 const DiscriminatorStep& step, std::list<Frame>& frames,
                                 Away& away) {
    std::vector<Reached> next;
    for (const auto& [spot, frame] : places) {
        switch (step.kind) {
            case DiscriminatorStep::Kind::member: {
                std::vector<Spot> all;
                collect(spot, step.text, all);
                for (const Spot& member : all) {
                    const bool is_resource = member.type.is_resource();
                    next.push_back(
                        {member, is_resource ? &frames.emplace_back(frame_of(*frame, member, spot))
                                             : frame});
                }
                break;
            }
            case DiscriminatorStep::Kind::extension: {
                std::vector<Spot> all;
                collect(spot, "extension", all);
                for (const Spot& extension : all) {
                    if (extension.value()["url"].equals(step.text)) {
                        next.push_back({extension, frame});
                    }
                }
                break;
            }
            case DiscriminatorStep::Kind::of_type:
                if (spot.type.name() == step.text) {
                    next.push_back({spot, frame});
                }
                break;
            case DiscriminatorStep::Kind::resolve: {
                Target target = resolve(context, *frame, spot.value()["reference"]);
                away.content = away.content || !target.resource.type;
                away.type = away.type || !target.type;
                target.resource.type = target.type;
                if (target.resource.type) {
                    next.push_back({target.resource, &frames.emplace_back(target.frame)});
                }
                break;
            }
        }
    }
    return next;
}

}  // namespace annals::validation
