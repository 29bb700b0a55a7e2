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
#include <functional>
#include <span>
#include <vector>

namespace annals::storage {

/// A version and its search entries.
struct ExtractedVersion {
    VersionInfo info;
    std::uint64_t key = 0;  ///< resource_key().low
    SearchEntries entries;
};

/// The versions that extract_versions() is to extract.
struct ExtractRange {
    Position after;
    Position through;
    std::function<bool(Position position, const Index::Link& link)> wanted;  ///< from any thread
    bool read_only = false;  ///< another process may have erased some since the log was read
};

/// Extracts the versions of `range`, except for deletions and erased ones, and passes them to `hand_over` in order of position,
/// some thousands at a time. A version whose body can't be read is passed without entries.
void extract_versions(const Index& index, const SegmentTable& segments, const SearchSetup& setup,
                      const ExtractRange& range,
                      const std::function<void(std::span<ExtractedVersion>)>& hand_over);

/// Starts the search index with what `checkpoint` can load from `saved` and brings it up to the log: extracts each type's
/// versions after `covered`, except those superseded more than `options.search_index.positions_retained` positions ago. Returns
/// how many versions were extracted.
std::uint64_t recover_search(const Index& index, const SegmentTable& segments,
                             const SearchSetup& setup, SearchCheckpointReader& saved,
                             SearchCheckpoint& checkpoint, const StoreOptions& options,
                             SearchFeed& feed);

}  // namespace annals::storage
