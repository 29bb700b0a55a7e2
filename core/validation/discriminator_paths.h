// Paths of discriminators, evaluated in a profile and in a resource.
//
// Layer:   core, inside core/validation.
// Spec:    FHIR R4 profiling.html#discriminator.
// Threads: plain functions.

#pragma once

#include "core/validation/profile.h"

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::validation {

/// One step of a discriminator's path.
struct DiscriminatorStep {
    enum class Kind : std::uint8_t { member, extension, of_type, resolve };
    Kind kind = Kind::member;
    std::string_view text;  ///< the member's name, the extension's url, the type's name
};

/// The steps of a path in the FHIRPath subset that discriminators may use; none for any other path.
std::optional<std::vector<DiscriminatorStep>> discriminator_steps(std::string_view path);

/// What a profile says about a place. `node` null: nothing.
struct Rule {
    const Profile* profile = nullptr;
    const Node* node = nullptr;
    std::shared_ptr<const Profile> keep;
    json::Value expected;      ///< the part of an enclosing fixed value or pattern for this place
    bool is_resolved = false;  ///< the place is the target of a reference
};

/// The first profile in member `member` of the types of `node`; empty if there is none.
std::string first_profile(const Node& node, std::string_view member = "profile");

/// What the profile says one step further in.
Rule step_rule(Context& context, const Rule& rule, const DiscriminatorStep& step);

/// An element that a path leads to, and its frame. Of an element that isn't available, at most the type is known.
struct Reached {
    Spot spot;
    const Frame* frame;
};

/// Whether a path led to elements whose content, or whose type, isn't available.
struct Away {
    bool content = false;
    bool type = false;
};

/// Takes one step from all places; `frames` holds the frames of resources on the way.
std::vector<Reached> step_places(Context& context, const std::vector<Reached>& places,
                                 const DiscriminatorStep& step, std::list<Frame>& frames,
                                 Away& away);

}  // namespace annals::validation
