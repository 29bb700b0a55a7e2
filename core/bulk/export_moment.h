// ExportMoment: the position that an export is of, and the time that whoever asks for what came since then names.
//
// Layer:   core/bulk.
// Threads: plain functions; they block.

#pragma once

#include "core/base/ids.h"
#include "core/base/instant.h"
#include "storage/store.h"

namespace annals::core {

/// A position at which everything is there that was submitted before `time`, so that whoever asks for what came since
/// then misses nothing.
struct ExportMoment {
    Position position;
    Instant time;
};

/// The newest.
ExportMoment take_moment(storage::Store& store);

/// That of an earlier position: nothing that came behind it is younger than what came next, or than `last`.
ExportMoment earlier_moment(const storage::Store& store, Position position,
                            const ExportMoment& last);

}  // namespace annals::core
