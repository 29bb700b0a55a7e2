// The configured limits on history, by resource type.
//
// Layer:   core/config.
// Threads: plain functions.

#pragma once

#include "core/base/result.h"
#include "core/config/config.h"
#include "storage/store.h"

namespace annals::core {

/// max_history_versions applies to every type that history_cleanup_types doesn't name. Errors: usage: an entry is not
/// "Type=number", names an unknown type, or one that another entry names; the detail does not say which key it is.
Result<storage::HistoryLimits> history_limits(const Config& config);

}  // namespace annals::core
