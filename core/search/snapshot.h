// Snapshot: what a search sees: the store at one position, by the runs that each type had when it was first used.
//
// Layer:   core/search.
// Threads: belongs to one thread.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"
#include "storage/store.h"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace annals::core::search {

/// Resources that are found along with the store's although they are not in it; see carried.h.
struct Carried {
    /// Lifetime of the views: of the Carried.
    struct Resource {
        TypeId type;
        std::string_view id;
        std::string_view body;  ///< minified JSON
    };

    std::vector<Resource> resources;  ///< in order of arrival; more may be appended
    std::shared_ptr<const void> pin;  ///< owns what the views point into

    std::array<bool, kResourceTypeCount> types{};  ///< those that occur
};

/// The position of the first carried resource; the others follow. A store that has reached it shows none.
inline constexpr Position kCarriedFrom{0xff00'0000};
inline constexpr std::size_t kCarriedMax = 0x00ff'ffff;

class Snapshot {
  public:
    using RunsOf = std::function<std::shared_ptr<const storage::SearchRuns>(TypeId type)>;

    /// Everything that is durable now. Lifetime: `store` outlives this.
    explicit Snapshot(const storage::Store& store) : Snapshot(store, store.last_position()) {}

    /// The state at `position`, which is at most the newest.
    Snapshot(const storage::Store& store, Position position)
        : store_(&store),
          position_(position),
          runs_of_([&store](TypeId type) { return store.search(type); }) {}

    /// For an index without a store: plans that look at bodies can't be evaluated.
    Snapshot(RunsOf runs_of, Position position)
        : position_(position), runs_of_(std::move(runs_of)) {}

    Position position() const noexcept { return position_; }

    /// Requires: it was made of a store.
    const storage::Store& store() const noexcept { return *store_; }

    bool has_store() const noexcept { return store_ != nullptr; }

    /// Lifetime: that of this.
    const storage::SearchRuns& runs(TypeId type);

    /// False if versions of this type that the snapshot needs have been discarded.
    bool answers(TypeId type) { return runs(type).vacuumed_through <= position_; }

    /// Uses these runs for a type; they must have been made for this snapshot's position.
    void use(TypeId type, std::shared_ptr<const storage::SearchRuns> runs) {
        runs_[type.value] = std::move(runs);
    }

    /// Makes the first `count` of these visible, for types whose runs are set by use().
    void carry(std::shared_ptr<const Carried> carried, std::size_t count);

    /// Null: none are visible.
    const std::shared_ptr<const Carried>& carried() const noexcept { return carried_; }

    std::size_t carried_count() const noexcept { return carried_end_.value - kCarriedFrom.value; }

    /// The first position that is not visible, among the store's or the carried ones, whichever the run has.
    Position end_in(const storage::SearchRun& run) const noexcept {
        return carried_ != nullptr && run.position(0) >= kCarriedFrom
                   ? carried_end_
                   : Position{position_.value + 1};
    }

    /// Whether the document was the current version of its resource at the snapshot's position.
    bool sees(const storage::SearchRun& run, std::uint32_t document) const noexcept {
        return run.position(document) < end_in(run) && run.died_at(document) > position_;
    }

    /// The version or carried resource at a position; none if it was erased. Requires: has_store().
    std::optional<storage::VersionInfo> at(Position position) const;

    /// Errors: those of Store::load(). Requires: has_store().
    Result<storage::StoredVersion> load(const storage::VersionInfo& info) const;

    /// Those of `positions` whose bytes are only on the device (Store::unread()). Requires: has_store().
    std::vector<Position> unread(std::span<const Position> positions) const;

  private:
    const storage::Store* store_ = nullptr;
    Position position_;
    RunsOf runs_of_;
    std::shared_ptr<const Carried> carried_;
    Position carried_end_ = kCarriedFrom;
    std::unordered_map<std::uint16_t, std::shared_ptr<const storage::SearchRuns>> runs_;
};

/// The error for a snapshot that can no longer be answered.
Error expired_snapshot();

/// The bytes of a version, or of a carried resource. Errors: those of Store::load().
Result<storage::StoredVersion> load(const storage::Store& store,
                                    const std::shared_ptr<const Carried>& carried,
                                    const storage::VersionInfo& info);

/// Reads and parses bodies, one at a time.
class BodyReader {
  public:
    explicit BodyReader(const storage::Store& store) : store_(store) {}

    /// Also reads the snapshot's carried resources. Requires: has_store().
    explicit BodyReader(const Snapshot& snapshot)
        : store_(snapshot.store()), carried_(snapshot.carried()) {}

    /// Missing if the version was erased or is damaged. Lifetime: until the next call.
    json::Value read(Position position);

    /// Whether the body's JSON contains `text`, without parsing it. False if the version was erased or is damaged.
    bool mentions(Position position, std::string_view text);

    /// The id alone, without parsing the body; empty if the version was erased or is damaged. Lifetime: until the next
    /// call.
    std::string_view read_id(Position position);

    /// Releases what was read last: an erasure waits until nobody holds the bytes.
    void forget();

    /// The id of the resource that was read last.
    std::string_view id() const noexcept { return stored_ ? stored_->id : std::string_view(); }

  private:
    /// Makes stored_ the version at `position`. False if it was erased or is damaged.
    bool load(Position position);

    const storage::Store& store_;
    std::shared_ptr<const Carried> carried_;
    Position position_;  ///< of stored_
    std::optional<storage::StoredVersion> stored_;
    bool parsed_ = false;  ///< document_ is that of stored_
    json::Document document_;
};

}  // namespace annals::core::search
