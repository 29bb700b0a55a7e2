// ExportLinks: resources that an export of patients includes because they are linked to the patients' data: those referred to,
// directly or indirectly, and Provenances.
//
// Layer:   core/bulk.
// Spec:    Bulk Data Access IG STU2, "Resources outside of the patient compartment"; docs/api/export.md.
// Threads: belongs to one thread.

#pragma once

#include "core/bulk/export_scope.h"
#include "core/search/execute.h"
#include "core/search/parameters.h"
#include "core/search/plan.h"

#include <cstddef>
#include <span>
#include <vector>

namespace annals::core {

/// Lifetime: scope and parameters outlive it.
class ExportLinks {
  public:
    ExportLinks(const ExportScope& scope, const search::ParameterSet& parameters);

    /// Whether the scope includes linked resources at all.
    bool any() const noexcept { return to_given_ || from_given_; }

    /// Notes exported matches of one type and what they refer to, using the index only.
    void take(std::span<const search::Match> matches);

    /// Whether there was more than can be kept.
    bool is_full() const noexcept {
        return given_.size() >= search::kMatchesMax || referred_to_.size() >= search::kMatchesMax;
    }

    /// The plan for the resources of `one` that are linked to those noted by take(). Requires: `one` has a link.
    search::Plan plan(const ExportScope::Searched& one);

  private:
    std::vector<search::Column> columns(TypeId type) const;
    void make_unique();

    const ExportScope& scope_;
    const search::ParameterSet& parameters_;
    const bool to_given_;
    const bool from_given_;
    // The same resources are referred to again and again, so duplicates are removed beyond this number.
    static constexpr std::size_t kCrowded = 16'384;

    std::vector<search::Term> given_;  // the terms by which Provenances refer to exported resources
    std::vector<search::Term> referred_to_;  // the identities of what those refer to
    std::size_t crowded_ = kCrowded;
};

}  // namespace annals::core
