// Search recovery: makes versions of the log findable, those that a checkpoint has not seen.
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

/// A version and what it can be found by.
struct ExtractedVersion {
    VersionInfo info;
    std::uint64_t key = 0;  ///< resource_key().low
    SearchEntries entries;
};

/// Which versions extract_versions() is asked for.
struct ExtractRange {
    Position after;
    Position through;
    std::function<bool(Position position, const Index::Link& link)> wanted;  ///< from any thread
    bool read_only = false;  ///< another process may have erased some since the log was read
};

/// Extracts the versions of `range`, but for deletions and erased ones, and hands them over in order of
/// position, some thousands at a time. A version whose body can't be read is handed over without entries.
void extract_versions(const Index& index, const SegmentTable& segments, const SearchSetup& setup,
                      const ExtractRange& range,
                      const std::function<void(std::span<ExtractedVersion>)>& hand_over);

/// Starts the search index with what `checkpoint` had `saved` and brings it up to the log: extracts what stands after
/// `covered` of each type, unless it was superseded more than `options.search_index.positions_retained` positions ago. Returns
/// how many versions were extracted.
std::uint64_t recover_search(const Index& index, const SegmentTable& segments,
                             const SearchSetup& setup, SearchCheckpointReader& saved,
                             SearchCheckpoint& checkpoint, const StoreOptions& options,
                             SearchFeed& feed);

}  // namespace annals::storage
