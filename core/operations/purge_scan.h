// What a purge looks for in the log: versions that are a patient's, and references to what goes.
//
// The search index knows what is current. What was, and whom it named then, only the bodies say: so all of them are
// looked at, those that can't name him by a search for the characters of a reference.
//
// Layer:   core/operations.
// Spec:    docs/api/purge.md, What goes.
// Threads: an object belongs to the loop of its request.

#pragma once

#include "codec/json/resource.h"
#include "core/search/execute.h"
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
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace annals::core {

/// A resource by type and id.
using ResourceName = std::pair<TypeId, std::string>;

/// Goes through the versions of the log in turns, newer ones as they come.
class LogWalk {
  public:
    /// Of versions that `wanted` says yes to.
    LogWalk(const storage::Store& store, bool every_version,
            std::function<bool(const storage::VersionInfo&)> wanted)
        : store_(store), wanted_(std::move(wanted)), what_{.every_version = every_version} {}

    /// The next version; none if nothing newer is visible, or the turn is over.
    const storage::VersionInfo* next(const search::Pace& pace);

    /// All versions at or before it have been seen. Requires: next() gave none at the end.
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
    /// Lifetime: `store` outlives this.
    PatientVersions(const storage::Store& store,
                    std::shared_ptr<const search::ParameterSet> parameters,
                    std::string_view base_url, std::string_view id);

    /// Goes on until the turn is over (false) or all that is visible has been looked at (true). Errors: corrupt;
    /// too_costly (more than kPurgeVersionsMax).
    Result<bool> advance(const search::Pace& pace);

    /// Everything at or before it has been looked at. Requires: advance() was true.
    Position through() const noexcept { return walk_.through(); }

    /// Whether the resource of a version is another patient's, too: by what says whose a resource is (its subject), not
    /// who had to do with it (its author).
    enum class Share : bool { none, others };

    /// Found so far, the patient's own among them, by resource and position.
    const std::map<ResourceName, std::map<Position, Share>>& found() const noexcept {
        return found_;
    }

    std::size_t count() const noexcept { return count_; }

    std::uint64_t key() const noexcept { return key_; }

  private:
    struct Member {
        std::vector<const search::Parameter*> parameters;  ///< of the compartment
        std::vector<const search::Parameter*> owners;      ///< those that say whose it is
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
    const std::string needle_;  ///< how every reference to him ends, or goes on
    const TypeId patient_;
    const std::uint64_t key_;
    std::array<Member, kResourceTypeCount> members_;
    LogWalk walk_;
    search::BodyReader reader_;
    storage::SearchEntries entries_;
    std::vector<json::ReferenceSite> sites_;
    std::map<ResourceName, std::map<Position, Share>> found_;
    std::size_t count_ = 0;
};

/// Finds live resources that refer to what goes.
class PurgeReferrers {
  public:
    struct Referrer {
        ResourceName name;
        VersionNumber version;
        std::string target;  ///< "Patient/1"; of several the first
    };

    /// `gone`: resources of which nothing is left. Lifetime: `store` outlives this.
    PurgeReferrers(const storage::Store& store, std::string_view base_url,
                   const std::vector<ResourceName>& gone);

    /// Goes on until the turn is over (false) or all is found (true). Errors: corrupt.
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
