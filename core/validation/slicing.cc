#include "core/validation/discriminators.h"
#include "core/validation/profile.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::validation {

void check_slices(Context& context, const Frame& frame, const Profile& profile, const Node& node,
                  const std::vector<Spot>& spots, const Spot& parent) {
    const json::Value rules = node.slicing["rules"];
    const bool ordered = node.slicing["ordered"].raw() == "true";
    std::vector<std::uint32_t> counts(node.slices.size(), 0);
    std::vector<std::uint32_t> shared(node.slices.size(), 0);  // also in an earlier slice
    std::vector<std::uint32_t> untold(node.slices.size(), 0);  // unknown
    std::size_t last = 0;
    bool after_open = false;
    for (const Spot& spot : spots) {
        const Frame around = frame_of(frame, spot, parent);
        std::size_t matched = node.slices.size();
        bool unsure = false;
        for (std::size_t i = 0; i < node.slices.size() && context.spend(kSliceSteps); ++i) {
            const Node& slice = profile.node(node.slices[i]);
            // A slice of a slice ("a/b") is a subset of the outer one.
            const bool narrower = slice.outer != kUnbounded;
            const bool taken = matched != node.slices.size() && !narrower;
            if (taken && counts[i] + shared[i] >= slice.min) {
                continue;
            }
            const auto in = is_in_slice(context, around, profile, node, slice, spot);
            untold[i] += in.has_value() ? 0 : 1;
            if (taken) {
                // Already in an earlier slice; if it also fits this one, it counts towards its minimum, too.
                shared[i] += in == true ? 1 : 0;
                continue;
            }
            unsure = unsure || !in.has_value();
            if (in != true) {
                continue;
            }
            ++counts[i];
            check_node(context, around, profile, slice, spot);
            if (!narrower) {
                matched = i;
            }
        }
        if (matched == node.slices.size()) {
            after_open = after_open || !unsure;
            if (rules.equals("closed") && !unsure) {
                context.error(
                    "structure", spot,
                    fmt::format("{} allows only its own slices of {}", profile.url(), node.name));
            }
            continue;
        }
        if (ordered && matched < last) {
            context.error(
                "structure", spot,
                fmt::format("{} requires the slices of {} in order", profile.url(), node.name));
        }
        if (rules.equals("openAtEnd") && after_open) {
            context.error("structure", spot,
                          fmt::format("{} requires its slices of {} before all others",
                                      profile.url(), node.name));
        }
        last = std::max(last, matched);
    }
    for (std::size_t i = 0; i < node.slices.size() && !context.exhausted(); ++i) {
        const Node& slice = profile.node(node.slices[i]);
        if (counts[i] + shared[i] + untold[i] < slice.min) {
            context.error("structure", parent,
                          fmt::format("{} requires at least {} of {}:{}, found {}", profile.url(),
                                      slice.min, slice.name, slice.slice, counts[i] + shared[i]));
        }
        if (counts[i] > slice.max) {
            context.error("structure", parent,
                          fmt::format("{} allows at most {} of {}:{}, found {}", profile.url(),
                                      slice.max, slice.name, slice.slice, counts[i]));
        }
    }
}

}  // namespace annals::validation
