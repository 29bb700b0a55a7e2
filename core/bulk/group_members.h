// GroupMembers: the Patients in a Group, and in the Groups that are its members.
//
// Layer:   core/bulk.
// Spec:    FHIR R4 group.html; docs/api/export.md.
// Threads: belongs to one thread.

#pragma once

#include "codec/json/document.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/text_map.h"
#include "core/search/pace.h"
#include "core/search/snapshot.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {

/// The type of Groups.
TypeId group_type();

/// Reads one Group after another, each once: there may be very many, with very many members.
class GroupMembers {
  public:
    /// How many Patients, and Groups below the first, there may be, whether they exist or not.
    static constexpr std::size_t kMembersMax = 1'000'000;

    /// Of the Group with the id `group` at the snapshot. `base_url`: that of absolute references to this server. Lifetime: the
    /// arguments outlive it.
    GroupMembers(search::Snapshot& snapshot, std::string_view group, std::string_view base_url)
        : snapshot_(snapshot), base_url_(base_url) {
        groups_.push_back({*seen_.emplace(group).first, 0});
    }

    /// True once all Groups have been read. Errors: not_found, deleted (the first Group); too_costly (more than kMembersMax
    /// members); those of reading.
    Result<bool> advance(const search::Pace& pace);

    /// The ids of the Patients found so far.
    const TextSet<>& patients() const noexcept { return patients_; }

    /// The same, to keep.
    TextSet<> take_patients() { return std::move(patients_); }

  private:
    struct Nested {
        std::string_view id;  ///< in seen_
        int depth;
    };

    Result<bool> read_next(const search::Pace& pace);
    Result<bool> take_members(const search::Pace& pace);
    Result<void> take(json::Value member);

    search::Snapshot& snapshot_;
    std::string_view base_url_;
    std::vector<Nested> groups_;
    TextSet<> seen_;  ///< the ids of groups_
    std::size_t next_ = 0;
    bool fetched_ = false;  ///< the next one has been fetched
    TextSet<> patients_;
    json::Parser parser_;
    json::Document group_;                          ///< the one before next_
    std::optional<json::Value::Elements> members_;  ///< of that, not yet taken; none: all are taken
};

}  // namespace annals::core
