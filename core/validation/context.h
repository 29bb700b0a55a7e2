// Context: what the parts of one validation share; Spot: the element that they look at.
//
// Layer:   core, inside core/validation.
// Threads: one thread, for the time of one validation.

#pragma once

#include "codec/fhirpath/fhirpath.h"
#include "codec/schema/schema.h"
#include "core/validation/validate.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace annals::validation {

class Profile;
class Terminology;

/// Null also where the source can't tell.
inline Definition find_definition(const Source& source, std::string_view type, std::string_view url,
                                  std::string_view version) {
    Result<Definition> found = source.find(type, url, version);
    return found ? *std::move(found) : nullptr;
}

/// An element of the resource: its value or, of a primitive that has none, the object of its extensions.
struct Spot {
    fhirpath::Place place;
    schema::Type type;        ///< of a resource: its own, not Resource
    schema::Element element;  ///< missing for the outermost resource

    /// Missing if there is none (null counts as none).
    json::Value value() const noexcept {
        if (place.value == fhirpath::Place::kNone) {
            return {};
        }
        const json::Value value(*place.tree, place.value);
        return value.is(json::Kind::null) ? json::Value() : value;
    }

    json::Value sibling() const noexcept {
        if (place.sibling == fhirpath::Place::kNone) {
            return {};
        }
        const json::Value sibling(*place.tree, place.sibling);
        return sibling.is_object() ? sibling : json::Value();
    }

    /// The object whose members are its children.
    json::Value object() const noexcept {
        const json::Value own = value();
        return own.is_object() ? own : sibling();
    }

    fhirpath::Item item() const { return fhirpath::Item::element(place, type); }

    /// The node that stands for it in messages.
    std::uint32_t node() const noexcept {
        return place.value != fhirpath::Place::kNone ? place.value : place.sibling;
    }
};

/// The resource that an element belongs to, and those around it.
struct Frame {
    Spot resource;                 ///< %resource
    Spot container;                ///< %rootResource: what contains it, else itself
    const Frame* outer = nullptr;  ///< of the Bundle or Parameters that it is an entry of
    json::Value entry;             ///< the Bundle entry or parameter that holds it
};

enum class Severity : std::uint8_t { information, warning, error };

struct Context {
    const Source& source;
    const Options& options;
    Report& report;
    json::Value root;
    fhirpath::Evaluator& evaluator;
    std::uint64_t steps_left = 0;
    /// While this is set, faults are counted and not told: a slice is being tried.
    std::size_t* trial = nullptr;
    /// Of each issue of the report the node that it was told of.
    std::vector<std::uint32_t> told{};
    std::size_t depth = 0;
    /// The elements that lead from the frame's resource to the one that is being looked at, by name; the walk's (walk.cc).
    std::vector<std::string_view> path{};
    std::unordered_map<std::string, std::shared_ptr<const Profile>> profiles{};
    /// Made when it is first needed (terminology.cc).
    std::shared_ptr<Terminology> terminology{};
    /// Of a resource's node: what it contains by id, or what is in a Bundle by fullUrl. Made when first needed (references.cc).
    std::unordered_map<std::uint32_t, std::unordered_map<std::string, std::vector<json::Value>>>
        within{};
    /// Pairs of profile and place that are being checked, so that profiles may refer to each other.
    std::vector<std::pair<const Profile*, std::uint32_t>> open{};
    /// What rules ask of terminology, and of references.
    fhirpath::Hooks hooks{};
    /// Where the rule stands that is being evaluated, and whether it asked for what isn't here.
    const Frame* rule_frame = nullptr;
    bool rule_leads_away = false;

    /// Tells of a fault at `spot`.
    void tell(Severity severity, std::string_view code, const Spot& spot, std::string text) {
        tell(severity, code, spot.node(), std::move(text));
    }

    void tell(Severity severity, std::string_view code, std::uint32_t node, std::string text);

    void error(std::string_view code, const Spot& spot, std::string text) {
        tell(Severity::error, code, spot, std::move(text));
    }

    void warn(std::string_view code, const Spot& spot, std::string text) {
        tell(Severity::warning, code, spot, std::move(text));
    }

    /// Takes `count` steps; false if there are none left.
    bool spend(std::uint64_t count = 1);

    /// Tells of a code that its system does not have.
    void tell_unknown_code(std::uint32_t node, std::string text) {
        tell(options.refuse_unknown_codes ? Severity::error : Severity::warning, "code-invalid",
             node, std::move(text));
    }

    bool exhausted() const noexcept { return steps_left == 0; }
};

inline constexpr std::size_t kProfileDepthMax = 32;  ///< profiles inside of profiles

/// The outermost spot of a resource: an object with a resourceType that R4 has; else its type is missing.
Spot resource_spot(json::Value resource);

/// The children of `parent` that FHIRPath calls `base_name`, in order, appended to `found`.
void collect(const Spot& parent, std::string_view base_name, std::vector<Spot>& found);

/// What is around `spot`, a child of `parent`, of which `frame` is: where it is a resource, another one begins.
///
/// Lifetime: `frame` outlives it.
Frame frame_of(const Frame& frame, const Spot& spot, const Spot& parent);

/// Calls `see(child)` for each child element of `parent`, in the order of the text.
template <typename See>
void for_each_child(const Spot& parent, const See& see);

/// The one child of that name, or a spot without a type.
Spot child(const Spot& parent, std::string_view base_name);

/// The text of a primitive: a string's characters, else what stands there.
std::string text_of(json::Value value);

// ---- the parts ----

/// Checks a resource and all in it against R4's own definitions and what they claim. `frame.resource` is it.
void check_resource(Context& context, const Frame& frame);

/// Evaluates a rule on `spot`: false if it is broken; nothing if it can't be told.
std::optional<bool> holds(Context& context, const Frame& frame, const Spot& spot,
                          const fhirpath::Expression& rule);

/// Rules beyond FHIRPath: identifiers, canonicals, attachments, narratives, markup, codes of SNOMED CT.
void check_data_type(Context& context, const Spot& spot);

/// Rules of single resource types that R4 gives in words.
void check_resource_rules(Context& context, const Frame& frame);

/// Rules of Bundles.
void check_bundle(Context& context, const Frame& frame);

/// A Reference: whether it leads somewhere it may, to a type it may.
void check_reference(Context& context, const Frame& frame, const Spot& spot);

/// Contained resources: referred to, and from where they are.
void check_contained(Context& context, const Frame& frame);

/// What a reference leads to, as far as the document tells: the type, and the resource if it is there.
struct Target {
    schema::Type type;
    Spot resource;
    Frame frame;
};

Target resolve(Context& context, const Frame& frame, json::Value reference);
Target resolve(Context& context, const Frame& frame, std::string_view reference);

/// How many resources of the Bundle around `frame` the reference means; nothing if there is no Bundle around it.
std::optional<std::size_t> count_in_bundle(Context& context, const Frame& frame,
                                           std::string_view reference);

}  // namespace annals::validation
