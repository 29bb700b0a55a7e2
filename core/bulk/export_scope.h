// ExportScope: the part of a snapshot that an export contains, derived from its task.
//
// Layer:   core/bulk.
// Spec:    Bulk Data Access IG STU2; FHIR R4 compartmentdefinition-patient.html, group.html; docs/api/export.md.
// Threads: belongs to one thread.

#pragma once

#include "core/base/text_map.h"
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
#include <vector>

namespace annals::core {

struct ExportScope {
    /// How the matches of a search must be linked to the resources exported before them.
    enum class Link : std::uint8_t {
        none,
        to_given,    ///< a match refers to an exported resource (as its target)
        from_given,  ///< an exported resource refers to a match
    };

    /// A type of which the matches of a plan are exported.
    struct Searched {
        TypeId type;
        search::Plan plan;
        Link link = Link::none;
    };

    std::array<bool, kResourceTypeCount> whole{};  ///< types that are exported completely
    std::array<bool, kResourceTypeCount> types{};  ///< these, and those in `searched`
    /// Ascending by type, then the linked types, each of which may be linked to those before it.
    std::vector<Searched> searched;
    /// The ids of the Patients whose compartments are exported; none: not restricted to certain patients.
    std::optional<TextSet<>> patients;
    bool of_patients = false;       ///< only what is in patients' compartments or linked to that
    std::vector<TypeId> looked_at;  ///< other types that filters refer to
    std::vector<std::string> warnings;  ///< what was requested but is left out or not understood
};

/// Reads the Group, the filters and the patients at the snapshot. The plans are valid as long as `parameters` live.
/// `others`: as for SnapshotResources.
/// Errors: not_found, deleted (the Group); invalid (a patient who isn't there or in the Group); those of searches.
Result<ExportScope> find_scope(const ExportTask& task, search::Snapshot& snapshot,
                               const std::shared_ptr<const search::ParameterSet>& parameters,
                               const terminology::Source& others, std::string_view base_url);

/// Checks the same, but doesn't make the plans, which takes long for a Group with many members; returns ExportScope::looked_at.
/// `members`: the patients in the Group that the task is about; null: it isn't about one. `unread`: as for SnapshotResources;
/// `view`: what the filters may see. Errors: as find_scope(), except those about the Group.
Result<std::vector<TypeId>> check_scope(
    const ExportTask& task, search::Snapshot& snapshot,
    const std::shared_ptr<const search::ParameterSet>& parameters,
    const terminology::Source& others, std::string_view base_url, const TextSet<>* members,
    std::vector<Position>* unread, const search::View& view);

/// Whether the sender of `request` may read everything that the task covers. Errors: as require().
Result<void> authorise_export(const Service& service, const Request& request,
                              const ExportTask& task);

}  // namespace annals::core
