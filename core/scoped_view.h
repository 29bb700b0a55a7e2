// ScopedView: what of the store a request may come to by one permission. Everything for whom scopes hold to nothing;
// else what belongs to the token's patient, or matches a granular scope's query.
//
// Every version on its way out is shown by one, and every criterion on its way in is narrowed by one.
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

/// Whether the scopes of whoever sends `request` permit anything in part only.
inline bool is_held(const Request& request) noexcept {
    return request.principal != nullptr && request.principal->is_held();
}

/// Lifetime: service and request outlive it.
class ScopedView final : public search::View {
  public:
    /// `permission` is one letter; `open`: what auth.public calls the same ("read", "search", "history"), if it does.
    /// Cost: of a request that is held to nothing, some loads; else what is asked for is made when it is asked for.
    ScopedView(const Service& service, const Request& request, Permission permission,
               std::string_view open = {});

    /// What it has to look at and is on the device only goes to `unread` from now on, and isn't shown. Null: it is waited for.
    void defer(std::vector<Position>* unread) noexcept { unread_ = unread; }

    /// True if it shows everything.
    bool is_whole() const noexcept { return whole_; }

    const search::Plan& of(TypeId type) const override;

    bool looks_at(TypeId type) const override;

    /// Whether it shows this version: as what it is, not as what became of its resource; a deletion, as what was deleted.
    /// False also of what can't be read. Cost: of a held one the resource is parsed.
    bool shows(const storage::VersionInfo& info) const;

    /// Whether it would show a resource, written now, as which `type` and `id` are stored.
    bool shows(TypeId type, std::string_view id, json::Value resource) const;

    /// The newest version of a resource, as the log knows it; nothing if that isn't shown. Requires: it is visible
    /// already (its ticket is 0), or this is whole.
    storage::Head shown(TypeId type, std::string_view id, const storage::Head& head) const;

    /// What the plans of of() are made by; they live as long as these.
    const std::shared_ptr<const search::ParameterSet>& parameters() const noexcept {
        return parameters_;
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

/// The same of $everything and the like: by one view for resources of one type, by another for all others.
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

/// The version of the resource that a deletion of it deleted, if it isn't too many deletions ago: who sees that sees the deletion.
std::optional<storage::VersionInfo> deleted_by(const storage::Store& store,
                                               const storage::VersionInfo& deletion,
                                               std::string_view id);

/// Whether whoever sends `request` may be told what this version says, by reading or by searching: an answer to a change of
/// what others wrote tells that. Cost: of a held one as shows().
bool may_be_told(const Service& service, const Request& request, const storage::VersionInfo& info);

/// Whether a resource may refer to `type`/`id` without being told by that whether it exists: it is shown, or of a kind that
/// is nobody's.
bool may_refer(const Service& service, const Request& request, TypeId type, std::string_view id);

}  // namespace annals::core
