// Container: a resource as that in which references `#id` are resolved, its own and those of the resources it contains.
//
// Layer:   core/search.
// Spec:    FHIR R4 references.html#contained.
// Threads: belongs to one thread.

#pragma once

#include "codec/json/document.h"
#include "core/base/resource_types.h"
#include "core/search/expression_budget.h"
#include "storage/search_entries.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core::search {

class Extractor;
struct Plan;

/// How many contained resources can be referred to in one body, and how many its chains examine, in total.
inline constexpr std::size_t kContainedLooksMax = 1'000'000;
/// The entries of contained resources, in bytes, that a Container keeps.
inline constexpr std::size_t kContainedEntriesBytes = 64 << 20;
/// The room for contained resources that a Container keeps for the next resource.
inline constexpr std::size_t kContainedKept = 4096;

/// Made once for a body, whose contained resources it lists on first use. Lifetime: the body outlives it.
class Container {
  public:
    Container() = default;

    explicit Container(json::Value root) noexcept : root_(root) {}

    /// Begins another resource.
    void begin(json::Value root) noexcept {
        root_ = root;
        known_ = false;
        looks_ = 0;
        verdicts_.clear();
        entries_.clear();
        entries_bytes_ = 0;
        budget_ = {};
        if (contained_.capacity() > kContainedKept) {
            contained_ = std::vector<Contained>();
        }
    }

    json::Value root() const noexcept { return root_; }

    /// The array of the contained resources.
    json::Value contained();

    /// The type of what `#id` refers to, the first one if there are several; if `id` is empty, that of the root.
    std::optional<TypeId> type_of(std::string_view id);

    /// Counts a contained resource that a chain examines. False: kContainedLooksMax have been examined.
    bool look() noexcept {
        if (looks_ == kContainedLooksMax) {
            return false;
        }
        ++looks_;
        return true;
    }

    /// Whether `contained` is known to match the target of `link`, which is part of a chain: many may refer to it.
    std::optional<bool> verdict(const Plan& link, json::Value contained) const {
        const auto known = verdicts_.find({&link, contained.index()});
        return known == verdicts_.end() ? std::nullopt : std::optional(known->second);
    }

    /// Lifetime: the link outlives this.
    void keep_verdict(const Plan& link, json::Value contained, bool matches) {
        verdicts_.emplace(std::pair(&link, contained.index()), matches);
    }

    /// The entries that `extractor` finds in `contained`, of `type`: many criteria may ask for them. Lifetime: of the extractor,
    /// that of this; of the entries, until others are asked for.
    const storage::SearchEntries& entries(TypeId type, json::Value contained, Extractor& extractor);

    /// Of all expressions evaluated on the body, those on contained resources included.
    ExpressionBudget& budget() noexcept { return budget_; }

  private:
    struct Contained {
        std::uint64_t id_hash = 0;
        json::Value id;
        std::optional<TypeId> type;
    };

    void find();

    json::Value root_;
    bool known_ = false;  ///< whether the three below, found on first use, are those of root_
    json::Value array_;
    std::optional<TypeId> root_type_;
    std::vector<Contained> contained_;  ///< those with an id, by id_hash, then in their order
    std::size_t looks_ = 0;
    std::map<std::pair<const Plan*, std::uint32_t>, bool> verdicts_;
    std::map<std::pair<const Extractor*, std::uint32_t>, storage::SearchEntries> entries_;
    std::size_t entries_bytes_ = 0;
    ExpressionBudget budget_;
};

}  // namespace annals::core::search
