// Definitions: the conformance resources that this server knows: stored ones, those of packages, and R4's own.
//
// Layer:   core.
// Spec:    FHIR R4 references.html#canonical.
// Threads: every member from any thread.

#pragma once

#include "core/config/config.h"
#include "core/packages/packages.h"
#include "core/search/carried.h"
#include "core/terminology/listed.h"
#include "core/terminology/source.h"
#include "core/terminology/worker.h"
#include "core/validation/stored_definitions.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// Looked up by canonical URL; stored definitions take precedence over carried ones.
///
/// Lifetime: the store outlives it.
class Definitions final : public terminology::Source {
  public:
    Definitions(const Config& config, const storage::Store& store);

    Result<terminology::Definition> find(std::string_view type, std::string_view url,
                                         std::string_view version) const override {
        return find(type, url, version, nullptr);
    }

    /// The same; `unread` and `large` as StoredDefinitions::find() takes them.
    terminology::Definition find(std::string_view type, std::string_view url,
                                 std::string_view version, std::vector<Position>* unread,
                                 bool* large = nullptr) const;

    /// The canonical URLs of stored definitions of a type and of those of packages (not of R4's own), each once and `count` at
    /// most; stored ones only for the types of which stored definitions are tracked.
    std::vector<std::string> canonicals(std::string_view type, std::size_t count) const;

    /// The code systems of packages and R4's own and, if `stored`, about kStoredListedMax of the stored ones. Of several with one
    /// url, the one that find() returns comes first.
    std::vector<terminology::ListedCodeSystem> code_systems(bool stored) const;

    static constexpr std::size_t kStoredListedMax = 10'000;

    /// StoredDefinitions::read_resident().
    std::vector<Position> read_resident() const { return stored_.read_resident(); }

    /// StoredDefinitions::is_current().
    bool is_current() const { return stored_.is_current(); }

    /// The definitions that are not stored: those of packages, and R4's own.
    const terminology::Source& carried() const noexcept { return carried_; }

    packages::Packages& packages() const noexcept { return packages_; }

    /// The search index of the resources of packages.
    search::CarriedIndex& carried_index() const noexcept { return carried_index_; }

    /// The thread for long answers of terminology.
    terminology::Worker& worker() const noexcept { return worker_; }

    /// The same definitions for callers that must not wait for the device. Lifetime: these outlive it.
    class Resident;

  private:
    class Carried final : public terminology::Source {
      public:
        explicit Carried(const packages::Packages& packages) : packages_(packages) {}

        Result<terminology::Definition> find(std::string_view type, std::string_view url,
                                             std::string_view version) const override;

      private:
        const packages::Packages& packages_;
    };

    validation::StoredDefinitions stored_;
    mutable packages::Packages packages_;
    mutable search::CarriedIndex carried_index_;
    Carried carried_;
    mutable terminology::Worker worker_;  // destroyed first: its work uses the others
};

class Definitions::Resident final : public terminology::Source {
  public:
    /// `unread`: receives the positions of definitions that are not in memory; these count as missing, and the caller asks again
    /// once they have been fetched. Null: waits for the device. `large`: set to true if a stored definition would take long to
    /// parse; it counts as missing, too. Null: it is parsed.
    Resident(const Definitions& definitions, std::vector<Position>* unread, bool* large = nullptr)
        : definitions_(definitions), unread_(unread), large_(large) {}

    Result<terminology::Definition> find(std::string_view type, std::string_view url,
                                         std::string_view version) const override {
        return definitions_.find(type, url, version, unread_, large_);
    }

  private:
    const Definitions& definitions_;
    std::vector<Position>* unread_;
    bool* large_;
};

}  // namespace annals::core
