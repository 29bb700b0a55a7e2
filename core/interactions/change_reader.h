// ChangeReader: the versions of a store in the order in which they were committed, commits kept whole.
//
// Layer:   core/interactions.
// Spec:    docs/api/changes.md.
// Threads: one at a time; reads visible versions alone, and takes no lock.

#pragma once

#include "core/base/ids.h"
#include "core/base/resource_types.h"
#include "storage/store.h"
#include "storage/types.h"

#include <cstddef>
#include <span>
#include <vector>

namespace annals::core {

/// A version and the commit that it is of.
struct Change {
    storage::VersionInfo info;
    Position commit;  ///< position of the commit's last version, erased or not, asked for or not
};

/// The next `count` versions behind `after` and not behind `bound`, of `types` (ascending; none: of all), in commit order;
/// erased ones are passed over.
std::vector<storage::VersionInfo> versions_after(const storage::Store& store,
                                                 std::span<const TypeId> types, Position after,
                                                 Position bound, std::size_t count);

class ChangeReader {
  public:
    /// Begins after `after`. No `types`: all. Lifetime: `store` outlives the reader.
    ChangeReader(const storage::Store& store, Position after, std::vector<TypeId> types)
        : store_(store), types_(std::move(types)), reached_(after) {}

    /// The next versions that are visible: `count`, or as many more as their last commit has; erased ones are passed
    /// over. None: there is nothing new. Requires: count > 0.
    std::vector<Change> read(std::size_t count);

    /// Everything at or before it has been given, or is of other types.
    Position reached() const noexcept { return reached_; }

  private:
    const storage::Store& store_;
    std::vector<TypeId> types_;
    Position reached_;
};

}  // namespace annals::core
