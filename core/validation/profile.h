// Profile: a StructureDefinition with all that it is derived from, as a tree of what it demands.
//
// Layer:   core, inside core/validation.
// Spec:    FHIR R4 profiling.html, elementdefinition.html, structuredefinition.html.
// Threads: const once made.

#pragma once

#include "core/validation/context.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::validation {

inline constexpr std::size_t kNodesMax = 20'000;    ///< of one profile
inline constexpr std::size_t kDerivationsMax = 16;  ///< from a profile to R4's own type
inline constexpr std::uint32_t kUnbounded = UINT32_MAX;

struct Constraint {
    json::Value definition;
    /// Missing where it is none that can be read here, or one that R4 itself has, which is looked at anyway.
    std::optional<fhirpath::Expression> rule;
};

/// What a profile says of an element, or of a slice of it. Sparse: what R4 itself demands isn't in it.
struct Node {
    std::string name;   ///< as FHIRPath has it: "value", "component"
    std::string slice;  ///< empty: no slice
    schema::Type type;  ///< missing if it isn't one alone
    std::uint32_t min = 0;
    std::uint32_t max = kUnbounded;
    json::Value types;  ///< ElementDefinition.type; missing: as R4 has it
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
    std::uint32_t outer = kUnbounded;  ///< the slice that this one is a slice of: "a" of "a/b"
    std::uint32_t plain =
        kUnbounded;  ///< of "component:a.code" and of slices of it: the same of "component.code"
};

class Profile {
  public:
    /// The profile called `url` ("...|version" or without), from R4's own type down to itself.
    ///
    /// Errors: not_found (it isn't known, or what it is derived from isn't), structure (it makes no sense).
    static Result<std::shared_ptr<const Profile>> load(Context& context, std::string_view url);

    /// The same of a StructureDefinition at hand.
    static Result<std::shared_ptr<const Profile>> compile(Context& context, Definition definition,
                                                          json::Value root, std::size_t depth = 0);

    const std::string& url() const noexcept { return url_; }

    schema::Type type() const noexcept { return type_; }

    const Node& root() const noexcept { return nodes_.front(); }

    const Node& node(std::uint32_t index) const noexcept { return nodes_[index]; }

    /// The StructureDefinition itself.
    json::Value definition() const noexcept { return definition_; }

    /// Elements that it names and its type does not have.
    const std::vector<std::string>& faults() const noexcept { return faults_; }

    /// The child of `node` of that name; null if the profile says nothing of it.
    const Node* find(const Node& node, std::string_view name) const noexcept;

  private:
    void overlay(json::Value elements);
    void apply(Node& node, json::Value element, bool is_root);
    std::uint32_t child_of(std::uint32_t parent, std::string_view name, std::string_view slice);
    std::uint32_t slice_of(std::uint32_t node, std::string_view slice);
    void link_slices();
    void link_children(std::uint32_t node, std::uint32_t plain);

    std::string url_;
    schema::Type type_;
    json::Value definition_;

    /// What it is made of, itself last: the nodes point into it.
    struct Part {
        std::string url;  ///< as the next one names it; of itself empty
        Definition definition;
    };

    bool is_current(const Source& source) const;

    std::vector<Part> parts_;
    std::vector<Node> nodes_;
    std::vector<std::string> faults_;
    std::uint64_t names_compared_ = 0;  ///< to make it: an element is looked for among its siblings
};

/// Profiles of Quantity that R4 counts among its types.
inline constexpr std::string_view kSimpleQuantity = "SimpleQuantity";
inline constexpr std::string_view kMoneyQuantity = "MoneyQuantity";

/// The type that `url` defines if that is one of R4's own; missing otherwise.
schema::Type own_type(std::string_view url);

/// Checks a resource or an element against the profile `url`. A profile that can't be loaded is an issue of the
/// severity `unknown`.
void check_profile(Context& context, const Frame& frame, const Spot& spot, std::string_view url,
                   Severity unknown);

/// Checks a spot against a node: its value, its children, slices of those.
void check_node(Context& context, const Frame& frame, const Profile& profile, const Node& node,
                const Spot& spot);

/// The spots of one element against the node's slices: every slice's own rules and counts.
void check_slices(Context& context, const Frame& frame, const Profile& profile, const Node& node,
                  const std::vector<Spot>& spots, const Spot& parent);

/// Is it true without a word said that `spot` conforms to the profile? Nothing if the profile isn't known.
std::optional<bool> conforms(Context& context, const Frame& frame, const Spot& spot,
                             std::string_view url);

/// An extension against its definition.
void check_extension(Context& context, const Frame& frame, const Spot& spot, const Spot& parent);

/// JSON equality: numbers by value, objects whatever the order of members. True where no steps are left: that is told.
bool same_value(Context& context, json::Value a, json::Value b);

/// Does `value` have all that `pattern` has? True where no steps are left.
bool has_pattern(Context& context, json::Value value, json::Value pattern);

}  // namespace annals::validation
