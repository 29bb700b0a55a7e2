#include "storage/search_merge_policy.h"

namespace annals::storage {

namespace {

/// As much of the window as fits into one run; none if that isn't at least two runs.
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

/// Two runs that each exceed half of the maximum never fit together: such runs are left alone.
bool MergePolicy::is_full(std::uint32_t size) const noexcept {
    return size > documents_max / 2;
}

/// Neighbours of fewer than `bound` documents each that together have at least that many.
std::optional<MergeWindow> MergePolicy::pick_below(std::span<const std::uint32_t> sizes,
                                                   std::uint64_t bound) const {
    std::size_t first = 0;
    std::uint64_t documents = 0;
    for (std::size_t i = 0; i <= sizes.size(); ++i) {
        if (i != sizes.size() && sizes[i] < bound && !is_full(sizes[i])) {
            documents += sizes[i];
            continue;
        }
        if (documents >= bound) {
            if (const auto window = fitting(sizes, {first, i - first}, documents_max)) {
                return window;
            }
        }
        first = i + 1;
        documents = 0;
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
    std::uint64_t all = 0;
    for (const std::uint32_t size : sizes) {
        all += size;
    }
    for (std::uint64_t bound = fan_in; bound <= all; bound *= fan_in) {
        if (const auto window = pick_below(sizes, bound)) {
            return window;
        }
    }
    return sizes.size() > runs_max ? pick_least(sizes) : std::nullopt;
}

bool MergePolicy::is_due(std::span<const std::uint32_t> sizes) const {
    std::uint64_t documents = 0;
    std::uint64_t bound = fan_in;
    for (std::size_t i = sizes.size(); i > 0 && !is_full(sizes[i - 1]); --i) {
        while (sizes[i - 1] >= bound) {
            bound *= fan_in;
        }
        documents += sizes[i - 1];
        if (documents >= bound && i != sizes.size()) {
            return true;
        }
    }
    return sizes.size() > runs_max;
}

}  // namespace annals::storage
