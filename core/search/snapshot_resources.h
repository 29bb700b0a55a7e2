// SnapshotResources: the StoredResources of a snapshot.
//
// Layer:   core/search.
// Threads: belongs to one thread.

#pragma once

#include "core/search/snapshot.h"
#include "core/search/stored.h"

#include <string_view>
#include <vector>

namespace annals::core::search {

/// Lifetime: all arguments outlive this.
class SnapshotResources final : public StoredResources {
  public:
    /// `unread`: receives the position of a version that is only on the device, which is then an error; null: it is
    /// read, blocking. `put_off`: for put_off(), in one reading of the query.
    explicit SnapshotResources(Snapshot& snapshot,
                               const terminology::Source& others = terminology::r4_definitions(),
                               std::vector<Position>* unread = nullptr, PutOff* put_off = nullptr);

    std::uint64_t seed() const override { return snapshot_.store().search_seed(); }

    std::uint64_t key(TypeId type, std::string_view id) const override {
        return snapshot_.store().search_key(type, id);
    }

    Result<StoredDocument> read(TypeId type, std::string_view id, PutOff* put_off) const override;

    Result<StoredDocument> find(TypeId type, std::string_view url,
                                std::string_view version) const override;

    /// The versions that find() considers; some may have other urls. Errors: expired.
    Result<std::vector<storage::VersionInfo>> find_candidates(TypeId type,
                                                              std::string_view url) const;

    const terminology::Source& others() const override { return others_; }

    PutOff* put_off() const override { return put_off_; }

  private:
    /// Reads and parses a version. With `put_off`, it is an error if that takes too long.
    Result<StoredDocument> load(const storage::VersionInfo& info, PutOff* put_off) const;

    Snapshot& snapshot_;
    const terminology::Source& others_;
    std::vector<Position>* unread_;
    PutOff* put_off_;
};

}  // namespace annals::core::search
