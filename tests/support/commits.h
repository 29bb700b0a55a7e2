// Commits in one line: for tests of the store.
//
// Threads: one.

#pragma once

#include "storage/store.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace annals::test {

/// The id of a resource type of R4.
TypeId type_of(std::string_view name);

/// The body that CommitBuilder gives to a version: "<type>/<id> <text>" around its number and instant.
std::string expected_body(std::string_view type, std::string_view id, std::string_view text,
                          VersionNumber version, Instant instant);

/// Owns the data that a Commit only refers to.
class CommitBuilder {
  public:
    /// Adds a version, searchable by `terms`; the returned write may be changed until commit().
    storage::VersionWrite& put(std::string_view type, std::string_view id, std::string_view text,
                               std::vector<std::uint64_t> terms = {});
    storage::VersionWrite& remove(std::string_view type, std::string_view id);
    storage::Erase& erase(std::string_view type, std::string_view id,
                          storage::Erase::Scope scope = storage::Erase::Scope::everything,
                          VersionNumber version = {});
    /// Requires that no version of the type has had `term` since `as_of`.
    CommitBuilder& guard(std::string_view type, std::uint64_t term, Position as_of);
    CommitBuilder& guard(const storage::Guard& guard);
    CommitBuilder& require(std::string_view type, std::string_view id,
                           std::optional<VersionNumber> version = {},
                           std::optional<std::size_t> writer = {});

    /// Sets the id of the request.
    CommitBuilder& request(std::string_view id);

    storage::Commit commit();

    const std::vector<storage::VersionWrite>& writes() const { return writes_; }

    const std::vector<storage::Erase>& erases() const { return erases_; }

  private:
    std::deque<std::string> texts_;
    std::deque<std::vector<BodyPiece>> bodies_;
    std::deque<storage::SearchEntries> entries_;
    std::deque<std::uint64_t> guarded_;
    std::vector<storage::VersionWrite> writes_;
    std::vector<storage::Erase> erases_;
    std::vector<storage::Guard> guards_;
    std::vector<storage::Requirement> requirements_;
    std::string_view request_;
};

/// Submits one version of a resource and waits for it. Fails the test if it isn't accepted.
storage::Submission put(storage::Store& store, std::string_view type, std::string_view id,
                        std::string_view text);

/// Erases all versions of a resource, and waits until that is durable and they are gone from the disk. Errors: those of
/// Store::wait_erased(). Fails the test if the erasure isn't durable.
Result<void> erase(storage::Store& store, std::string_view type, std::string_view id);

}  // namespace annals::test
