// ChangeReader: the versions of a store in commit order; commits are not split.
//
// Layer:   core/interactions.
// Spec:    docs/api/changes.md.
// Threads: one at a time; reads only visible versions, and takes no lock.

#pragma once

#include "core/base/ids.h"
#include "core/base/resource_types.h"
#include "storage/store.h"
#include "storage/types.h"

#include <cstddef>
#include <span>
#include <vector>

namespace annals::core {

/// A version and the commit that it belongs to.
struct Change {
    storage::VersionInfo info;
    Position commit;  ///< position of the commit's last version, whether that is returned or not
};

/// The next `count` versions after `after` up to and including `bound`, of `types` (ascending; none: all), in commit
/// order; erased versions are skipped.
std::vector<storage::VersionInfo> versions_after(const storage::Store& store,
                                                 std::span<const TypeId> types, Position after,
                                                 Position bound, std::size_t count);

class ChangeReader {
  public:
    /// Begins after `after`. Empty `types`: all. Lifetime: `store` outlives the reader.
    ChangeReader(const storage::Store& store, Position after, std::vector<TypeId> types)
        : store_(store), types_(std::move(types)), reached_(after) {}

    /// The next visible versions: `count`, or more to complete their last commit; erased ones are skipped. Empty:
    /// there is nothing new. Requires: count > 0.
    std::vector<Change> read(std::size_t count);

    /// Everything up to this position has been returned, or is of other types.
    Position reached() const noexcept { return reached_; }

  private:
    const storage::Store& store_;
    std::vector<TypeId> types_;
    Position reached_;
};

}  // namespace annals::core
