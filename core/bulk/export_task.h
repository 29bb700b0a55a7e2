// ExportTask: what an export is to give, as its kick-off said.
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
    std::vector<TypeId> types;  ///< ascending; empty: all of the level
    std::optional<Instant> since;
    std::optional<Instant> until;
    std::optional<Position> as_of;  ///< the state that is given; none: that of when the job begins
    std::vector<std::string> filters;   ///< searches: "Observation?status=final"
    std::vector<std::string> elements;  ///< as _elements has them
    std::vector<std::string> patients;  ///< ids; empty: all of the level
    bool history = false;               ///< all versions
    bool no_type = false;               ///< none of the types asked for is known: nothing
    bool strict = true;                 ///< unknown parameters of filters are errors
    std::vector<std::string>
        passed_over;  ///< what the kick-off has that isn't understood, if that is no error
};

/// Reads a kick-off. Errors: invalid, not_supported (what some servers can do and this one can't).
Result<ExportTask> read_export_task(const storage::Store& store, const Request& request,
                                    const Target& target);

/// The task as a job keeps it.
std::string task_json(const ExportTask& task);

/// What task_json() has written. Errors: corrupt.
Result<ExportTask> parse_export_task(std::string_view json);

/// A search of one type. Lifetime: the query points into the filter's text.
struct TypeFilter {
    TypeId type;
    std::string_view query;
};

/// Takes "Observation?status=final" apart; the query is not looked into. Errors: invalid.
Result<TypeFilter> read_type_filter(std::string_view filter);

}  // namespace annals::core
