// Access: who sends a request, and what they may do.
//
// Layer:   core. net/auth establishes identities; every access to a resource, bundle entries included, is
//          judged here.
// Spec:    SMART App Launch 2.0 scopes (and 1.0's); docs/security.md, Scopes.
// Threads: plain values and functions; a Principal is immutable once made.

#pragma once

#include "core/base/resource_types.h"
#include "core/base/result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

class Service;
struct Config;
struct Interaction;
struct Request;
struct Response;
struct Target;

/// SMART's permission letters as bits.
enum Permission : std::uint8_t {
    kMayCreate = 1,
    kMayRead = 2,  ///< read, vread, instance history
    kMayUpdate = 4,
    kMayDelete = 8,
    kMaySearch = 16,                                   ///< search, type and system history
    kMayWrite = kMayCreate | kMayUpdate | kMayDelete,  ///< what a history bundle needs
    kMayAll = 31,
};

/// The permission that a row of the table of interactions needs.
enum class Access : std::uint8_t {
    open,    ///< none: the same for everybody (metadata)
    read,    ///< of one resource
    search,  ///< of many, their histories included
    create,
    update,
    remove,
    erase,       ///< history deletion: everything on the system
    bundle,      ///< nothing by itself; each entry is judged
    operation,   ///< what the operation's row says
    judged,      ///< any credentials; its handler judges the rest by what is asked for
    administer,  ///< everything on the system
};

/// The permissions of one scope that does not cover the whole type: those on what belongs to the token's patient (patient/), on
/// what matches a query (granular), or on what does both.
struct Grant {
    std::uint8_t permissions = 0;
    std::optional<TypeId> type;  ///< none: every type
    bool of_patient = false;
    std::string query;  ///< percent-encoded, without '?'; empty: everything
};

/// The parts of a scope on resources: context/type.letters?query.
struct Scope {
    std::string_view context;
    std::string_view type;  ///< a name, known or not, or `*`
    std::uint8_t permissions = 0;
    std::string_view query;  ///< percent-encoded, without '?'; empty: all of them
};

/// Reads a scope in the syntax of SMART 1 or 2; none if it is not a scope on resources or permits nothing.
/// Lifetime: points into `text`.
std::optional<Scope> read_scope(std::string_view text) noexcept;

/// The letters of SMART 2 for `permissions`.
std::string scope_letters(std::uint8_t permissions);

/// Somebody with credentials.
class Principal {
  public:
    /// `name` is for logs, rates and the ownership of jobs. `scopes` are separated by blanks, as in a token; scopes
    /// that are not on resources (openid, launch) permit nothing. `patient`: the id that patient/ scopes refer to;
    /// empty: these permit nothing.
    Principal(std::string name, std::string_view scopes, std::string_view patient = {});

    const std::string& name() const noexcept { return name_; }

    /// Whether everything in `permissions` is permitted on all of `type`; none: on every type.
    bool may(std::uint8_t permissions, std::optional<TypeId> type) const noexcept;

    /// Whether everything in `permissions` is permitted on every type by scopes of the context system: those of the
    /// context user are for what a person does with resources, not for what is done to the whole store.
    bool may_on_system(std::uint8_t permissions) const noexcept {
        return (on_system_ & permissions) == permissions;
    }

    /// Whether everything in `permissions` is permitted on all of `type` or on part of it.
    bool may_in_part(std::uint8_t permissions, std::optional<TypeId> type) const noexcept;

    /// Whether the scopes permit nothing at all.
    bool may_nothing() const noexcept;

    /// Whether any permission covers only part of a type: requests must then be checked against a ScopedView.
    bool is_restricted() const noexcept { return !grants_.empty(); }

    /// The permissions on parts of types, beyond those of may().
    std::span<const Grant> grants() const noexcept { return grants_; }

    const std::string& patient() const noexcept { return patient_; }

    /// The name, and whatever restricts the scopes: differs between two tokens of one name but other restrictions.
    const std::string& identity() const noexcept { return identity_; }

    /// The name in an identity().
    static std::string_view name_in(std::string_view identity) noexcept;

  private:
    void add_scope(std::string_view text);

    std::string name_;
    std::string patient_;
    std::string identity_;
    std::uint8_t everywhere_ = 0;  ///< of scopes on `*`
    std::uint8_t on_system_ = 0;   ///< of those, with the context system
    std::array<std::uint8_t, kResourceTypeCount> types_{};
    std::vector<Grant> grants_;
};

/// Whether `grant` applies to `type` (none: to every type).
bool concerns(const Grant& grant, std::optional<TypeId> type) noexcept;

/// How much of a type is needed.
enum class Extent : std::uint8_t {
    all,
    part,  ///< the caller checks everything against a ScopedView
};

/// Whether `request`, which is for `row`, may be carried out.
///
/// Errors: unauthenticated (no credentials where some are needed), insufficient_scope (naming the scope that lacks).
Result<void> authorise(const Service& service, const Request& request, const Interaction& row,
                       const Target& target);

/// Whether the sender of `request` has `permissions` on `type` (none: on every type). Errors: as authorise().
Result<void> require(const Service& service, const Request& request, std::uint8_t permissions,
                     std::optional<TypeId> type, Extent extent = Extent::all);

/// Whether the sender of `request` has `permissions` by Principal::may_on_system(). Errors: as authorise().
Result<void> require_on_system(const Service& service, const Request& request,
                               std::uint8_t permissions);

/// Whether the sender of `request` may read resources of `type`: everybody may if auth.public has "read". Errors: as
/// authorise().
Result<void> require_read(const Service& service, const Request& request, TypeId type,
                          Extent extent);

/// Whether the sender of `request` may see resources of `type` that a search for others reaches by chains or criteria,
/// or includes. Errors: as authorise().
Result<void> require_search(const Service& service, const Request& request, TypeId type,
                            Extent extent);

/// The same of all of `types`, such as those that a query looks at beside its own (search::Query::others).
Result<void> require_search(const Service& service, const Request& request,
                            std::span<const TypeId> types, Extent extent);

/// The error for what a request would write, or would change, beyond the part that its scopes permit. It names the scope that
/// would.
Error beyond_scopes(std::uint8_t permissions, TypeId type);

/// Whether auth.public has `what`: "metadata", "read", "search" or "history".
bool is_public(const Config& config, std::string_view what);

/// What is done with scopes here, as SMART calls it.
inline constexpr std::array<std::string_view, 4> kScopeCapabilities{
    "permission-patient", "permission-user", "permission-v1", "permission-v2"};

/// Whether `row` needs no credentials where others do (auth.public); `access`: what it needs, of an operation as its own
/// row says.
bool is_public(const Config& config, const Interaction& row, Access access);

/// Whether reading needs no credentials.
bool everybody_may_read(const Service& service);

/// Whether searching needs no credentials.
bool everybody_may_search(const Service& service);

/// Adds WWW-Authenticate to the answer to `error`, if it is about who somebody is (RFC 6750 section 3). What is about scopes has
/// it from tell_failure().
void add_challenge(const Service& service, const Error& error, Response& response);

}  // namespace annals::core
