// SavedPositions: how far each subscription has been notified, on disk.
//
// Layer:   core/subscriptions.
// Format:  docs/format.md, "Subscriptions".
// Threads: one.

#pragma once

#include "core/base/ids.h"
#include "core/base/result.h"
#include "storage/file_system.h"

#include <map>
#include <string>

namespace annals::core {

/// By id of the subscription: everything at or before the position has been delivered, or is none of its business.
using PositionMap = std::map<std::string, Position, std::less<>>;

class SavedPositions {
  public:
    /// Lifetime: `files` outlives it.
    SavedPositions(storage::FileSystem& files, std::string folder);

    /// What was saved last; empty if nothing was. Errors: io, corrupt.
    Result<PositionMap> read() const;

    /// Durable when it returns; after a crash before that, what was saved last is there. Errors: no_store, io.
    Result<void> write(const PositionMap& positions);

  private:
    storage::FileSystem& files_;
    const std::string folder_;
};

}  // namespace annals::core
