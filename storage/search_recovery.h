// Search recovery: indexes the versions in the log that a checkpoint has not seen.
//
// Layer:   storage.
// Threads: the caller's, and as many more as there are cores while it runs.

#pragma once

#include "storage/index.h"
#include "storage/search_checkpoint.h"
#include "storage/search_feed.h"
#include "storage/segment.h"
#include "storage/store.h"

#include <cstdint>

namespace annals::storage {

/// The log, and how its versions are extracted.
struct SearchSource {
    const Index& index;
    const SegmentTable& segments;
    const SearchSetup& setup;
    bool read_only = false;  ///< another process may have erased versions since the log was read
};

/// Starts the search index with what `checkpoint` can load from `saved` and brings it up to the log: extracts each type's
/// versions that the checkpoint doesn't cover, except those superseded more than `positions_retained` positions ago. Returns how
/// many versions were extracted.
std::uint64_t recover_search(const SearchSource& source, SearchCheckpointReader& saved,
                             SearchCheckpoint& checkpoint, std::uint64_t positions_retained,
                             SearchFeed& feed);

}  // namespace annals::storage
