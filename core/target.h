// Target: what a FHIR URL names, below {base_url}.
//
// Layer:   core.
// Spec:    FHIR R4 http.html, section "Service Base URL" on; docs/api/README.md.
// Threads: plain values.

#pragma once

#include "core/base/resource_types.h"
#include "core/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {

enum class Level : std::uint8_t {
    root,                ///< "" or "/"
    metadata,            ///< /metadata
    openapi,             ///< /openapi.json
    system_history,      ///< /_history
    system_search,       ///< /_search
    changes,             ///< /_changes
    system_operation,    ///< /$name
    type,                ///< /Patient
    type_history,        ///< /Patient/_history
    type_search,         ///< /Patient/_search
    type_operation,      ///< /Patient/$name
    instance,            ///< /Patient/1
    instance_history,    ///< /Patient/1/_history
    version,             ///< /Patient/1/_history/2
    instance_operation,  ///< /Patient/1/$name
    compartment,         ///< /Patient/1/Observation, /Patient/1/*
    compartment_search,  ///< /Patient/1/Observation/_search, /Patient/1/_search
    version_operation,   ///< /Patient/1/_history/2/$name
    job,                 ///< /_jobs/1, /_export-status/1
    job_file,            ///< /_jobs/1/Patient-1.ndjson
};

/// Whether a path of that level names a resource type.
bool names_a_type(Level level) noexcept;

/// Whether a search is POSTed to that level.
bool is_search_by_post(Level level) noexcept;

/// Whether it is a compartment, searched by GET or by POST.
bool is_compartment(Level level) noexcept;

struct Target {
    Level level = Level::root;
    TypeId type;               ///< from Level::type on, except for jobs
    std::string_view id;       ///< from Level::instance on; matches FHIR's id pattern, a job's too
    std::string_view version;  ///< Level::version and version_operation, as it stands
    std::string_view operation;  ///< with its $
    std::string_view member;  ///< of a compartment: a type's name or *; Level::job_file: its name
};

/// Reads a Request's path. A trailing slash is tolerated; no valid path needs percent-escapes, so a path
/// that has any is unknown. Lifetime: views point into `path`.
/// Errors: not_found (unknown type or shape), value (an id outside FHIR's pattern: a PUT answers 400, all
///         else 404; handle() sees to that).
Result<Target> parse_target(std::string_view path);

/// Writes `path` to `out` with escaped printable characters resolved (RFC 3986 section 6.2.2.2: the path stays equivalent),
/// except those that would split it differently. `out` is empty if there are none.
void unescape_path(std::string_view path, std::string& out);

/// Names and values of a query string, percent-decoded, in order.
using Parameters = std::vector<std::pair<std::string, std::string>>;

/// Takes a query string apart. Empty parts between two `&` are skipped; a value without a name keeps its empty name.
/// Errors: invalid (a malformed escape).
Result<Parameters> parse_query(std::string_view query);

/// Reads the value of `_count`; too large a number becomes the largest there is. None unless it is an integer of at least 0.
std::optional<std::uint64_t> read_count(std::string_view text) noexcept;

/// `text` with everything but unreserved characters percent-encoded.
std::string percent_encode(std::string_view text);

}  // namespace annals::core
