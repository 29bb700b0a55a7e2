// Snapshot: what a search looks at: the runs of each type as they stood when first asked for, at one position.
//
// Layer:   core/search.
// Threads: belongs to one thread.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"
#include "storage/store.h"

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace annals::core::search {

class Snapshot {
  public:
    using RunsOf = std::function<std::shared_ptr<const storage::SearchRuns>(TypeId type)>;

    /// All that is durable now. Lifetime: `store` outlives this.
    explicit Snapshot(const storage::Store& store) : Snapshot(store, store.last_position()) {}

    /// As it was at `position`, which is not beyond the newest.
    Snapshot(const storage::Store& store, Position position)
        : store_(&store),
          position_(position),
          runs_of_([&store](TypeId type) { return store.search(type); }) {}

    /// Of an index without a store: nothing that looks at bodies can be asked of it.
    Snapshot(RunsOf runs_of, Position position)
        : position_(position), runs_of_(std::move(runs_of)) {}

    Position position() const noexcept { return position_; }

    /// Requires: it was made of a store.
    const storage::Store& store() const noexcept { return *store_; }

    bool has_store() const noexcept { return store_ != nullptr; }

    /// Lifetime: of this.
    const storage::SearchRuns& runs(TypeId type);

    /// False if what the snapshot needs of this type has been thrown away.
    bool answers(TypeId type) { return runs(type).vacuumed_through <= position_; }

    /// Takes these for the runs of a type: they were made for its position.
    void use(TypeId type, std::shared_ptr<const storage::SearchRuns> runs) {
        runs_[type.value] = std::move(runs);
    }

    /// True if the document was what its resource was at the position.
    bool sees(const storage::SearchRun& run, std::uint32_t document) const noexcept {
        return run.position(document) <= position_ && run.died_at(document) > position_;
    }

  private:
    const storage::Store* store_ = nullptr;
    Position position_;
    RunsOf runs_of_;
    std::unordered_map<std::uint16_t, std::shared_ptr<const storage::SearchRuns>> runs_;
};

/// What is said of a snapshot that answers no more.
Error expired_snapshot();

/// The parsed body of the version that was read last.
class BodyReader {
  public:
    explicit BodyReader(const storage::Store& store) : store_(store) {}

    /// Missing if the version was erased or is damaged. Lifetime: until the next call.
    json::Value read(Position position);

    /// The id of what was read last.
    std::string_view id() const noexcept { return stored_ ? stored_->id : std::string_view(); }

  private:
    const storage::Store& store_;
    Position position_;
    std::optional<storage::StoredVersion> stored_;
    json::Document document_;
};

}  // namespace annals::core::search
