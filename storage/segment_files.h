// SegmentFiles: what those who take the files of segments and those who write into them know of each other.
//
// Layer:   storage.
// Threads: any, with `mutex` held.

#pragma once

#include <cstdint>
#include <mutex>
#include <set>

namespace annals::storage {

struct SegmentFiles {
    /// Held by whoever changes a segment in place, from checking that its file has only one name until the change is written, or
    /// gives another file its name; a backup holds it while it links a file, and while it copies the open segment. Not for
    /// threads that must not block.
    std::mutex mutex;

    /// The numbers of segments that were changed in place without a sync that succeeded. The device may have any mixture of
    /// before and after. The store makes up for that, but not in a file that is then a backup's: it is not linked.
    std::set<std::uint64_t> unsynced;
};

}  // namespace annals::storage
