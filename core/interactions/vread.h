// GET and HEAD [base]/[type]/[id]/_history/[vid]: one version, which never changes.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#vread; docs/api/vread.md.
// Threads: runs on the loop of its request; never waits.

#pragma once

#include "core/base/ids.h"
#include "core/service.h"

#include <optional>
#include <string_view>

namespace annals::core {

/// 200 with the stored bytes and a year of caching, 304, 404, 410 (the version is a deletion).
Response vread(const Service& service, const Request& request, const Target& target);

/// The number in a path's [vid]: decimal digits without leading zeros, at least 1.
std::optional<VersionNumber> read_version_number(std::string_view text) noexcept;

/// The version with the number `text`, as above; none if there is no such version, or `text` is no such number.
std::optional<storage::VersionInfo> find_version(const storage::Store& store, TypeId type,
                                                 std::string_view id, std::string_view text);

/// 404: the resource has no such version.
Error no_such_version(TypeId type, std::string_view id, std::string_view version);

}  // namespace annals::core
