// Paths of discriminators: where they lead, in what a profile says and in a resource.
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

/// The steps of a path of the restricted FHIRPath that discriminators may have; nothing of another.
std::optional<std::vector<DiscriminatorStep>> discriminator_steps(std::string_view path);

/// A node of a profile; null: the profile says nothing here.
struct Rule {
    const Profile* profile = nullptr;
    const Node* node = nullptr;
    std::shared_ptr<const Profile> keep;
    json::Value expected;      ///< what a fixed value or pattern further out says of this place
    bool is_resolved = false;  ///< what a reference leads to
};

/// The first profile that the types of `node` name by `member`; empty if there is none.
std::string first_profile(const Node& node, std::string_view member = "profile");

/// What the profile says one step further in.
Rule step_rule(Context& context, const Rule& rule, const DiscriminatorStep& step);

/// Something that a path leads to, and what is around it. Of what isn't here the type at most.
struct Reached {
    Spot spot;
    const Frame* frame;
};

/// Whether a path led to what isn't here, and to what not even the type is known of.
struct Away {
    bool content = false;
    bool type = false;
};

/// What one step leads to from all places; `frames` keeps what is around resources on the way.
std::vector<Reached> step_places(Context& context, const std::vector<Reached>& places,
                                 const DiscriminatorStep& step, std::list<Frame>& frames,
                                 Away& away);

}  // namespace annals::validation
