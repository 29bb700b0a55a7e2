// ExportLinks: what is given of an export of patients since it is linked to what they have: whom and what that refers to, and
// the Provenances of it.
//
// Layer:   core/bulk.
// Spec:    Bulk Data Access IG STU2, "Resources outside of the patient compartment"; docs/api/export.md.
// Threads: one.

#pragma once

#include "core/bulk/export_scope.h"
#include "core/search/execute.h"
#include "core/search/parameters.h"
#include "core/search/plan.h"

#include <cstddef>
#include <span>
#include <vector>

namespace annals::core {

/// Lifetime: scope and parameters outlive this.
class ExportLinks {
  public:
    ExportLinks(const ExportScope& scope, const search::ParameterSet& parameters);

    /// Whether anything is given for what it is linked to.
    bool any() const noexcept { return to_given_ || from_given_; }

    /// Takes in what is given, matches of one type, and what they refer to, by the index alone.
    void take(std::span<const search::Match> matches);

    /// Whether there was more than is kept.
    bool is_full() const noexcept {
        return given_.size() >= search::kMatchesMax || referred_to_.size() >= search::kMatchesMax;
    }

    /// What `one` finds that is linked to what was taken in. Requires: it has a link.
    search::Plan plan(const ExportScope::Searched& one);

  private:
    std::vector<search::Column> columns(TypeId type) const;
    void make_unique();

    const ExportScope& scope_;
    const search::ParameterSet& parameters_;
    const bool to_given_;
    const bool from_given_;
    // The same is referred to again and again: so many are made unique.
    static constexpr std::size_t kCrowded = 16'384;

    std::vector<search::Term> given_;        // what Provenances refer to it by
    std::vector<search::Term> referred_to_;  // what carries one of these as its identity
    std::size_t crowded_ = kCrowded;
};

}  // namespace annals::core
