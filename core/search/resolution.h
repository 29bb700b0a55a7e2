// Resolution: what is determined for a plan before it is bound to runs: the results of its chains, and its units.
//
// Layer:   core/search.
// Threads: belong to one thread; point into the plan.

#pragma once

#include "core/search/plan.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace annals::core::search {

class Pace;

/// Keys of resources (SearchRun::key()): the result of the plan in a chain or has.
class KeySet {
  public:
    void add(std::uint64_t key) {
        if (!parts_.empty()) {
            add_to(parts_[key >> kPartShift], key);
            return;
        }
        keys_.push_back(key);
        if (keys_.size() >= kCrowded) {
            divide();
        }
    }

    /// Finishes the set after the last add(): true when done, false when the turn is over.
    bool seal(const Pace& pace);

    bool contains(std::uint64_t key) const noexcept;

    /// Sorted, unique.
    const std::vector<std::uint64_t>& keys() const noexcept { return keys_; }

    std::size_t size() const noexcept { return keys_.size(); }

  private:
    // The keys that begin with the same bits: sorting millions at once would take too long.
    struct Part {
        std::vector<std::uint64_t> keys;
        std::size_t crowded = kPartCrowded;  // duplicates are removed at this size
    };

    // The same keys are often added repeatedly, so duplicates are removed along the way.
    static constexpr std::size_t kCrowded = 16'384;
    static constexpr std::size_t kPartCrowded = 256;
    static constexpr std::size_t kParts = 256;
    static constexpr int kPartShift = 56;

    static void add_to(Part& part, std::uint64_t key);
    void divide();

    std::vector<std::uint64_t> keys_;
    std::vector<Part> parts_;  // used for many keys, until seal()
    std::size_t next_part_ = 0;
    int shift_ = 0;  // leaves the first bits of a key, the number of its stretch
    std::vector<std::uint32_t> starts_;  // where each stretch of keys_ begins, and the end
};

/// What is determined for a plan before it is bound to runs.
struct Resolution {
    std::unordered_map<const Plan*, KeySet> keys;  ///< of each chain and has
    /// The ranges of each quantity condition, by unit.
    std::unordered_map<const Plan*, std::unordered_map<std::string, std::optional<Range>>> units;
};

/// Decides chains by their results. Lifetime: the resolution outlives it.
Related related_by(const Resolution& resolution);

}  // namespace annals::core::search
