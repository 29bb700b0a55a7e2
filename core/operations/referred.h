// The resources that others refer to, directly or through further references.
//
// Layer:   core/operations.
// Threads: on the loop of its request.

#pragma once

#include "core/interactions/turns.h"
#include "core/search/snapshot.h"
#include "storage/types.h"

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace annals::core {

struct Referred {
    std::vector<storage::VersionInfo>
        versions;            ///< none twice; several of a resource unless `one_version`
    bool cut_short = false;  ///< there were more than `limit`
};

struct ReferredLimits {
    std::size_t limit;         ///< on the number of resources
    int steps;                 ///< how many references in a row: 1 is what `from` refers to
    bool one_version = false;  ///< of each resource: the first one found that is shown
};

/// Live resources for which `wanted` and `shown` return true, to which `from` refer directly or
/// indirectly, each as the version that a reference names, otherwise as the current one; none of `from`.
/// Lifetime: the arguments outlive the call. Errors: timeout.
asio::awaitable<Result<Referred>> find_referred(
    search::Snapshot& snapshot, std::string_view base_url,
    std::span<const storage::VersionInfo> from,
    const std::function<bool(TypeId, std::string_view id)>& wanted,
    const std::function<bool(const storage::VersionInfo&)>& shown, ReferredLimits limits,
    Turns& turns);

}  // namespace annals::core
