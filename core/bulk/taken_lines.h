// TakenLines: which lines of an import have become versions already, before a restart that lost how far it was.
//
// Layer:   core/bulk.
// Spec:    docs/api/import.md.
// Threads: belongs to one job.

#pragma once

#include "codec/json/resource.h"
#include "core/base/ids.h"
#include "core/base/resource_types.h"
#include "core/interactions/history_bundle_entry.h"
#include "storage/store.h"

#include <string_view>

namespace annals::core {

/// Lines became versions in their order, so what a line is found as stands behind what was found for the line before: of two
/// lines that say the same each has its own.
class TakenLines {
  public:
    /// Lifetime: `store` outlives it.
    explicit TakenLines(const storage::Store& store) : store_(store) {}

    /// From now on the lines are read again that were read after `position`.
    void begin(Position position);

    /// Whether there may be more of them: until then each line is looked for.
    bool reading_again() const { return after_ < through_; }

    /// Notes that the line became a version now.
    void note_written() { has_written_ = true; }

    /// Behind which the lines from here on have become versions, or will.
    Position position() const;

    /// Was the resource taken? `facts` null: its deletion.
    bool has(TypeId type, std::string_view id, const json::ResourceFacts* facts);

    /// Was the entry of history? What has its version number and is there is ignored when it is submitted, so that it may be
    /// again: false.
    bool has(const HistoryEntry& entry);

  private:
    bool lived_before(TypeId type, std::string_view id) const;

    const storage::Store& store_;
    // Versions between these may be of lines that are read again.
    Position after_;
    Position through_;
    bool has_written_ = false;  // after the last line that was found there
};

}  // namespace annals::core
