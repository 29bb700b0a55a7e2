// ExportScope: what of a snapshot an export gives, found out from its task.
//
// Layer:   core/bulk.
// Spec:    Bulk Data Access IG STU2; FHIR R4 compartmentdefinition-patient.html, group.html; docs/api/export.md.
// Threads: one.

#pragma once

#include "core/bulk/export_task.h"
#include "core/search/parameters.h"
#include "core/search/plan.h"
#include "core/search/snapshot.h"
#include "core/search/view.h"
#include "core/service.h"
#include "core/terminology/source.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace annals::core {

struct ExportScope {
    /// What must be between what a search finds and what is given before it.
    enum class Link : std::uint8_t {
        none,
        to_given,    ///< it has something of that as its target
        from_given,  ///< something of that refers to it
    };

    /// A type of which what a search finds is given.
    struct Searched {
        TypeId type;
        search::Plan plan;
        Link link = Link::none;
    };

    std::array<bool, kResourceTypeCount> whole{};  ///< types of which everything is given
    std::array<bool, kResourceTypeCount> types{};  ///< these, and those that are searched
    /// Ascending by type; behind these what is linked to them, each type of which may be linked to those before it.
    std::vector<Searched> searched;
    /// In whose compartments it all is; none: in nobody's or anybody's. Of Patients, by id.
    std::optional<std::unordered_set<std::string>> patients;
    bool of_patients = false;           ///< only what patients have, and what is linked to that
    std::vector<TypeId> looked_at;      ///< other types that filters ask about
    std::vector<std::string> warnings;  ///< what was asked for and isn't given, or not understood
};

/// Reads the Group, the filters and whose compartments are meant, at the snapshot. The plans may be asked as long as
/// `parameters` live.
/// `others`: as SnapshotResources takes it.
/// Errors: not_found, deleted (the Group); invalid (a patient who isn't there or in the Group); those of searches.
Result<ExportScope> find_scope(const ExportTask& task, search::Snapshot& snapshot,
                               const std::shared_ptr<const search::ParameterSet>& parameters,
                               const terminology::Source& others, std::string_view base_url);

/// The same without the plans, which take long to make of a Group with many members: ExportScope::looked_at.
/// `unread`: as SnapshotResources takes it; `view`: whose filters they are. Errors: those of find_scope().
Result<std::vector<TypeId>> check_scope(
    const ExportTask& task, search::Snapshot& snapshot,
    const std::shared_ptr<const search::ParameterSet>& parameters,
    const terminology::Source& others, std::string_view base_url, std::vector<Position>* unread,
    const search::View& view);

/// Whether whoever asks may read all that the task is about. Errors: unauthenticated, forbidden.
Result<void> authorise_export(const Service& service, const Request& request,
                              const ExportTask& task);

}  // namespace annals::core
