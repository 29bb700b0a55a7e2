#include "core/validation/context.h"
#include "core/validation/profile.h"
#include "core/validation/references.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace annals::validation {

namespace {

constexpr std::string_view kOwnRoot = "http://hl7.org/fhir/";

/// Extensions for elements of other FHIR releases: http://hl7.org/fhir/5.0/StructureDefinition/extension-...
bool is_of_other_release(std::string_view url) {
    url.remove_prefix(std::min(url.size(), kOwnRoot.size()));
    return !url.empty() && url.front() >= '1' && url.front() <= '9';
}

/// Whether the owner of the extension is the element called `wanted` ("Patient.name", "HumanName", "Element").
bool is_at(std::string_view wanted, const Spot& owner) {
    const schema::Type type = schema::find_type(wanted);
    if (type && owner.type && owner.type.is_a(type)) {
        return true;
    }
    // R4's own definitions also use Element for resources.
    return wanted == "Element" || wanted == "*";
}

/// Whether the owner of the extension, the last one in the context's path, is the element `wanted`: "Patient.name.family".
bool is_below(const Context& context, const Frame& frame, std::string_view wanted,
              const Spot& owner) {
    std::string below;  // ".name.family"
    for (std::size_t i = 0; i + 1 < context.path.size(); ++i) {
        below.append(".").append(context.path[i]);
    }
    const std::size_t dot = wanted.find('.');
    const std::string_view head = wanted.substr(0, dot);
    std::string rest =
        dot == std::string_view::npos ? std::string() : std::string(wanted.substr(dot));
    if (rest.ends_with("[x]")) {
        rest.resize(rest.size() - 3);
    }
    const schema::Type type = schema::find_type(head);
    if (!type) {
        return true;  // unknown
    }
    if (type.is_resource()) {
        if (!frame.resource.type.is_a(type)) {
            return false;
        }
        // A choice's name may be followed by its type: value and valueQuantity.
        return below == rest ||
               (!rest.empty() && below.starts_with(rest) && owner.element.is_choice() &&
                below.find('.', rest.size()) == std::string::npos);
    }
    // For an element of a data type, only the end of the path can be compared.
    return below.ends_with(rest);
}

bool allowed_here(const Context& context, const Frame& frame, json::Value definition,
                  const Spot& owner) {
    const json::Value contexts = definition["context"];
    // R4's own definitions use these next to or around the elements that they are meant for.
    const std::string id = definition["id"].string();
    if (contexts.size() == 0 || id.starts_with("structuredefinition-") || id == "regex") {
        return true;
    }
    for (const json::Value one : contexts.elements()) {
        const std::string expression = one["expression"].string();
        if (one["type"].equals("extension") && expression.find('#') == std::string::npos) {
            if (owner.type == schema::extension_type() && owner.value()["url"].equals(expression)) {
                return true;
            }
            continue;
        }
        if (!one["type"].equals("element")) {
            return true;  // FHIRPath and parts of other extensions are not checked
        }
        if (is_at(expression, owner) || (expression.find('.') != std::string::npos &&
                                         is_below(context, frame, expression, owner))) {
            return true;
        }
        if (expression.find('/') != std::string::npos ||
            expression.find('(') != std::string::npos ||
            expression.find('#') != std::string::npos) {
            return true;
        }
    }
    return false;
}

/// The extensions inside a complex one must be among those in its definition.
void check_parts(Context& context, const Profile& profile, const Spot& spot) {
    const Node* const parts = profile.find(profile.root(), "extension");
    if (parts == nullptr || parts->slices.empty()) {
        return;
    }
    std::vector<Spot> found;
    collect(spot, "extension", found);
    for (const Spot& part : found) {
        const std::string url = part.value()["url"].string();
        bool known = is_absolute(url);
        for (const std::uint32_t index : parts->slices) {
            const Node& slice = profile.node(index);
            const Node* const fixed = profile.find(slice, "url");
            known = known || slice.slice == url || (fixed != nullptr && fixed->fixed.equals(url));
        }
        if (!known) {
            context.error("structure", part,
                          fmt::format("The extension {} has no part {}", profile.url(), url));
        }
    }
}

/// Whether the definition makes the extension a modifier; none if the base definition decides.
std::optional<bool> says_modifier(json::Value definition) {
    for (const char* const view : {"snapshot", "differential"}) {
        for (const json::Value element : definition[view]["element"].elements()) {
            const json::Value is_modifier = element["isModifier"];
            if (element["path"].equals("Extension") && is_modifier) {
                return is_modifier.raw() == "true";
            }
        }
    }
    if (own_type(definition["baseDefinition"].string()) == schema::extension_type()) {
        return false;  // as in Extension itself
    }
    return std::nullopt;
}

/// The amount of data in the definition that may be searched for one extension.
std::size_t size_of_definition(json::Value definition) {
    return definition["context"].size() + definition["snapshot"]["element"].size() +
           definition["differential"]["element"].size();
}

/// Modifier extensions must be in modifierExtension, others must not.
void check_modifier(Context& context, const Profile& profile, const Spot& spot) {
    const std::optional<bool> is_modifier = says_modifier(profile.definition());
    if (is_modifier && *is_modifier != (spot.element.name() == "modifierExtension")) {
        context.error("structure", spot,
                      fmt::format("The extension {} is {} modifier, and does not stand in {}",
                                  profile.url(), *is_modifier ? "a" : "no", spot.element.name()));
    }
}

}  // namespace

void check_extension(Context& context, const Frame& frame, const Spot& spot, const Spot& parent) {
    const json::Value url_value = spot.value()["url"];
    const std::string url = url_value.string();
    if (url.empty()) {
        return;
    }
    if (!is_absolute(url)) {
        if (parent.type != schema::extension_type()) {
            context.error("invalid", spot,
                          fmt::format("An extension's url must be absolute, not {}", url));
        }
        return;
    }
    if (url.find('|') != std::string::npos) {
        context.error("invalid", spot, "An extension's url must not have a version");
        return;
    }
    const Result<std::shared_ptr<const Profile>> definition = Profile::load(context, url);
    if (!definition && definition.error().code == Errc::too_costly) {
        return;  // that the steps ran out has been told
    }
    if (!definition) {
        const bool is_modifier = spot.element.name() == "modifierExtension";
        const bool is_own = url.starts_with(kOwnRoot) && !is_of_other_release(url);
        const bool is_there = definition.error().code != Errc::not_found;
        if (is_own && context.options.refuse_unknown_extensions) {
            context.error("structure", spot,
                          is_there ? definition.error().detail
                                   : fmt::format("The extension {} is not known", url));
        } else if (is_modifier) {
            context.warn("extension", spot,
                         is_there ? definition.error().detail
                                  : fmt::format("The modifier extension {} is not known", url));
        }
        return;
    }
    const Profile& known = **definition;
    if (known.type() != schema::extension_type()) {
        context.error("structure", spot, fmt::format("{} is not an extension", url));
        return;
    }
    if (!context.spend(size_of_definition(known.definition()))) {
        return;
    }
    if (!allowed_here(context, frame, known.definition(), parent)) {
        context.error("structure", spot,
                      fmt::format("The extension {} is not for {}", url,
                                  parent.element ? parent.element.name() : parent.type.name()));
    }
    check_modifier(context, known, spot);
    check_parts(context, known, spot);
    check_profile(context, frame, spot, url, Severity::information);
}

}  // namespace annals::validation
