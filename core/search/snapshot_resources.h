// SnapshotResources: what reading a query asks of the store, answered from a snapshot.
//
// Layer:   core/search.
// Threads: belongs to one thread.

#pragma once

#include "core/search/snapshot.h"
#include "core/search/stored.h"

#include <string_view>
#include <vector>

namespace annals::core::search {

/// Lifetime: what it is made of outlives this.
class SnapshotResources final : public StoredResources {
  public:
    /// `unread`: where the position goes of what is on the device only; that is then not waited for, but an error. Null:
    /// it is waited for. `put_off`: put_off().
    explicit SnapshotResources(Snapshot& snapshot,
                               const terminology::Source& others = terminology::r4_definitions(),
                               std::vector<Position>* unread = nullptr, PutOff* put_off = nullptr)
        : snapshot_(snapshot), others_(others), unread_(unread), put_off_(put_off) {}

    std::uint64_t seed() const override { return snapshot_.store().search_seed(); }

    std::uint64_t key(TypeId type, std::string_view id) const override {
        return snapshot_.store().search_key(type, id);
    }

    Result<StoredDocument> read(TypeId type, std::string_view id) const override;

    Result<StoredDocument> find(TypeId type, std::string_view url,
                                std::string_view version) const override;

    /// The versions that find() looks at; some of them may be of other urls. Errors: expired.
    Result<std::vector<storage::VersionInfo>> find_candidates(TypeId type,
                                                              std::string_view url) const;

    const terminology::Source& others() const override { return others_; }

    PutOff* put_off() const override { return put_off_; }

  private:
    /// Parses it, unless it takes long and `put_off` is there.
    Result<StoredDocument> load(const storage::VersionInfo& info, PutOff* put_off) const;

    Snapshot& snapshot_;
    const terminology::Source& others_;
    std::vector<Position>* unread_;
    PutOff* put_off_;
};

}  // namespace annals::core::search
