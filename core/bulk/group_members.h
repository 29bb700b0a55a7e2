// GroupMembers: the Patients in a Group, and in the Groups that are its members.
//
// Layer:   core/bulk.
// Spec:    FHIR R4 group.html; docs/api/export.md.
// Threads: belongs to one thread.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"
#include "core/base/text_map.h"
#include "core/search/pace.h"
#include "core/search/snapshot.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// Reads one Group after another, each once: there may be very many.
class GroupMembers {
  public:
    /// Of the Group with the id `group` at the snapshot. `base_url`: that of absolute references to this server. Lifetime: the
    /// arguments outlive it.
    GroupMembers(search::Snapshot& snapshot, std::string_view group, std::string_view base_url)
        : snapshot_(snapshot), base_url_(base_url), groups_{{std::string(group), 0}} {
        seen_.emplace(group);
    }

    /// True once all Groups have been read. Errors: not_found, deleted (the first Group); too_costly (too many members); those of
    /// reading.
    Result<bool> advance(const search::Pace& pace);

    /// The ids of the Patients found so far.
    const TextSet<>& patients() const noexcept { return patients_; }

  private:
    struct Nested {
        std::string id;
        int depth;
    };

    Result<bool> read_next(const search::Pace& pace);

    search::Snapshot& snapshot_;
    std::string_view base_url_;
    std::vector<Nested> groups_;
    TextSet<> seen_;  ///< the ids in groups_
    std::size_t next_ = 0;
    bool fetched_ = false;  ///< the next one has been fetched
    TextSet<> patients_;
    json::Parser parser_;
};

}  // namespace annals::core
