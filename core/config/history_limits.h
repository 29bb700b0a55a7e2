// What the configuration says of how much history is kept, by resource type.
//
// Layer:   core/config.
// Threads: plain functions.

#pragma once

#include "core/base/result.h"
#include "core/config/config.h"
#include "storage/store.h"

namespace annals::core {

/// max_history_versions for every type but those that history_cleanup_types names.
/// Errors: usage (an entry that is no "Type=number", or names no resource type; two that name the same one).
Result<storage::HistoryLimits> history_limits(const Config& config);

}  // namespace annals::core
