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
#include <string>
#include <string_view>

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

/// Somebody with credentials.
class Principal {
  public:
    /// `name` is for logs. Scopes are read as they stand in a token: separated by blanks. What is no scope on
    /// resources (openid, launch) and what this server can't hold to (patient/, granular ones) permits nothing.
    Principal(std::string name, std::string_view scopes);

    const std::string& name() const noexcept { return name_; }

    /// Whether everything in `permissions` is permitted on `type`; none: on every type.
    bool may(std::uint8_t permissions, std::optional<TypeId> type) const noexcept;

  private:
    void add_scope(std::string_view scope);

    std::string name_;
    std::uint8_t everywhere_ = 0;  ///< of scopes on `*`
    std::array<std::uint8_t, kResourceTypeCount> types_{};
};

/// Whether `request`, which is for `row`, may be carried out.
///
/// Errors: unauthenticated (no credentials where some are needed), forbidden (naming the scope that lacks).
Result<void> authorise(const Service& service, const Request& request, const Interaction& row,
                       const Target& target);

/// Whether whoever sends `request` has `permissions` on `type` (none: on every type). Errors: as authorise().
Result<void> require(const Service& service, const Request& request, std::uint8_t permissions,
                     std::optional<TypeId> type);

/// Whether whoever sends `request` may see resources of `type` that a search for others comes to: by chains and
/// criteria, or as included ones. Errors: as authorise().
Result<void> require_search(const Service& service, const Request& request, TypeId type);

/// Whether `row` needs no credentials where others do (auth.public); `access`: what it needs, of an operation as its own
/// row says.
bool is_public(const Config& config, const Interaction& row, Access access);

/// Whether reading needs no credentials.
bool everybody_may_read(const Service& service);

/// Adds WWW-Authenticate to the answer to `error`, if it is about credentials (RFC 6750 section 3).
void add_challenge(const Service& service, const Error& error, Response& response);

}  // namespace annals::core
