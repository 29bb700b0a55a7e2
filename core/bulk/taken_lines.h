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

#include <cstdint>
#include <string_view>
#include <vector>

namespace annals::core {

/// Lines became versions in their order, so what a line is found as stands behind what was found for the line before: of two
/// lines that say the same each has its own. What was erased meanwhile says no more what it was: the first version of the line's
/// resource that is erased, there, is taken for the line's, so that nothing comes back.
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
    /// A version between the two positions, erased or not.
    struct Written {
        std::uint64_t key;  ///< of its resource
        Position position;
        bool deletion;
    };

    bool take(Position position);
    bool lived_before(TypeId type, std::string_view id) const;
    Position first_erased(TypeId type, std::string_view id, bool deletion);
    void list_written();

    const storage::Store& store_;
    std::vector<Written>
        written_;  ///< by resource, as far as anything was ever erased from the store
    // Versions between these may be of lines that are read again.
    Position after_;
    Position through_;
    bool has_written_ = false;  // after the last line that was found there
};

}  // namespace annals::core
