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
#include "core/search/query.h"
#include "core/search/snapshot.h"
#include "core/service.h"
#include "core/terminology/source.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
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

    /// A type of which the matches of plan() are exported.
    struct Searched {
        TypeId type;
        Link link = Link::none;
    };

    /// The plan for `one`, without its link. It is made at each call: for the members of a large Group it takes many megabytes and
    /// a good part of a second, and there are some sixty types.
    search::Plan plan(const Searched& one) const;

    std::array<bool, kResourceTypeCount> whole{};  ///< types that are exported completely
    std::array<bool, kResourceTypeCount> types{};  ///< these, and those in `searched`
    /// Ascending by type, then the linked types, each of which may be linked to those before it.
    std::vector<Searched> searched;
    /// The ids of the Patients whose compartments are exported; none: not restricted to certain patients.
    std::optional<TextSet<>> patients;
    bool of_patients = false;       ///< only what is in patients' compartments or linked to that
    std::vector<TypeId> looked_at;  ///< other types that filters refer to
    std::vector<std::string> warnings;  ///< what was requested but is left out or not understood

    // What plans are made of.
    std::shared_ptr<const search::ParameterSet> parameters;
    std::vector<std::uint64_t> keys;         ///< Store::search_key() of `patients`
    std::map<TypeId, search::Plan> filters;  ///< what one of a type's filters finds
};

/// Reads the Group, the filters and the patients at the snapshot, until `stopping` returns true.
/// Errors: not_found, deleted (the Group); those of check_patient() and read_filter(); job_stopped().
Result<ExportScope> find_scope(const ExportTask& task, search::Snapshot& snapshot,
                               const std::shared_ptr<const search::ParameterSet>& parameters,
                               const terminology::Source& others, std::string_view base_url,
                               const std::function<bool()>& stopping);

/// Whether a patient of ExportTask::patients exists at the snapshot and is among `members`, those of the Group that the task is
/// about; null: it isn't about one. Errors: invalid.
Result<void> check_patient(const search::Snapshot& snapshot, const std::string& id,
                           const TextSet<>* members);

/// Reads one of ExportTask::filters. The query has one type. Errors: invalid; those of searches.
Result<search::Query> read_filter(const search::QueryContext& context, std::string_view filter);

/// Whether the sender of `request` may read everything that the task covers. Errors: as require().
Result<void> authorise_export(const Service& service, const Request& request,
                              const ExportTask& task);

}  // namespace annals::core
