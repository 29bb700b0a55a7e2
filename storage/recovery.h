// Recovery: reads the files of a store into its index, and finds the place where the log continues.
//
// Layer:   storage.
// Format:  docs/format.md, "Recovery".
// Threads: one, before the store serves.

#pragma once

#include "storage/erasure_journal.h"
#include "storage/file_system.h"
#include "storage/index.h"
#include "storage/segment_writer.h"
#include "storage/store.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace annals::storage {

/// The result of reading a store's files. Without any segment, everything is 0.
struct Recovered {
    std::uint64_t store_id = 0;
    Position last_position;
    Instant last_instant;
    std::uint64_t last_number = 0;  ///< of the newest segment
    std::uint64_t log_bytes = 0;
    std::optional<OpenSegment> open;  ///< none: the newest segment is sealed, or there is none
    std::uint64_t erases = 0;         ///< erase records
    std::vector<Position> unblanked;  ///< the versions erased by records from `erases_done` on
};

/// What recover() fills.
struct RecoveryTarget {
    Index& index;
    SegmentTable& table;
    OpenReport& report;
};

/// Reads every segment of `segments` into `into`; unless options.read_only, cuts a torn tail and removes unfinished
/// files. `journal` has been applied to `segments` or, if nothing may be changed, still has to be.
/// Errors: corrupt (names segment and offset), usage, io.
Result<Recovered> recover(FileSystem& fs, const std::string& segments, const StoreOptions& options,
                          const ErasureJournal::Content& journal, const RecoveryTarget& into);

}  // namespace annals::storage
