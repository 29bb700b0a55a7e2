// ExportMoment: the position that an export shows, and the time from which the next, incremental export continues.
//
// Layer:   core/bulk.
// Threads: plain functions; they block.

#pragma once

#include "core/base/ids.h"
#include "core/base/instant.h"
#include "storage/store.h"

namespace annals::core {

/// A position that includes everything submitted before `time`, so that a client that later asks for changes since `time`
/// misses nothing.
struct ExportMoment {
    Position position;
    Instant time;
};

/// The current moment.
ExportMoment take_moment(storage::Store& store);

/// The moment of an earlier position: `time` is the instant of the next version up to `last`, or that of `last`, whichever is
/// earlier.
ExportMoment earlier_moment(const storage::Store& store, Position position,
                            const ExportMoment& last);

}  // namespace annals::core
