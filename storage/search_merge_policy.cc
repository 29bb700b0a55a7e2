#include "storage/search_merge_policy.h"

#include <algorithm>
#include <limits>

namespace annals::storage {

namespace {

constexpr std::uint32_t kFull = std::numeric_limits<std::uint32_t>::max();

/// As much of the window as one run may hold; none if that isn't two runs.
std::optional<MergeWindow> fitting(std::span<const std::uint32_t> sizes, MergeWindow window,
                                   std::uint64_t documents_max) {
    std::uint64_t documents = 0;
    for (std::size_t i = 0; i < window.count; ++i) {
        documents += sizes[window.first + i];
        if (documents > documents_max) {
            window.count = i;
        }
    }
    return window.count >= 2 ? std::optional(window) : std::nullopt;
}

}  // namespace

/// A run of more than half of what one may hold is left alone: two of them never fit together.
std::uint32_t MergePolicy::tier(std::uint32_t size) const noexcept {
    if (size > documents_max / 2) {
        return kFull;
    }
    std::uint32_t tier = 0;
    for (std::uint32_t left = size; left >= fan_in; left /= fan_in) {
        ++tier;
    }
    return tier;
}

std::optional<MergeWindow> MergePolicy::pick_tier(std::span<const std::uint32_t> sizes,
                                                  std::uint32_t wanted) const {
    std::size_t first = 0;
    std::size_t last = 0;  // the last one of the tier
    std::size_t found = 0;
    for (std::size_t i = 0; i <= sizes.size(); ++i) {
        const std::uint32_t of = i == sizes.size() ? kFull : tier(sizes[i]);
        if (of == wanted) {
            first = found == 0 ? i : first;
            last = i;
            ++found;
        } else if (of > wanted) {
            if (found >= fan_in) {
                return fitting(sizes, {first, last - first + 1}, documents_max);
            }
            found = 0;
        }
    }
    return std::nullopt;
}

std::optional<MergeWindow> MergePolicy::pick_least(std::span<const std::uint32_t> sizes) const {
    std::optional<MergeWindow> least;
    std::uint64_t least_documents = documents_max + 1;
    for (std::size_t first = 0; first + fan_in <= sizes.size(); ++first) {
        std::uint64_t documents = 0;
        for (const std::uint32_t size : sizes.subspan(first, fan_in)) {
            documents += size;
        }
        if (documents < least_documents) {
            least_documents = documents;
            least = {first, fan_in};
        }
    }
    return least;
}

std::optional<MergeWindow> MergePolicy::pick(std::span<const std::uint32_t> sizes) const {
    if (sizes.size() < fan_in) {
        return std::nullopt;
    }
    std::uint32_t highest = 0;
    for (const std::uint32_t size : sizes) {
        const std::uint32_t of = tier(size);
        highest = of == kFull ? highest : std::max(highest, of);
    }
    for (std::uint32_t wanted = 0; wanted <= highest; ++wanted) {
        if (const auto window = pick_tier(sizes, wanted)) {
            return window;
        }
    }
    return sizes.size() > runs_max ? pick_least(sizes) : std::nullopt;
}

}  // namespace annals::storage
