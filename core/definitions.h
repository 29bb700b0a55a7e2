// Definitions: the conformance resources that this server knows: what is stored, what packages define, R4's own.
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

/// By canonical URL; what is stored goes before what is carried.
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

    /// The canonical URLs of all that is stored of a type or defined by packages (not of R4's own), each once; `count` at
    /// most, and of what is stored only types that stored definitions are followed of.
    std::vector<std::string> canonicals(std::string_view type, std::size_t count) const;

    /// The code systems of packages and R4's own and, if asked for, kStoredListedMax or so of those that are stored. Of one url
    /// what find() takes stands first.
    std::vector<terminology::ListedCodeSystem> code_systems(bool stored) const;

    static constexpr std::size_t kStoredListedMax = 10'000;

    /// StoredDefinitions::read_resident().
    std::vector<Position> read_resident() const { return stored_.read_resident(); }

    /// StoredDefinitions::is_current().
    bool is_current() const { return stored_.is_current(); }

    /// What is known besides of what is stored: of packages, and R4's own.
    const terminology::Source& carried() const noexcept { return carried_; }

    packages::Packages& packages() const noexcept { return packages_; }

    /// What the resources of packages can be found by.
    search::CarriedIndex& carried_index() const noexcept { return carried_index_; }

    /// Where long answers of terminology are made.
    terminology::Worker& worker() const noexcept { return worker_; }

    /// The same definitions for who must not wait for the device. Lifetime: these outlive it.
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
    mutable terminology::Worker worker_;  // the first to go: its work asks the others
};

class Definitions::Resident final : public terminology::Source {
  public:
    /// `unread`: where the positions go of what is on the device only; that counts as not there, and is asked for again once it
    /// has been fetched. Null: it is waited for. `large`: becomes true where what is stored would take long to parse, which then
    /// counts as not there, too. Null: it is parsed.
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
