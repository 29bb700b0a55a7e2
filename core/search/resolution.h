// Resolution: what was found out for a plan before it is bound to runs: the resources that its chains lead to, its units.
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

/// Keys of resources (SearchRun::key()): what a chain's or a has's own plan came to.
class KeySet {
  public:
    void add(std::uint64_t key) {
        keys_.push_back(key);
        if (keys_.size() >= crowded_) {
            make_unique();
        }
    }

    /// Ends the filling.
    void seal();

    bool contains(std::uint64_t key) const noexcept;

    /// Ascending, each once.
    const std::vector<std::uint64_t>& keys() const noexcept { return keys_; }

    std::size_t size() const noexcept { return keys_.size(); }

  private:
    // Often the same keys are added again and again; sorted all together in the end they would take long.
    static constexpr std::size_t kCrowded = 16'384;

    void make_unique();

    std::vector<std::uint64_t> keys_;
    std::size_t crowded_ = kCrowded;    // so many are made unique
    std::vector<std::uint64_t> table_;  // open addressing; 0 is empty, the key 0 is has_zero_
    std::uint64_t mask_ = 0;
    bool has_zero_ = false;
};

/// What was found out for a plan before it is bound to runs.
struct Resolution {
    std::unordered_map<const Plan*, KeySet> keys;  ///< of each chain and has
    /// The ranges that a quantity asks of units.
    std::unordered_map<const Plan*, std::unordered_map<std::string, std::optional<Range>>> units;
};

/// Decides chains by what they came to. Lifetime: the resolution outlives it.
Related related_by(const Resolution& resolution);

}  // namespace annals::core::search
