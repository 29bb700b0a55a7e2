// Context: the state shared by the parts of one validation; Spot: the element being checked.
//
// Layer:   core, inside core/validation.
// Threads: one thread, for the duration of one validation.

#pragma once

#include "codec/fhirpath/fhirpath.h"
#include "codec/schema/schema.h"
#include "core/base/text_map.h"
#include "core/validation/validate.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::validation {

class Profile;
class Terminology;

/// Null if there is none, or if the source fails.
inline Definition find_definition(const Source& source, std::string_view type, std::string_view url,
                                  std::string_view version) {
    Result<Definition> found = source.find(type, url, version);
    return found ? *std::move(found) : nullptr;
}

/// An element of the resource: its value or, for a primitive without a value, the object with its extensions.
struct Spot {
    fhirpath::Place place;
    schema::Type type;        ///< for a resource, the specific type
    schema::Element element;  ///< missing for the outermost resource

    /// Missing if there is no value (null counts as none).
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

    /// The object whose members are the children.
    json::Value object() const noexcept {
        const json::Value own = value();
        return own.is_object() ? own : sibling();
    }

    fhirpath::Item item() const { return fhirpath::Item::element(place, type); }

    /// The node that represents it in messages.
    std::uint32_t node() const noexcept {
        return place.value != fhirpath::Place::kNone ? place.value : place.sibling;
    }
};

/// The resource that an element belongs to, and what surrounds it.
struct Frame {
    Spot resource;                 ///< %resource
    Spot container;                ///< %rootResource: what contains it, otherwise itself
    const Frame* outer = nullptr;  ///< the Bundle or Parameters that has it as an entry
    json::Value entry;             ///< the Bundle entry or parameter that holds it
};

/// A contained resource, or a Bundle's entry and the resource in it.
struct Held {
    json::Value element;
    Spot resource;
    json::Value version;  ///< the resource's meta.versionId
};

enum class Severity : std::uint8_t { information, warning, error };

struct Context {
    const Source& source;
    const Options& options;
    Report& report;
    json::Value root;
    fhirpath::Evaluator& evaluator;
    std::uint64_t steps_left = 0;
    /// While set, faults are counted instead of reported, to try whether an element fits.
    std::size_t* trial = nullptr;
    /// For each issue in the report, the node that it is about.
    std::vector<std::uint32_t> told{};
    std::size_t depth = 0;
    /// The names of the elements from the frame's resource to the current element; maintained by walk.cc.
    std::vector<std::string_view> path{};
    /// What Profile::load() has returned so far.
    TextMap<Result<std::shared_ptr<const Profile>>> profiles{};
    /// Made on first use (terminology.cc).
    std::shared_ptr<Terminology> terminology{};
    /// By node of a resource and member: its contained resources by id, or a Bundle's entries by fullUrl. Made on first
    /// use (references.cc).
    std::map<std::pair<std::uint32_t, std::string_view>, TextMap<std::vector<Held>>> within{};
    /// By node of a Bundle's entry: the base of relative references in it. Made on first use (references.cc).
    std::map<std::uint32_t, std::string> bases{};
    /// Pairs of profile and place that are being checked; stops recursion where profiles refer to each other.
    std::vector<std::pair<const Profile*, std::uint32_t>> open{};
    /// How FHIRPath rules evaluate memberOf() and resolve().
    fhirpath::Hooks hooks{};
    /// The frame of the rule being evaluated, and whether it needed a resource that isn't available.
    const Frame* rule_frame = nullptr;
    bool rule_leads_away = false;

    /// Reports a fault at `spot`.
    void tell(Severity severity, std::string_view code, const Spot& spot, std::string text) {
        tell(severity, code, spot.node(), std::move(text));
    }

    void tell(Severity severity, std::string_view code, std::uint32_t node, std::string text);

    void error(std::string_view code, const Spot& spot, std::string text) {
        tell(Severity::error, code, spot, std::move(text));
    }

    void error(std::string_view code, json::Value value, std::string text) {
        tell(Severity::error, code, value.index(), std::move(text));
    }

    void warn(std::string_view code, const Spot& spot, std::string text) {
        tell(Severity::warning, code, spot, std::move(text));
    }

    /// Uses up `count` steps; false if none are left.
    bool spend(std::uint64_t count = 1);

    /// Reports a code that its system doesn't have.
    void tell_unknown_code(std::uint32_t node, std::string text) {
        tell(options.refuse_unknown_codes ? Severity::error : Severity::warning, "code-invalid",
             node, std::move(text));
    }

    bool exhausted() const noexcept { return steps_left == 0; }
};

inline constexpr std::size_t kProfileDepthMax = 32;  ///< profiles nested in profiles

/// The outermost spot of a resource; its type is missing unless it is an object with a resourceType in R4.
Spot resource_spot(json::Value resource);

/// Appends the children of `parent` that FHIRPath calls `base_name` to `found`, in order.
void collect(const Spot& parent, std::string_view base_name, std::vector<Spot>& found);

/// The frame of `spot`, a child of `parent`, which is in `frame`. If `spot` is a resource, it is a new frame.
///
/// Lifetime: `frame` outlives it.
Frame frame_of(const Frame& frame, const Spot& spot, const Spot& parent);

/// Calls `see(child)` for each child element of `parent`, in the order of the text.
template <typename See>
void for_each_child(const Spot& parent, const See& see);

/// The only child of that name, or a spot without a type.
Spot child(const Spot& parent, std::string_view base_name);

/// The text of a primitive: the characters of a string, otherwise the raw text.
std::string text_of(json::Value value);

// ---- the parts ----

/// Checks `frame.resource` and everything in it against R4's own definitions and the profiles that they claim.
void check_resource(Context& context, const Frame& frame);

/// Whether `rule` yields true on `spot`, as it must; none if that can't be told.
std::optional<bool> holds(Context& context, const Frame& frame, const Spot& spot,
                          const fhirpath::Expression& rule);

/// Rules on data types that FHIRPath can't express: identifiers, canonicals, attachments, narratives, markup, SNOMED CT codes.
void check_data_type(Context& context, const Spot& spot);

/// Rules on certain resource types that R4 only states in words.
void check_resource_rules(Context& context, const Frame& frame);

/// Rules of Bundles.
void check_bundle(Context& context, const Frame& frame);

/// Checks whether a Reference has a permitted form and target, and a target of a permitted type.
void check_reference(Context& context, const Frame& frame, const Spot& spot);

/// Checks whether contained resources are referred to, and from the right places.
void check_contained(Context& context, const Frame& frame);

/// The target of a reference, as far as the document shows: its type, and the resource if it is in the document.
struct Target {
    schema::Type type;
    Spot resource;
    Frame frame;
};

Target resolve(Context& context, const Frame& frame, json::Value reference);
Target resolve(Context& context, const Frame& frame, std::string_view reference);

/// The number of resources in the Bundle around `frame` that the reference matches; none if there is no such Bundle.
std::optional<std::size_t> count_in_bundle(Context& context, const Frame& frame,
                                           std::string_view reference);

}  // namespace annals::validation
