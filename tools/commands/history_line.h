// One version as a line of history.ndjson: an entry of a history Bundle.
//
// Layer:   tools.
// Spec:    FHIR R4 http.html#history; docs/replication.md.
// Threads: plain functions.

#pragma once

#include "storage/types.h"

#include <string>
#include <string_view>

namespace annals::tools {

/// Appends the entry without a line feed. `base_url` has no trailing slash.
void append_history_line(std::string& out, const storage::StoredVersion& version,
                         std::string_view base_url);

}  // namespace annals::tools
