// Snapshot: what a search looks at: the runs of each type as they stood when first asked for, at one position.
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

/// Resources that are no versions of the store and are found beside them; see carried.h.
struct Carried {
    /// Lifetime of the views: of the Carried.
    struct Resource {
        TypeId type;
        std::string_view id;
        std::string_view body;  ///< minified JSON
    };

    std::vector<Resource>
        resources;  ///< in the order in which they came; more may come behind them
    std::shared_ptr<const void> pin;  ///< what the views point into

    std::array<bool, kResourceTypeCount> types{};  ///< of which there are any
};

/// The position of the first carried resource; the others follow. A store that is so large shows none.
inline constexpr Position kCarriedFrom{0xff00'0000};
inline constexpr std::size_t kCarriedMax = 0x00ff'ffff;

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

    /// Sees the first `count` of these, too, of types whose runs use() brings.
    void carry(std::shared_ptr<const Carried> carried, std::size_t count);

    /// Null: none are seen.
    const std::shared_ptr<const Carried>& carried() const noexcept { return carried_; }

    std::size_t carried_count() const noexcept { return carried_end_.value - kCarriedFrom.value; }

    /// The first position of a run's kind that is not seen any more.
    Position end_in(const storage::SearchRun& run) const noexcept {
        return carried_ != nullptr && run.position(0) >= kCarriedFrom
                   ? carried_end_
                   : Position{position_.value + 1};
    }

    /// True if the document was what its resource was at the position.
    bool sees(const storage::SearchRun& run, std::uint32_t document) const noexcept {
        return run.position(document) < end_in(run) && run.died_at(document) > position_;
    }

    /// The version, or carried resource, at a position; none if it was erased. Requires: it was made of a store.
    std::optional<storage::VersionInfo> at(Position position) const;

    /// Errors: those of Store::load(). Requires: it was made of a store.
    Result<storage::StoredVersion> load(const storage::VersionInfo& info) const;

    /// Those of `positions` whose bytes are on the device only (Store::unread()). Requires: it was made of a store.
    std::vector<Position> unread(std::span<const Position> positions) const;

  private:
    const storage::Store* store_ = nullptr;
    Position position_;
    RunsOf runs_of_;
    std::shared_ptr<const Carried> carried_;
    Position carried_end_ = kCarriedFrom;
    std::unordered_map<std::uint16_t, std::shared_ptr<const storage::SearchRuns>> runs_;
};

/// What is said of a snapshot that answers no more.
Error expired_snapshot();

/// The version, or a carried resource if there are any, at a position; none if it was erased.
std::optional<storage::VersionInfo> find_at(const storage::Store& store, const Carried* carried,
                                            Position position);

/// Its bytes. Errors: those of Store::load().
Result<storage::StoredVersion> load(const storage::Store& store,
                                    const std::shared_ptr<const Carried>& carried,
                                    const storage::VersionInfo& info);

/// The parsed body of the version that was read last.
class BodyReader {
  public:
    explicit BodyReader(const storage::Store& store) : store_(store) {}

    /// Also of what the snapshot carries. Requires: it was made of a store.
    explicit BodyReader(const Snapshot& snapshot)
        : store_(snapshot.store()), carried_(snapshot.carried()) {}

    /// Missing if the version was erased or is damaged. Lifetime: until the next call.
    json::Value read(Position position);

    /// Lets go of what was read last: an erasure waits for whoever has the bytes.
    void forget();

    /// The id of what was read last.
    std::string_view id() const noexcept { return stored_ ? stored_->id : std::string_view(); }

  private:
    const storage::Store& store_;
    std::shared_ptr<const Carried> carried_;
    Position position_;
    std::optional<storage::StoredVersion> stored_;
    json::Document document_;
};

}  // namespace annals::core::search
