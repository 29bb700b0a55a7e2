// TakenLines: tells which lines of an import had already become versions when a restart lost track of the progress.
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

/// Lines become versions in order, so the version of a line is looked for after that of the line before; thus two equal lines
/// are matched with different versions. Erased versions can't be compared: the first erased version of the line's resource in
/// that range is assumed to be the line's, so that erased data isn't imported again.
class TakenLines {
  public:
    /// Lifetime: `store` outlives it.
    explicit TakenLines(const storage::Store& store) : store_(store) {}

    /// From now on, lines are read again whose versions, if any, come after `position`.
    void begin(Position position);

    /// Whether such lines may still follow: until then, each line must be looked up.
    bool reading_again() const { return after_ < through_; }

    /// Notes that the current line has been written as a new version.
    void note_written() { has_written_ = true; }

    /// The versions of all lines from here on come after this position.
    Position position() const;

    /// Whether the resource was imported before. `facts` null: its deletion.
    bool has(TypeId type, std::string_view id, const json::ResourceFacts* facts);

    /// The same for an entry of a history Bundle. False if the entry has a version number: submitting an existing version again
    /// has no effect.
    bool has(const HistoryEntry& entry);

  private:
    /// A version in the range in question, erased or not.
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
    /// Sorted by resource; empty unless something in the store was ever erased.
    std::vector<Written> written_;
    // The range in which versions may stem from lines that are read again.
    Position after_;
    Position through_;
    bool has_written_ = false;  // since the last line that was found in the range
};

}  // namespace annals::core
