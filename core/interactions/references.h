// References of what is written: which of this server's resources they name.
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

/// What stands between a resource's id and a version in URLs and references.
inline constexpr std::string_view kHistoryMark = "/_history/";

/// A reference as a key of this server: `Patient/1`, `Patient/1/_history/2` or either below `base_url`;
/// none for all others. Lifetime: the id points into `reference`.
std::optional<std::pair<TypeId, std::string_view>> local_reference(std::string_view reference,
                                                                   std::string_view base_url);

/// Whether `reference` is to be found below the server that has it: no URL with a scheme, and no fragment alone.
bool is_relative_reference(std::string_view reference) noexcept;

/// "2" of a local reference `Patient/1/_history/2`, whatever stands there; empty if it names no version.
std::string_view referred_version(std::string_view reference) noexcept;

/// What is to be required of a version that a reference names so: what is no number names none that there is.
std::optional<VersionNumber> required_version(std::string_view version) noexcept;

/// Has fetched what may_refer() looks at of each of these.
asio::awaitable<void> fetch_referred(const Service& service, const Request& request,
                                     std::vector<std::pair<TypeId, std::string>> referred);

}  // namespace annals::core
