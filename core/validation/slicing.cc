#include "core/validation/discriminators.h"
#include "core/validation/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace annals::validation {

namespace {

/// The elements that a slice has.
struct Tally {
    std::uint32_t own = 0;
    std::uint32_t shared = 0;  ///< that are also in an earlier slice
    std::uint32_t untold = 0;  ///< of which it can't be told
};

/// The slice that an element is in.
struct Match {
    std::optional<std::size_t> slice;
    bool is_unsure = false;  ///< it can't be told of some slice
};

/// Finds the slice of `spot`, checks it against that and those inside it, and counts it.
Match match_slice(Context& context, const Frame& frame, const Profile& profile, const Node& node,
                  const Spot& spot, std::vector<Tally>& tallies) {
    Match match;
    for (std::size_t i = 0; i < node.slices.size() && context.spend(kSliceSteps); ++i) {
        const Node& slice = profile.node(node.slices[i]);
        Tally& tally = tallies[i];
        // A slice of a slice ("a/b") is a subset of the outer one.
        const bool narrower = slice.outer != kUnbounded;
        const bool taken = match.slice && !narrower;
        if (taken && tally.own + tally.shared >= slice.min) {
            continue;
        }
        const auto in = is_in_slice(context, frame, profile, node, slice, spot);
        tally.untold += in.has_value() ? 0 : 1;
        if (taken) {
            // Already in an earlier slice; if it also fits this one, it counts towards its minimum, too.
            tally.shared += in == true ? 1 : 0;
            continue;
        }
        match.is_unsure = match.is_unsure || !in.has_value();
        if (in != true) {
            continue;
        }
        ++tally.own;
        check_node(context, frame, profile, slice, spot);
        if (!narrower) {
            match.slice = i;
        }
    }
    return match;
}

void check_counts(Context& context, const Profile& profile, const Node& slice, const Tally& tally,
                  const Spot& parent) {
    if (tally.own + tally.shared + tally.untold < slice.min) {
        context.error("structure", parent,
                      fmt::format("{} requires at least {} of {}:{}, found {}", profile.url(),
                                  slice.min, slice.name, slice.slice, tally.own + tally.shared));
    }
    if (tally.own > slice.max) {
        context.error("structure", parent,
                      fmt::format("{} allows at most {} of {}:{}, found {}", profile.url(),
                                  slice.max, slice.name, slice.slice, tally.own));
    }
}

}  // namespace

void check_slices(Context& context, const Frame& frame, const Profile& profile, const Node& node,
                  const std::vector<Spot>& spots, const Spot& parent) {
    const json::Value rules = node.slicing["rules"];
    const bool ordered = node.slicing["ordered"].raw() == "true";
    std::vector<Tally> tallies(node.slices.size());
    std::size_t last = 0;
    bool after_open = false;
    for (const Spot& spot : spots) {
        const Match match =
            match_slice(context, frame_of(frame, spot, parent), profile, node, spot, tallies);
        if (!match.slice) {
            after_open = after_open || !match.is_unsure;
            if (rules.equals("closed") && !match.is_unsure) {
                context.error(
                    "structure", spot,
                    fmt::format("{} allows only its own slices of {}", profile.url(), node.name));
            }
            continue;
        }
        if (ordered && *match.slice < last) {
            context.error(
                "structure", spot,
                fmt::format("{} requires the slices of {} in order", profile.url(), node.name));
        }
        if (rules.equals("openAtEnd") && after_open) {
            context.error("structure", spot,
                          fmt::format("{} requires its slices of {} before all others",
                                      profile.url(), node.name));
        }
        last = std::max(last, *match.slice);
    }
    for (std::size_t i = 0; i < tallies.size() && !context.exhausted(); ++i) {
        check_counts(context, profile, profile.node(node.slices[i]), tallies[i], parent);
    }
}

}  // namespace annals::validation
