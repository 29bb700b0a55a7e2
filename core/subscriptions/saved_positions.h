// SavedPositions: stores on disk how far each subscription has been notified.
//
// Layer:   core/subscriptions.
// Format:  docs/format.md, "Subscriptions".
// Threads: belongs to one thread.

#pragma once

#include "core/base/ids.h"
#include "core/base/result.h"
#include "storage/file_system.h"

#include <map>
#include <string>

namespace annals::core {

/// By subscription id: everything up to the position has been delivered or doesn't match.
using PositionMap = std::map<std::string, Position, std::less<>>;

class SavedPositions {
  public:
    /// Lifetime: `files` outlives it.
    SavedPositions(storage::FileSystem& files, std::string folder);

    /// The positions saved last; empty if none were. Errors: io, corrupt.
    Result<PositionMap> read() const;

    /// Durable on return; after an earlier crash, the previous positions remain. Errors: no_store, io.
    Result<void> write(const PositionMap& positions);

  private:
    storage::FileSystem& files_;
    const std::string folder_;
};

}  // namespace annals::core
