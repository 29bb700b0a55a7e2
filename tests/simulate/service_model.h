// ServiceModel: what the documented interactions mean, in their simplest form, to compare a service with.
//
// The versions and their order are a VersionModel's; this adds what the resources say, and what a request makes of them
// (docs/api). A request that may be refused is first decided, then done.
//
// Threads: one. All searches are linear.

#pragma once

#include "tests/support/version_model.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::test {

/// What a resource says. A part that is empty is absent.
struct Content {
    std::string text;       ///< Patient.name.family, Observation.valueString
    std::string code;       ///< Patient.identifier.value, Observation.code.coding.code
    std::string date;       ///< Patient.birthDate, Observation.effectiveDateTime
    std::string target;     ///< Patient.managingOrganization, Observation.subject
    std::string focus;      ///< Observation.focus, which is in no compartment by it
    std::string contained;  ///< family of a Patient that an Observation contains, its performer
    std::vector<std::string> tags;

    bool operator==(const Content&) const = default;
};

class ServiceModel;

/// One condition of a search: as a query has it, and what it means for a version at a state of the store.
struct Condition {
    using Holds = std::function<bool(const ServiceModel&, const VersionModel::Version&, Position)>;

    std::string query;  ///< percent-encoded
    Holds holds;
};

/// A write of one resource, as a request or the entry of a Bundle asks for it.
struct Write {
    enum class Kind : std::uint8_t { create, update, patch, remove, add_tag, remove_tag };

    Kind kind = Kind::update;
    std::string type;
    std::string id;                     ///< empty: that of the match, or assigned by the server
    std::optional<Condition> criteria;  ///< If-None-Exist of a create
    std::string if_match;               ///< "", "*", or a version
    bool if_none_match = false;         ///< If-None-Match: *
    Content content;                    ///< of a patch only the text, of a tag only the tags
    bool with_fhirpath = false;         ///< a patch that removes the text
    bool fails_test = false;            ///< a JSON Patch whose test fails
    std::string urn;                    ///< fullUrl of an entry

    std::string name() const { return type + '/' + id; }

    bool concerns_tags() const { return kind == Kind::add_tag || kind == Kind::remove_tag; }
};

/// What becomes of a write.
struct Decision {
    enum class Change : std::uint8_t { nothing, version, deletion, erasure };

    int status = 0;
    Change change = Change::nothing;
    std::vector<std::string> names;  ///< the resources concerned; empty if the server assigns an id
    Content content;
};

/// An entry of a history bundle.
struct HistoryItem {
    std::string name;
    std::optional<std::uint64_t> version;
    std::optional<Instant> instant;
    bool deletion = false;
    Content content;
};

/// What becomes of it.
struct HistoryFate {
    int status = 0;
    bool applied = false;
    std::string code;      ///< of its outcome's first issue; empty: none
    bool unknown = false;  ///< a second issue says that this version is not stored
};

class ServiceModel {
  public:
    using Version = VersionModel::Version;

    bool hard_delete = false;
    bool deletes_several = false;  ///< conditional_delete = "multiple"
    std::string patient;           ///< whose compartment is all that is shown; empty: everything is

    // ---- reading ----

    const VersionModel& log() const { return log_; }

    const std::vector<std::string>& names() const { return names_; }

    /// The newest version at `bound` (0: now), deletion or not; null: absent or erased.
    const Version* newest(std::string_view name, Position bound = {}) const;

    bool is_live(std::string_view name, Position bound = {}) const;

    /// Whether a version is of the compartment of `patient`; of a deletion, what it deleted.
    bool shows(const Version& version) const;

    /// Whether that is true of any version of a resource that has one at `bound` (0: now).
    bool shows_any(std::string_view name, Position bound = {}) const;

    /// A version that can be read; null: none.
    const Version* version_of(std::string_view name, std::uint64_t number) const;

    /// The same by what label() makes.
    const Version* labelled(std::string_view label) const;

    const Content& content(const Version& version) const {
        return contents_.at(version.info.position.value);
    }

    const std::string& name_of(const Version& version) const { return names_[version.resource]; }

    /// "Patient/a/3"
    std::string label(const Version& version) const;

    const Version& at(std::uint64_t position) const { return log_.versions()[position - 1]; }

    std::uint64_t last() const { return log_.last_position().value; }

    /// The last position of the commit that wrote this one.
    std::uint64_t commit_end(std::uint64_t position) const { return commit_ends_[position - 1]; }

    /// "position, end of the commit, label" for each version that is stored.
    std::vector<std::string> feed() const;

    std::optional<std::uint64_t> resource_of(std::string_view name) const;

    /// Sorts what a search found without `_sort`.
    static void sort_by_default(std::vector<const Version*>& found);

    /// The live resources at `bound` for which all `conditions` hold, newest first. `type` empty: all types.
    std::vector<const Version*> find(std::string_view type,
                                     const std::vector<Condition>& conditions,
                                     Position bound) const;

    /// The positions of the versions that a history shows as of query.bound, in its order. `name`: of an instance.
    std::vector<std::uint64_t> history(const storage::HistoryQuery& query, std::string_view name,
                                       std::optional<Instant> at) const;

    /// The state that _asOf with this instant shows.
    Position bound_at(Instant instant) const;

    // ---- writing ----

    Decision decide(const Write& write) const;

    /// What a decision changes, as a commit of its own unless end_commit() is put off. `assigned`: "Patient/..." if
    /// the server assigned an id.
    void apply(const Decision& decision, std::string_view assigned);

    /// The version that the answer to an applied decision shows; null: none.
    const Version* shown_by(const Decision& decision, std::string_view assigned) const;

    HistoryFate take(const HistoryItem& item);

    /// The deletion of one version, or of all but the current one (0), or $purge-history. Returns the status.
    int delete_history(std::string_view name, std::uint64_t number);

    /// $undo of one position: the status; none: this model does not know.
    std::optional<int> undo(std::uint64_t position);

    int purge(std::string_view name);

    /// History cleanup: keeps this many versions of each resource.
    void clean(std::uint64_t keep);

    void add(std::string_view name, bool deletion, const Content& content,
             std::optional<std::uint64_t> number = {}, std::optional<Instant> instant = {});

    std::uint64_t erase(std::string_view name, storage::Erase::Scope scope,
                        std::uint64_t number = 0);

    /// Whatever was added since the last call is one commit.
    void end_commit();

    /// The instant of commits from now on.
    Instant now;

    std::uint64_t erasures() const { return erasures_; }

  private:
    Decision decide_found(const Write& write, std::vector<std::string> names) const;
    Decision decide_update(const Write& write, const std::string& name) const;
    Decision decide_removal(const Write& write, const std::string& name) const;
    Decision decide_change(const Write& write, const std::string& name) const;
    bool meets_conditions(const Write& write, const std::string& name) const;

    VersionModel log_;
    std::vector<std::string> names_;
    std::map<std::string, std::uint64_t, std::less<>> numbers_;
    std::map<std::uint64_t, Content> contents_;  ///< by position
    std::vector<std::uint64_t> commit_ends_;     ///< by position, from 1
    std::uint64_t erasures_ = 0;
};

}  // namespace annals::test
