// What the resources of a page refer to that isn't theirs alone: practitioners, organizations, medications...
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
    std::vector<storage::VersionInfo> versions;  ///< none twice
    bool cut_short = false;                      ///< there were more than `limit`
};

/// Live resources of the types that `wanted` says yes to, to which `from` refer, or what these refer to, three steps
/// far. Lifetime: the arguments outlive the call. Errors: timeout.
asio::awaitable<Result<Referred>> find_referred(search::Snapshot& snapshot,
                                                std::string_view base_url,
                                                std::span<const storage::VersionInfo> from,
                                                const std::function<bool(TypeId)>& wanted,
                                                std::size_t limit, Turns& turns);

}  // namespace annals::core
