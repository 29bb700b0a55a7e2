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

class Pace;

/// Keys of resources (SearchRun::key()): what a chain's or a has's own plan came to.
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

    /// Ends the filling: true when it has ended, false when the turn is over.
    bool seal(const Pace& pace);

    bool contains(std::uint64_t key) const noexcept;

    /// Ascending, each once.
    const std::vector<std::uint64_t>& keys() const noexcept { return keys_; }

    std::size_t size() const noexcept { return keys_.size(); }

  private:
    // Those that begin with the same bits. Millions sorted all together would take long.
    struct Part {
        std::vector<std::uint64_t> keys;
        std::size_t crowded = kPartCrowded;  // so many are made unique
    };

    // Often the same keys are added again and again, so they are made unique as they come.
    static constexpr std::size_t kCrowded = 16'384;
    static constexpr std::size_t kPartCrowded = 256;
    static constexpr std::size_t kParts = 256;
    static constexpr int kPartShift = 56;

    static void add_to(Part& part, std::uint64_t key);
    void divide();

    std::vector<std::uint64_t> keys_;
    std::vector<Part> parts_;  // once they are many, until they are sealed
    std::size_t next_part_ = 0;
    int shift_ = 0;                      // leaves the first bits of a key: those of a stretch
    std::vector<std::uint32_t> starts_;  // where each stretch of keys_ begins, and the end
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
