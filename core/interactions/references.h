// References in resources that are written: which of this server's resources they name.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 references.html#literal.
// Threads: plain functions; fetch_referred() on the loop of its request.

#pragma once

#include "core/exchange.h"
#include "core/service.h"
#include "storage/types.h"

#include <asio/awaitable.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {

/// Separates a resource's id from its version in URLs and references.
inline constexpr std::string_view kHistoryMark = "/_history/";

/// The resource that a reference names on this server: `Patient/1`, `Patient/1/_history/2` or either below
/// `base_url`; none for all others. Lifetime: the id points into `reference`.
std::optional<std::pair<TypeId, std::string_view>> local_reference(std::string_view reference,
                                                                   std::string_view base_url);

/// The same, but a fragment is ignored: the resource must exist in any case.
std::optional<std::pair<TypeId, std::string_view>> referred_resource(std::string_view reference,
                                                                     std::string_view base_url);

/// Whether `reference` is relative to the server that stores it: not a URL with a scheme, and not just a
/// fragment.
bool is_relative_reference(std::string_view reference) noexcept;

/// "2" for a local reference `Patient/1/_history/2`, unchecked; empty if it names no version.
std::string_view referred_version(std::string_view reference) noexcept;

/// The version number to require for referred_version(): none if it is empty; 0, which no version has, if it is
/// not a number.
std::optional<VersionNumber> required_version(std::string_view version) noexcept;

/// Fetches what may_refer() reads of each of these resources.
asio::awaitable<void> fetch_referred(const Service& service, const Request& request,
                                     std::vector<std::pair<TypeId, std::string>> referred);

}  // namespace annals::core
