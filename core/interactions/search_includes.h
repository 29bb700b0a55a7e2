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
std::optional<storage::VersionInfo> referred_version(const storage::Store& store,
                                                     std::string_view reference,
                                                     std::string_view base_url, Position position);

/// Whether a version may be included.
struct Shown {
    std::function<bool(const storage::VersionInfo&)> test;
    bool looks;  ///< whether `test` reads what is stored, which is fetched first
};

/// The resources to be included with `matches`. Those that are not `shown` are left out and not followed either. Searches
/// go through `view`, so that what isn't shown has no influence. With `as_of` canonicals are also resolved in what the
/// index has dropped (reach_back()). Lifetime: the arguments outlive the call. Errors: timeout, too_costly, expired.
asio::awaitable<Result<Included>> find_included(
    const Service& service, search::Snapshot& snapshot,
    const std::shared_ptr<const search::ParameterSet>& parameters, const search::View& view,
    std::string_view base_url, std::span<const search::Include> includes,
    std::span<const storage::VersionInfo> matches, const Shown& shown, bool as_of, Turns& turns);

}  // namespace annals::core
