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

/// Starts the search index with what `checkpoint` can load from `saved` and brings it up to the log: extracts each type's
/// versions after `covered`, except those superseded more than `options.search_index.positions_retained` positions ago. Returns
/// how many versions were extracted.
std::uint64_t recover_search(const Index& index, const SegmentTable& segments,
                             const SearchSetup& setup, SearchCheckpointReader& saved,
                             SearchCheckpoint& checkpoint, const StoreOptions& options,
                             SearchFeed& feed);

}  // namespace annals::storage
