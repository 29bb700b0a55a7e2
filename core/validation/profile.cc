#include "core/validation/profile.h"

#include "core/base/parts.h"
#include "core/base/text.h"
#include "core/canonical.h"
#include "core/terminology/kept.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::validation {

namespace {

constexpr std::string_view kOwnPrefix = "http://hl7.org/fhir/StructureDefinition/";

std::optional<std::uint64_t> number_of(json::Value value) {
    return parse_number(text_of(value));
}

std::uint32_t bounded(std::uint64_t number) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(number, kUnbounded - 1));
}

/// The parts of "component:systolic"; the name of a type slice may contain no dot.
struct Step {
    std::string_view name;
    std::string_view slice;
};

std::vector<Step> steps_of(std::string_view id) {
    std::vector<Step> steps;
    while (!id.empty()) {
        std::string_view slice = take_until(id, '.');
        const std::string_view name = take_until(slice, ':');
        steps.push_back({name, slice});
    }
    return steps;
}

bool is_path_of(const std::vector<Step>& steps, std::string_view path) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (take_until(path, '.') != steps[i].name) {
            return false;
        }
    }
    return path.empty();
}

/// The member of `element` whose name is `prefix` and a type, such as fixedCode or patternQuantity.
json::Value typed_member(json::Value element, std::string_view prefix) {
    for (const auto [key, value] : element.members()) {
        const std::string_view name = key.raw_string();
        if (name.size() > prefix.size() && name.starts_with(prefix) && name[prefix.size()] >= 'A' &&
            name[prefix.size()] <= 'Z') {
            return value;
        }
    }
    return {};
}

std::optional<fhirpath::Expression> rule_of(std::string_view key, std::string_view text) {
    static fhirpath::ExpressionCache cache;
    if (key == "ele-1" || key == "ext-1" || key.starts_with("dom-")) {
        return std::nullopt;
    }
    const Result<fhirpath::Expression> rule = cache.get(text);
    return rule ? std::optional(*rule) : std::nullopt;
}

/// The type in an ElementDefinition.type.
schema::Type type_named(json::Value type) {
    const std::string code = type["code"].string();
    // FHIRPath's system types denote the values of primitives.
    return code.starts_with("http:") ? schema::Type() : schema::find_type(code);
}

}  // namespace

schema::Type own_type(std::string_view url) {
    url = core::split_canonical(url).url;
    if (!url.starts_with(kOwnPrefix)) {
        return {};
    }
    std::string_view name = url.substr(kOwnPrefix.size());
    if (name == kSimpleQuantity || name == kMoneyQuantity) {
        name = "Quantity";  // profiles that R4 lists as types
    }
    const schema::Type type = schema::find_type(name);
    return type && type.kind() != schema::TypeKind::backbone ? type : schema::Type();
}

namespace {

Definition find_profile(const Source& source, std::string_view canonical) {
    const auto [url, version] = core::split_canonical(canonical);
    return find_definition(source, "StructureDefinition", url, version);
}

// Kept per thread.
constexpr std::size_t kProfilesMax = 512;
constexpr std::size_t kProfileBytesMax = 256 << 20;

constexpr std::uint64_t kNamesPerStep = 12;

}  // namespace

bool Profile::is_current(const Source& source) const {
    return std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) {
        return part.url.empty() || find_profile(source, part.url) == part.definition;
    });
}

Result<std::shared_ptr<const Profile>> Profile::load(Context& context, std::string_view url) {
    auto seen = context.profiles.find(url);
    if (seen == context.profiles.end()) {
        seen = context.profiles.emplace(url, find_or_compile(context, url)).first;
    }
    return seen->second;
}

Result<std::shared_ptr<const Profile>> Profile::find_or_compile(Context& context,
                                                                std::string_view url) {
    thread_local terminology::Kept<Profile> kept(kProfileBytesMax, kProfilesMax);
    const Definition definition = find_profile(context.source, url);
    if (!definition) {
        return Error{Errc::not_found, fmt::format("{} is not known", url)};
    }
    std::shared_ptr<const Profile> before = kept.find(definition);
    if (before != nullptr && before->is_current(context.source)) {
        return before;
    }
    ANNALS_TRY(std::shared_ptr<const Profile> made,
               compile(context, definition, definition->root()));
    std::vector<Definition> documents;
    for (const Part& part : made->parts_) {
        documents.push_back(part.definition);
    }
    kept.keep(definition, made, made->nodes_.size() * sizeof(Node), std::move(documents));
    return made;
}

Result<std::shared_ptr<const Profile>> Profile::compile(Context& context, Definition definition,
                                                        json::Value root, std::size_t depth) {
    auto profile = std::make_shared<Profile>();
    profile->url_ = root["url"].string();
    profile->definition_ = root;
    const std::string type = root["type"].string();
    profile->type_ = schema::find_type(type);
    if (!profile->type_) {
        return Error{Errc::structure, fmt::format("{} is of the type {}, which R4 does not have",
                                                  profile->url_, type)};
    }
    const std::string base = root["baseDefinition"].string();
    const json::Value differential = root["differential"]["element"];
    const json::Value snapshot = root["snapshot"]["element"];
    bool from_base = false;
    const bool specializes = root["derivation"].equals("specialization");
    if (differential && own_type(base)) {
        from_base = true;
    } else if (differential && !base.empty() && depth < kDerivationsMax && !specializes) {
        if (const Definition found = find_profile(context.source, base)) {
            ANNALS_TRY(const std::shared_ptr<const Profile> parent,
                       compile(context, found, found->root(), depth + 1));
            if (parent->type_ != profile->type_) {
                return Error{
                    Errc::structure,
                    fmt::format("{} is derived from a profile of another type", profile->url_)};
            }
            profile->nodes_ = parent->nodes_;
            profile->parts_ = parent->parts_;
            profile->parts_.back().url = base;
            from_base = true;
        }
    }
    profile->parts_.push_back({"", std::move(definition)});
    if (profile->nodes_.empty()) {
        profile->nodes_.emplace_back();
        profile->nodes_.front().type = profile->type_;
        profile->nodes_.front().name = type;
    }
    const json::Value elements = from_base ? differential : snapshot;
    if (!elements) {
        return Error{Errc::not_found,
                     fmt::format("What {} is derived from is not known: {}", profile->url_, base)};
    }
    if (!profile->overlay(context, elements) || !context.spend(profile->nodes_.size())) {
        return Error{Errc::too_costly, fmt::format("{} takes too many steps", profile->url_)};
    }
    return std::shared_ptr<const Profile>(std::move(profile));
}

const Node* Profile::find(const Node& node, std::string_view name) const noexcept {
    for (const std::uint32_t index : node.children) {
        if (nodes_[index].name == name) {
            return &nodes_[index];
        }
    }
    return nullptr;
}

std::uint32_t Profile::slice_of(std::uint32_t node, std::string_view slice) {
    std::uint32_t outer = kUnbounded;
    std::size_t outer_size = 0;
    names_compared_ += nodes_[node].slices.size();
    for (const std::uint32_t index : nodes_[node].slices) {
        const std::string& known = nodes_[index].slice;
        if (known == slice) {
            return index;
        }
        if (known.size() > outer_size && slice.starts_with(known) && slice[known.size()] == '/') {
            outer = index;
            outer_size = known.size();
        }
    }
    const auto made = static_cast<std::uint32_t>(nodes_.size());
    Node added;
    added.name = nodes_[node].name;
    added.slice = slice;
    added.type = nodes_[node].type;
    added.outer = outer;
    nodes_.push_back(std::move(added));
    nodes_[node].slices.push_back(made);
    return made;
}

std::uint32_t Profile::child_of(std::uint32_t parent, std::string_view name,
                                std::string_view slice) {
    const schema::Type type = nodes_[parent].type;
    schema::Type own;
    bool is_known = !type;
    std::string type_slice;
    if (name.ends_with("[x]")) {
        name.remove_suffix(3);
    }
    if (type) {
        const schema::Range<schema::Element> options = type.find_base(name);
        if (!options.empty()) {
            is_known = true;
            own = options.size() == 1 ? options[0].type() : schema::Type();
        } else if (const schema::Element option = type.find(name); option && option.is_choice()) {
            // "valueQuantity" is a slice of value[x].
            is_known = true;
            own = option.type();
            type_slice = name;
            name = option.base_name();
        }
    }
    std::uint32_t at = kUnbounded;
    names_compared_ += nodes_[parent].children.size();
    for (const std::uint32_t index : nodes_[parent].children) {
        if (nodes_[index].name == name) {
            at = index;
        }
    }
    if (at == kUnbounded) {
        if (!is_known) {
            faults_.push_back(fmt::format("{} has no element {}", type.name(), name));
        }
        at = static_cast<std::uint32_t>(nodes_.size());
        Node added;
        added.name = name;
        added.type = type_slice.empty() ? own : schema::Type();
        nodes_.push_back(std::move(added));
        nodes_[parent].children.push_back(at);
    }
    if (!type_slice.empty() && (slice.empty() || slice == type_slice)) {
        slice = type_slice;
    }
    if (slice.empty()) {
        return at;
    }
    const std::uint32_t made = slice_of(at, slice);
    if (!nodes_[made].type) {
        if (own) {
            nodes_[made].type = own;
        } else if (type) {
            const schema::Element option = type.find(slice);
            nodes_[made].type = option && option.is_choice() ? option.type() : schema::Type();
        }
    }
    return made;
}

void Profile::apply(Node& node, json::Value element, bool is_root) {
    if (const auto min = number_of(element["min"]); min && !is_root) {
        node.min = bounded(*min);
    }
    if (const json::Value max = element["max"]; max && !is_root && !max.equals("*")) {
        if (const auto number = number_of(max)) {
            node.max = bounded(*number);
        }
    }
    if (const json::Value types = element["type"]; types.size() > 0) {
        node.types = types;
        if (types.size() == 1 && !is_root) {
            const schema::Type type = type_named(*types.elements().begin());
            // A backbone element has a type of its own, not the abstract one that the definition names.
            if (type && !type.is_abstract()) {
                node.type = type;
            }
        }
    }
    const auto set = [](json::Value& into, json::Value value) {
        if (value) {
            into = value;
        }
    };
    set(node.fixed, typed_member(element, "fixed"));
    set(node.pattern, typed_member(element, "pattern"));
    set(node.min_value, typed_member(element, "minValue"));
    set(node.max_value, typed_member(element, "maxValue"));
    set(node.binding, element["binding"]);
    set(node.slicing, element["slicing"]);
    if (const auto length = number_of(element["maxLength"])) {
        node.max_length = length;
    }
    for (const json::Value constraint : element["constraint"].elements()) {
        if (!constraint["expression"].is_string()) {
            continue;
        }
        const std::string key = constraint["key"].string();
        const auto same = std::find_if(
            node.constraints.begin(), node.constraints.end(),
            [&](const Constraint& other) { return other.definition["key"].equals(key); });
        Constraint made{constraint, rule_of(key, constraint["expression"].string())};
        if (same == node.constraints.end()) {
            node.constraints.push_back(std::move(made));
        } else {
            *same = std::move(made);
        }
    }
}

std::uint32_t Profile::place_by_path(std::string_view path, std::string_view slice,
                                     std::vector<Above>& above) {
    while (!above.empty()) {
        const std::string& last = above.back().path;
        if (path.size() > last.size() && path.starts_with(last) && path[last.size()] == '.') {
            break;
        }
        above.pop_back();
    }
    std::uint32_t at = above.empty() ? 0 : above.back().node;
    const std::vector<Step> steps = steps_of(path);
    for (std::size_t i = above.empty() ? 1 : steps_of(above.back().path).size(); i < steps.size();
         ++i) {
        at = child_of(at, steps[i].name, i + 1 == steps.size() ? slice : std::string_view());
    }
    return at;
}

bool Profile::spend(Context& context) {
    return context.spend(1 + std::exchange(names_compared_, 0) / kNamesPerStep);
}

bool Profile::overlay(Context& context, json::Value elements) {
    std::vector<Above> above;
    for (const json::Value element : elements.elements()) {
        const std::string path = element["path"].string();
        const std::string id = element["id"].string();
        const std::string slice = element["sliceName"].string();
        if (path.empty() || nodes_.size() > kNodesMax) {
            continue;
        }
        const std::size_t depth = steps_of(path).size();
        if (depth > kJsonDepthMax) {
            continue;  // no resource is nested so deep
        }
        std::vector<Step> steps = steps_of(id);
        std::uint32_t at = 0;
        if (steps.size() == depth && is_path_of(steps, path)) {
            if (!slice.empty() && steps.back().slice.empty()) {
                steps.back().slice = slice;
            }
            for (std::size_t i = 1; i < steps.size(); ++i) {
                at = child_of(at, steps[i].name, steps[i].slice);
            }
        } else {
            at = place_by_path(path, slice, above);
        }
        apply(nodes_[at], element, depth == 1);
        above.push_back({path, at});
        if (!spend(context)) {
            return false;
        }
    }
    return link_slices(context);
}

bool Profile::link_slices(Context& context) {
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
        for (const std::uint32_t slice : nodes_[i].slices) {
            link_children(slice, i);
            if (!spend(context)) {
                return false;
            }
        }
    }
    return true;
}

void Profile::link_children(std::uint32_t node, std::uint32_t plain) {
    names_compared_ += nodes_[node].children.size() * nodes_[plain].children.size();
    for (const std::uint32_t child : nodes_[node].children) {
        const auto same =
            std::ranges::find(nodes_[plain].children, nodes_[child].name,
                              [&](std::uint32_t index) { return nodes_[index].name; });
        if (same == nodes_[plain].children.end()) {
            continue;
        }
        nodes_[child].plain = *same;
        names_compared_ += nodes_[child].slices.size() * nodes_[*same].slices.size();
        for (const std::uint32_t slice : nodes_[child].slices) {
            const auto like =
                std::ranges::find(nodes_[*same].slices, nodes_[slice].slice,
                                  [&](std::uint32_t index) { return nodes_[index].slice; });
            if (like != nodes_[*same].slices.end()) {
                nodes_[slice].plain = *like;
            }
        }
        link_children(child, *same);
    }
}

}  // namespace annals::validation
