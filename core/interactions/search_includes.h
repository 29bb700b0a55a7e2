// _include and _revinclude: the resources that are returned with the matches of a page.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 search.html#include; docs/api/search.md.
// Threads: on the loop of its request.

#pragma once

#include "core/interactions/turns.h"
#include "core/search/query.h"
#include "core/search/snapshot.h"
#include "core/search/view.h"
#include "core/service.h"
#include "storage/types.h"

#include <asio/awaitable.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace annals::core {

/// The most resources that are included in one page, and the most steps that `:iterate` takes.
inline constexpr std::size_t kIncludedMax = 1000;
inline constexpr int kIterateDepthMax = 3;

struct Included {
    std::vector<storage::VersionInfo> versions;  ///< without duplicates and without the matches
    bool cut_short = false;                      ///< there were more than kIncludedMax
};

/// The version that a literal reference to a resource of this server leads to: the one it names, otherwise the
/// newest at `position`, which may be a deletion; none if it leads elsewhere, or nowhere.
std::optional<storage::VersionInfo> find_referred_version(const storage::Store& store,
                                                          std::string_view reference,
                                                          std::string_view base_url,
                                                          Position position);

/// What is included, and from where.
struct IncludeContext {
    const Service& service;
    search::Snapshot& snapshot;
    std::shared_ptr<const search::ParameterSet> parameters;
    /// Searches go through it, so that what isn't shown has no influence.
    const search::View& view;
    std::string_view base_url;
    std::span<const search::Include> includes;
    /// Whether a version may be included. If not, it isn't followed either.
    std::function<bool(const storage::VersionInfo&)> shows;
    bool looks;  ///< whether `shows` reads what is stored, which is fetched first
    bool as_of;  ///< canonicals are also resolved in what the index has dropped (reach_back())
    Turns& turns;
};

/// The resources to be included with `matches`. Lifetime: what the arguments refer to outlives the call.
/// Errors: timeout, too_costly, expired.
asio::awaitable<Result<Included>> find_included(const IncludeContext& context,
                                                std::span<const storage::VersionInfo> matches);

}  // namespace annals::core
