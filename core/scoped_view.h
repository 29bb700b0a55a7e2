// ScopedView: the part of the store that a request may see by one permission. Everything, unless the scopes restrict it to
// what belongs to the token's patient or matches the query of a granular scope.
//
// Every version is tested by one before it is returned, and every criterion is narrowed by one before it is evaluated.
//
// Layer:   core.
// Spec:    SMART App Launch 2.0, Scopes; FHIR R4 compartmentdefinition-patient.html; docs/security.md.
// Threads: belongs to one request.

#pragma once

#include "core/search/parameters.h"
#include "core/search/terms.h"
#include "core/search/view.h"
#include "core/service.h"
#include "storage/types.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace annals::core {

/// Whether any scope of the sender of `request` covers only part of a type.
inline bool is_restricted(const Request& request) noexcept {
    return request.principal != nullptr && request.principal->is_restricted();
}

/// Lifetime: service and request outlive it.
class ScopedView final : public search::View {
  public:
    /// `permission` is a single one; `open`: its name in auth.public ("read", "search", "history"), if it has one.
    /// Cost: for an unrestricted request a few loads; otherwise plans are made on demand.
    ScopedView(const Service& service, const Request& request, Permission permission,
               std::string_view open = {});

    /// From now on, versions that would have to be read but are not in memory are added to `unread` and are not shown. Null: the
    /// view waits for the device instead.
    void defer(std::vector<Position>* unread) noexcept { unread_ = unread; }

    /// Whether it shows everything.
    bool is_whole() const noexcept { return whole_; }

    const search::Plan& of(TypeId type) const override;

    bool looks_at(TypeId type) const override;

    /// Whether it shows this version, judged by its own content and not by what became of the resource; a deletion is judged
    /// by what it deleted. False if it can't be read. Cost: in a restricted view, the resource is parsed.
    bool shows(const storage::VersionInfo& info) const;

    /// Whether it would show `resource` if it were stored now as `type`/`id`.
    bool shows(TypeId type, std::string_view id, json::Value resource) const;

    /// `head`, or a Head of nothing if the view does not show that version. Requires: the version is visible (its ticket is 0),
    /// or this is_whole().
    storage::Head shown(TypeId type, std::string_view id, const storage::Head& head) const;

    /// The parameters that the plans of of() refer to; a plan is valid as long as these. If it is_whole(), its plans refer to
    /// none, and these are the current ones.
    std::shared_ptr<const search::ParameterSet> parameters() const {
        return whole_ ? service_.indexing().parameters() : parameters_;
    }

  private:
    /// The identities of what a Provenance is about, by type.
    using Targets = std::unordered_map<std::uint16_t, std::vector<search::Term>>;

    search::Plan make_plan(TypeId type) const;
    search::Plan about_what_is_shown(std::span<const std::uint64_t> patients) const;
    std::optional<search::Plan> read_query(TypeId type, std::string_view query) const;
    Result<storage::StoredVersion> load(const storage::VersionInfo& info) const;
    bool shows_deletion(const storage::VersionInfo& info) const;
    bool may_be_of_patient(TypeId type, std::string_view body) const;
    bool is_match(const search::Plan& plan, TypeId type, std::string_view id, Instant written,
                  json::Value resource) const;
    Targets targets_of(json::Value provenance) const;
    bool is_about(const search::Plan& part, const std::vector<search::Term>& targets) const;

    const Service& service_;
    const Request& request_;
    Permission permission_;
    bool whole_;
    std::vector<Position>* unread_ = nullptr;
    std::shared_ptr<const search::ParameterSet> parameters_;
    mutable std::unordered_map<std::uint16_t, search::Plan> plans_;
};

/// One view for resources of one type and another for all others, as $everything needs.
class SplitView final : public search::View {
  public:
    /// Lifetime: both outlive it.
    SplitView(TypeId type, const ScopedView& own, const ScopedView& others)
        : type_(type), own_(own), others_(others) {}

    const search::Plan& of(TypeId type) const override {
        return type == type_ ? own_.of(type) : others_.of(type);
    }

    bool looks_at(TypeId type) const override { return others_.looks_at(type); }

  private:
    TypeId type_;
    const ScopedView& own_;
    const ScopedView& others_;
};

/// The version that a deletion deleted: whoever may see that may see the deletion. None if too many deletions lie between.
std::optional<storage::VersionInfo> deleted_by(const storage::Store& store,
                                               const storage::VersionInfo& deletion,
                                               std::string_view id);

/// Whether the sender of `request` may learn the content of this version, by reading or by searching: the answer to a change of
/// a resource that others wrote reveals it. Cost: in a restricted view that of shows().
bool may_be_told(const Service& service, const Request& request, const storage::VersionInfo& info);

/// Whether the sender of `request` may write a reference to `type`/`id` without learning thereby whether it exists: the sender
/// may see it, or it is of a type that belongs to no patient.
bool may_refer(const Service& service, const Request& request, TypeId type, std::string_view id);

}  // namespace annals::core
