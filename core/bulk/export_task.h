// ExportTask: what the kick-off request of an export asks for.
//
// Layer:   core/bulk.
// Spec:    Bulk Data Access IG STU2, "Query Parameters"; docs/api/export.md.
// Threads: plain values and functions.

#pragma once

#include "core/base/ids.h"
#include "core/base/instant.h"
#include "core/base/resource_types.h"
#include "core/base/result.h"
#include "core/exchange.h"
#include "core/service.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

struct ExportTask {
    enum class Level : std::uint8_t { system, patient, group };

    Level level = Level::system;
    std::string group;          ///< id of the Group
    std::vector<TypeId> types;  ///< ascending; empty: all types of the level
    std::optional<Instant> since;
    std::optional<Instant> until;
    std::optional<Position> as_of;      ///< the state to export; none: that at the start of the job
    std::vector<std::string> filters;   ///< searches: "Observation?status=final"
    std::vector<std::string> elements;  ///< as in _elements
    std::vector<std::string> patients;  ///< ids; empty: all patients of the level
    bool history = false;               ///< every version
    bool no_type = false;  ///< none of the requested types is known: nothing is exported
    bool strict = true;    ///< unknown parameters of filters are errors
    /// Parts of the kick-off that are not understood, where that is no error.
    std::vector<std::string> passed_over;
};

/// Reads a kick-off request. Errors: invalid, not_supported (a feature of the specification that this server lacks); too_costly
/// (too many filters).
Result<ExportTask> read_export_task(const storage::Store& store, const Request& request,
                                    const Target& target);

/// The task as it is stored with the job.
std::string task_json(const ExportTask& task);

/// Reads the output of task_json(). Errors: corrupt.
Result<ExportTask> parse_export_task(std::string_view json);

/// A search of one type. Lifetime: the query points into the filter's text.
struct TypeFilter {
    TypeId type;
    std::string_view query;
};

/// Splits "Observation?status=final"; the query is not checked. Errors: invalid.
Result<TypeFilter> read_type_filter(std::string_view filter);

}  // namespace annals::core
