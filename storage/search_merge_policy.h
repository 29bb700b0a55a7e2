// Which runs of a type become one: like sizes that stand side by side.
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
    std::uint32_t fan_in = 8;
    std::uint64_t documents_max = 0;  ///< of a merged run
    std::size_t runs_max = 64;

    /// What to merge next, given the sizes of the runs in their order: the smallest tier (fan_in^t documents) of which
    /// fan_in runs have nothing larger between them, with what is smaller between them; if there are too many runs
    /// all the same, the fan_in neighbours that have the least documents. None when all is well.
    std::optional<MergeWindow> pick(std::span<const std::uint32_t> sizes) const;

    /// 0 for fewer than fan_in documents, 1 for fewer than its square, and so on.
    std::uint32_t tier(std::uint32_t size) const noexcept;

  private:
    std::optional<MergeWindow> pick_tier(std::span<const std::uint32_t> sizes,
                                         std::uint32_t wanted) const;
    std::optional<MergeWindow> pick_least(std::span<const std::uint32_t> sizes) const;
};

}  // namespace annals::storage
