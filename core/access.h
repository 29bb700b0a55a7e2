// Access: who asks, and what that one may do.
//
// Layer:   core. Who somebody is, net/auth finds out; every way to a resource is judged here, bundle entries
//          included.
// Spec:    SMART App Launch 2.0 scopes (and 1.0's); contract.md, Scopes; docs/security.md.
// Threads: plain values and functions; a Principal is immutable once made.

#pragma once

#include "core/base/instant.h"
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

/// What SMART's letters permit, as bits.
enum Permission : std::uint8_t {
    kMayCreate = 1,
    kMayRead = 2,  ///< read, vread, instance history
    kMayUpdate = 4,
    kMayDelete = 8,
    kMaySearch = 16,  ///< search, type and system history
    kMayAll = 31,
};

/// What a row of THE table needs.
enum class Access : std::uint8_t {
    open,        ///< what is the same for everybody: metadata
    read,        ///< of one resource
    search,      ///< of many, their histories included
    create,      ///
    update,      ///
    remove,      ///
    erase,       ///< history deletion: everything on everything
    bundle,      ///< nothing by itself; each entry is judged
    operation,   ///< what the operation's row says
    judged,      ///< somebody; the rest its handler judges by what is asked for
    administer,  ///< everything on everything
};

/// What one scope permits that is not for all of a type: for what belongs to the token's patient (patient/), for what
/// matches a query (granular), or for what does both.
struct Grant {
    std::uint8_t permissions = 0;
    std::optional<TypeId> type;  ///< none: every type
    bool of_patient = false;
    std::string query;  ///< percent-encoded, without '?'; empty: everything
};

/// A scope on resources as it is written: context/type.letters?query.
struct Scope {
    std::string_view context;
    std::string_view type;  ///< a name, known or not, or `*`
    std::uint8_t permissions = 0;
    std::string_view query;  ///< percent-encoded, without '?'; empty: all of them
};

/// Reads one in the words of SMART's first or second version, into which it points; nothing if it is no scope on resources
/// or permits nothing.
std::optional<Scope> read_scope(std::string_view text) noexcept;

/// The letters of SMART's second version for `permissions`.
std::string scope_letters(std::uint8_t permissions);

/// Somebody with credentials.
class Principal {
  public:
    /// `name` is for logs. Scopes are read as they stand in a token: separated by blanks. What is no scope on
    /// resources (openid, launch) permits nothing. `patient`: the id that patient/ scopes are about; empty: they permit
    /// nothing.
    Principal(std::string name, std::string_view scopes, std::string_view patient = {});

    const std::string& name() const noexcept { return name_; }

    /// Whether everything in `permissions` is permitted on all of `type`; none: on every type.
    bool may(std::uint8_t permissions, std::optional<TypeId> type) const noexcept;

    /// The same on all of it or on a part.
    bool may_in_part(std::uint8_t permissions, std::optional<TypeId> type) const noexcept;

    /// Whether the scopes permit nothing at all.
    bool may_nothing() const noexcept;

    /// Whether anything is permitted in part only: what a request comes to must then be held to a ScopedView.
    bool is_held() const noexcept { return !grants_.empty(); }

    /// Beside what may() says.
    std::span<const Grant> grants() const noexcept { return grants_; }

    const std::string& patient() const noexcept { return patient_; }

    /// Differs for whoever is called the same but held to something else.
    const std::string& identity() const noexcept { return identity_; }

    /// The name in an identity().
    static std::string_view name_in(std::string_view identity) noexcept;

  private:
    void add_scope(std::string_view text);

    std::string name_;
    std::string patient_;
    std::string identity_;
    std::uint8_t everywhere_ = 0;  ///< of scopes on `*`
    std::array<std::uint8_t, kResourceTypeCount> types_{};
    std::vector<Grant> grants_;
};

/// Whether `grant` says anything of `type` (none: of every type).
bool concerns(const Grant& grant, std::optional<TypeId> type) noexcept;

/// How much of a type is needed.
enum class Extent : std::uint8_t {
    all,
    part,  ///< whoever asks holds what he comes to to a ScopedView
};

/// Whether `request`, which is for `row`, may be carried out.
///
/// Errors: unauthenticated (no credentials where some are needed), insufficient_scope (naming the scope that lacks).
Result<void> authorise(const Service& service, const Request& request, const Interaction& row,
                       const Target& target);

/// Whether whoever sends `request` has `permissions` on `type` (none: on every type). Errors: as authorise().
Result<void> require(const Service& service, const Request& request, std::uint8_t permissions,
                     std::optional<TypeId> type, Extent extent = Extent::all);

/// Whether whoever sends `request` may see resources of `type` that a search for others comes to: by chains and
/// criteria, or as included ones. Errors: as authorise().
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

/// Adds WWW-Authenticate to the answer to `error`, if it is about who somebody is (RFC 6750 section 3). What is about scopes has
/// it from tell_failure().
void add_challenge(const Service& service, const Error& error, Response& response);

}  // namespace annals::core
