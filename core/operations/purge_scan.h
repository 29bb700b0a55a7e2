// Scans the log for a purge: for versions that belong to a patient, and references to what is erased.
//
// The search index only knows current versions. Which patients older versions named is only in their bodies, so all of them
// are checked; a search for the characters of a reference excludes those that can't name this one.
//
// Layer:   core/operations.
// Spec:    docs/api/purge.md, What is removed.
// Threads: an object belongs to the loop of its request.

#pragma once

#include "codec/json/resource.h"
#include "core/search/pace.h"
#include "core/search/parameters.h"
#include "core/search/snapshot.h"
#include "storage/search_entries.h"
#include "storage/store.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace annals::core {

/// A resource by type and id.
using ResourceName = std::pair<TypeId, std::string>;

/// Walks through the versions of the log in turns, including those that are written meanwhile.
class LogWalk {
  public:
    /// Over the versions for which `wanted` returns true.
    LogWalk(const storage::Store& store, bool every_version,
            std::function<bool(const storage::VersionInfo&)> wanted)
        : store_(store), wanted_(std::move(wanted)), what_{.every_version = every_version} {}

    /// The next version; none if nothing newer is visible, or the turn is over.
    const storage::VersionInfo* next(const search::Pace& pace);

    /// All versions at or before it have been visited. Requires: next() returned none last.
    Position through() const noexcept { return after_; }

    bool at_end() const noexcept {
        return at_ == found_.size() && after_ >= store_.last_position();
    }

  private:
    const storage::Store& store_;
    std::function<bool(const storage::VersionInfo&)> wanted_;
    storage::LogScan what_;
    Position after_;
    std::vector<storage::VersionInfo> found_;
    std::size_t at_ = 0;
    std::size_t steps_ = 0;
};

/// Finds the versions that are in a patient's compartment.
class PatientVersions {
  public:
    /// `count_max`: how many may be found. Lifetime: `store` outlives this.
    PatientVersions(const storage::Store& store,
                    std::shared_ptr<const search::ParameterSet> parameters,
                    std::string_view base_url, std::string_view id, std::size_t count_max);

    /// Continues until the turn is over (false) or everything visible has been checked (true).
    /// Errors: corrupt; too_costly (more than `count_max`).
    Result<bool> advance(const search::Pace& pace);

    /// Everything at or before it has been checked. Requires: advance() returned true.
    Position through() const noexcept { return walk_.through(); }

    /// Whether a version's resource also belongs to another patient: by its owner (the subject), not by
    /// participants (the author).
    enum class Share : bool { none, others };

    /// The versions found so far, the patient's own included, by resource and position.
    const std::map<ResourceName, std::map<Position, Share>>& found() const noexcept {
        return found_;
    }

    std::size_t count() const noexcept { return count_; }

    std::uint64_t key() const noexcept { return key_; }

  private:
    struct Member {
        std::vector<const search::Parameter*> parameters;  ///< of the compartment
        std::vector<const search::Parameter*> owners;      ///< those that name its owner
    };

    bool is_candidate(const storage::VersionInfo& info) const;
    Result<void> look(const storage::VersionInfo& info);
    bool may_name(std::string_view body) const;
    bool names_him(const Member& member, TypeId type, json::Value body);
    bool names_others(const Member& member, TypeId type, json::Value body);

    const storage::Store& store_;
    std::shared_ptr<const search::ParameterSet> parameters_;
    const std::string base_url_;
    const std::string id_;
    const std::string needle_;  ///< how every reference to the Patient ends or continues
    const TypeId patient_;
    const std::uint64_t key_;
    const std::size_t count_max_;
    std::array<Member, kResourceTypeCount> members_;
    LogWalk walk_;
    search::BodyReader reader_;
    storage::SearchEntries entries_;
    std::vector<json::ReferenceSite> sites_;
    std::map<ResourceName, std::map<Position, Share>> found_;
    std::size_t count_ = 0;
};

/// Finds live resources that refer to erased ones.
class PurgeReferrers {
  public:
    struct Referrer {
        ResourceName name;
        VersionNumber version;
        std::string target;  ///< "Patient/1"; the first of several
    };

    /// `gone`: resources that are erased completely. Lifetime: `store` outlives this.
    PurgeReferrers(const storage::Store& store, std::string_view base_url,
                   const std::vector<ResourceName>& gone);

    /// Continues until the turn is over (false) or everything has been checked (true). Errors: corrupt.
    Result<bool> advance(const search::Pace& pace);

    const std::vector<Referrer>& found() const noexcept { return found_; }

    std::uint64_t count() const noexcept { return count_; }

  private:
    Result<void> look(const storage::VersionInfo& info);
    std::string target_of(const storage::VersionInfo& info, std::string_view body);
    std::string known(std::string_view reference) const;

    const storage::Store& store_;
    const std::string base_url_;
    std::unordered_set<std::uint64_t> gone_;  ///< Store::search_key()
    LogWalk walk_;
    search::BodyReader reader_;
    std::vector<json::ReferenceSite> sites_;
    std::vector<Referrer> found_;
    std::uint64_t count_ = 0;
};

}  // namespace annals::core
