// Profile: a StructureDefinition combined with all those that it is derived from, as a tree of constraints.
//
// Layer:   core, inside core/validation.
// Spec:    FHIR R4 profiling.html, elementdefinition.html, structuredefinition.html.
// Threads: const once made.

#pragma once

#include "core/validation/context.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::validation {

inline constexpr std::size_t kNodesMax = 20'000;    ///< per profile
inline constexpr std::size_t kDerivationsMax = 16;  ///< from R4's own type to a profile
inline constexpr std::uint32_t kUnbounded = UINT32_MAX;

struct Constraint {
    json::Value definition;
    /// Missing if it can't be parsed, or is one of R4's own rules, which are checked anyway.
    std::optional<fhirpath::Expression> rule;
};

/// What a profile says about an element, or about a slice of it. Constraints of R4 itself are not included.
struct Node {
    std::string name;   ///< as in FHIRPath: "value", "component"
    std::string slice;  ///< empty: not a slice
    schema::Type type;  ///< missing unless there is exactly one
    std::uint32_t min = 0;
    std::uint32_t max = kUnbounded;
    json::Value types;  ///< ElementDefinition.type; missing: as in R4
    json::Value fixed;
    json::Value pattern;
    json::Value binding;
    json::Value min_value;
    json::Value max_value;
    json::Value slicing;
    std::optional<std::uint64_t> max_length;
    std::vector<Constraint> constraints;
    std::vector<std::uint32_t> children;
    std::vector<std::uint32_t> slices;
    std::uint32_t outer = kUnbounded;  ///< the slice that contains this one: "a" for "a/b"
    std::uint32_t plain =
        kUnbounded;  ///< for "component:a.code" and its slices: the node of "component.code"
};

class Profile {
  public:
    /// The profile called `url` ("...|version" or without), including all that it is derived from, down from R4's own type.
    ///
    /// Errors: not_found (it, or one that it is derived from, is unknown), structure (it is inconsistent).
    static Result<std::shared_ptr<const Profile>> load(Context& context, std::string_view url);

    /// The same for a given StructureDefinition.
    static Result<std::shared_ptr<const Profile>> compile(Context& context, Definition definition,
                                                          json::Value root, std::size_t depth = 0);

    const std::string& url() const noexcept { return url_; }

    schema::Type type() const noexcept { return type_; }

    const Node& root() const noexcept { return nodes_.front(); }

    const Node& node(std::uint32_t index) const noexcept { return nodes_[index]; }

    /// The StructureDefinition itself.
    json::Value definition() const noexcept { return definition_; }

    /// Elements that it names but its type doesn't have.
    const std::vector<std::string>& faults() const noexcept { return faults_; }

    /// The child of `node` with that name; null if the profile says nothing about it.
    const Node* find(const Node& node, std::string_view name) const noexcept;

  private:
    /// An element that others may be inside of.
    struct Above {
        std::string path;
        std::uint32_t node;
    };

    /// load(), for the first time in this validation.
    static Result<std::shared_ptr<const Profile>> find_or_compile(Context& context,
                                                                  std::string_view url);

    /// False if the steps ran out before the end.
    bool overlay(Context& context, json::Value elements);

    /// The node at `path`, for definitions whose ids don't show the nesting. `above`: the elements before it; those that it
    /// isn't inside of are removed.
    std::uint32_t place_by_path(std::string_view path, std::string_view slice,
                                std::vector<Above>& above);

    void apply(Node& node, json::Value element, bool is_root);

    /// Spends a step, and what names_compared_ counts; false if none are left.
    bool spend(Context& context);
    std::uint32_t child_of(std::uint32_t parent, std::string_view name, std::string_view slice);
    std::uint32_t slice_of(std::uint32_t node, std::string_view slice);
    bool link_slices(Context& context);
    void link_children(std::uint32_t node, std::uint32_t plain);

    std::string url_;
    schema::Type type_;
    json::Value definition_;

    /// The definitions it was made from, its own last; the nodes point into them.
    struct Part {
        std::string url;  ///< as the next one refers to it; empty for its own
        Definition definition;
    };

    bool is_current(const Source& source) const;

    std::vector<Part> parts_;
    std::vector<Node> nodes_;
    std::vector<std::string> faults_;
    std::uint64_t names_compared_ =
        0;  ///< since steps were last spent on it, to find elements among siblings
};

/// Profiles of Quantity that R4 lists as types.
inline constexpr std::string_view kSimpleQuantity = "SimpleQuantity";
inline constexpr std::string_view kMoneyQuantity = "MoneyQuantity";

/// The type in R4 that `url` denotes; missing if it is none.
schema::Type own_type(std::string_view url);

/// Checks a resource or an element against the profile `url`. A profile that can't be loaded is reported with the severity
/// `unknown`.
void check_profile(Context& context, const Frame& frame, const Spot& spot, std::string_view url,
                   Severity unknown);

/// Checks a spot against a node: its value, its children and their slices.
void check_node(Context& context, const Frame& frame, const Profile& profile, const Node& node,
                const Spot& spot);

/// Checks all spots of an element against the node's slices: the rules and cardinality of each slice.
void check_slices(Context& context, const Frame& frame, const Profile& profile, const Node& node,
                  const std::vector<Spot>& spots, const Spot& parent);

/// Whether `spot` conforms to the profile, without reporting anything; none if the profile is unknown.
std::optional<bool> conforms(Context& context, const Frame& frame, const Spot& spot,
                             std::string_view url);

/// Checks an extension against its definition.
void check_extension(Context& context, const Frame& frame, const Spot& spot, const Spot& parent);

/// Equality of JSON: numbers by value, objects regardless of the order of members. True, and reported, if no steps are left.
bool same_value(Context& context, json::Value a, json::Value b);

/// Whether `value` contains everything in `pattern`. True if no steps are left.
bool has_pattern(Context& context, json::Value value, json::Value pattern);

}  // namespace annals::validation
