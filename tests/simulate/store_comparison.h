// StoreComparison: compares everything that a store's readers can get with a model.
//
// Threads: one. Differences fail the test.

#pragma once

#include "storage/store.h"
#include "tests/support/commits.h"
#include "tests/support/version_model.h"

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>

namespace annals::storage {

inline constexpr std::string_view kTypes[] = {"Patient", "Observation", "Organization"};
inline constexpr std::uint64_t kPerType =
    1000;  ///< resource number: type times this, plus the id's
inline constexpr std::uint64_t kTerms = 12;

inline std::string_view type_name(std::uint64_t resource) {
    return kTypes[resource / kPerType];
}

inline TypeId type_of(std::uint64_t resource) {
    return test::type_of(type_name(resource));
}

inline std::string id_of(std::uint64_t resource) {
    return "r" + std::to_string(resource % kPerType);
}

/// The word that gives a version the term `term`, from 1 to kTerms.
inline std::string word_of(std::uint64_t term) {
    return "w" + std::to_string(term);
}

class StoreComparison {
  public:
    /// For a store whose commits have settled, with at most `resources` resources of each type. Lifetime: all outlive it.
    StoreComparison(const Store& store, const test::VersionModel& model, std::uint64_t resources,
                    std::mt19937_64& random)
        : store_(store), model_(model), resources_(resources), random_(random) {}

    /// Whether the store ends where the model does, with the same resources. Never fails the test.
    bool holds() const;

    /// Compares some reads with random arguments.
    void some();

    /// Compares every version, and checks that verify() approves of the store in `directory`.
    void everything(FileSystem& fs, const std::string& directory);

    /// Compares each term of each type, in a store that is searched by words.
    void search() const;

  private:
    std::uint64_t pick(std::uint64_t bound) { return random_() % bound; }

    Instant pick_instant();
    void expect_loads(const test::VersionModel::Version& version) const;
    void expect_totals(std::optional<TypeId> type) const;
    void page_through(std::optional<TypeId> type, std::optional<std::uint64_t> resource,
                      Position bound);

    const Store& store_;
    const test::VersionModel& model_;
    std::uint64_t resources_;
    std::mt19937_64& random_;
};

}  // namespace annals::storage
