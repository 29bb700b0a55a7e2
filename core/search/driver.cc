#include "core/search/driver.h"

#include <algorithm>

namespace annals::core::search {

namespace {

using BoundKind = BoundPlan::Kind;

// The cost of testing a condition in steps of collecting.
constexpr double kTestCost = 20;

}  // namespace

std::vector<const BoundPlan*> parts_of(const BoundPlan& condition) {
    std::vector<const BoundPlan*> parts;
    if (condition.kind == BoundKind::all_of) {
        for (const BoundPlan& part : condition.parts) {
            parts.push_back(&part);
        }
    } else if (condition.kind != BoundKind::everything) {
        parts.push_back(&condition);
    }
    std::ranges::sort(parts, [](const BoundPlan* a, const BoundPlan* b) {
        return a->costly != b->costly ? b->costly : a->estimate < b->estimate;
    });
    return parts;
}

std::optional<std::size_t> best_driver(std::span<const BoundPlan* const> parts, double size,
                                       double share, double needed, std::uint32_t collected_max) {
    // Estimates how many candidates of a driver must be tested until enough pass the other conditions.
    double passing = 1;
    double conditions = 0;
    for (const BoundPlan* part : parts) {
        passing *= std::max(0.5, static_cast<double>(part->estimate)) / size;
        conditions += static_cast<double>(conditions_in(*part));
    }
    double cost = std::min(size * share, needed / passing) * conditions * kTestCost;
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const BoundPlan& part = *parts[i];
        if (!part.is_postings() && part.work > collected_max) {
            continue;
        }
        const double estimate = std::max(0.5, static_cast<double>(part.estimate));
        const double tests =
            conditions - (part.costly ? 0 : static_cast<double>(conditions_in(part)));
        const double own = std::min(estimate * share, needed / (passing * size / estimate)) *
                               (1 + tests * kTestCost) +
                           (part.is_postings() ? 0 : part.work + estimate);
        if (own < cost) {
            cost = own;
            best = i;
        }
    }
    return best;
}

}  // namespace annals::core::search
