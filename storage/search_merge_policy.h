// Decides which runs of a type are merged.
//
// A run is of tier t if it has at least fan_in^t documents and fewer than fan_in^(t+1). Neighbours are merged when together
// they reach the tier above their highest, so no document is merged more than once per tier.
//
// Layer:   storage; private to search_index.
// Threads: plain functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace annals::storage {

/// Runs [first, first + count) of a list.
struct MergeWindow {
    std::size_t first = 0;
    std::size_t count = 0;
};

struct MergePolicy {
    std::uint64_t fan_in = 8;
    std::uint64_t documents_max = 0;  ///< of a merged run
    std::size_t runs_max = 48;

    /// The next merge, given the sizes of the runs in order: neighbours that together reach the next tier, lowest tier first;
    /// otherwise, if there are too many runs, the fan_in neighbours with the fewest documents. None if there is nothing to
    /// merge.
    std::optional<MergeWindow> pick(std::span<const std::uint32_t> sizes) const;

    /// Whether pick() finds something, if it found nothing before the last run was added.
    bool is_due(std::span<const std::uint32_t> sizes) const;

  private:
    bool is_full(std::uint32_t size) const noexcept;
    std::optional<MergeWindow> pick_below(std::span<const std::uint32_t> sizes,
                                          std::uint64_t bound) const;
    std::optional<MergeWindow> pick_least(std::span<const std::uint32_t> sizes) const;
};

}  // namespace annals::storage
