// _include and _revinclude: the resources that come along with the matches of a page.
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

/// At most so many resources are included in one page, and `:iterate` goes so many times on.
inline constexpr std::size_t kIncludedMax = 1000;
inline constexpr int kIterateDepthMax = 3;

struct Included {
    std::vector<storage::VersionInfo> versions;  ///< none twice, none of the matches
    bool cut_short = false;                      ///< there was more than kIncludedMax
};

/// The version that a literal reference to a resource of this server leads to: the one it names, else the newest at
/// `position`, which may be a deletion; none if it leads elsewhere, or nowhere.
std::optional<storage::VersionInfo> referred_version(const storage::Store& store,
                                                     std::string_view reference,
                                                     std::string_view base_url, Position position);

/// Whether a version may be included.
struct Shown {
    std::function<bool(const storage::VersionInfo&)> test;
    bool looks;  ///< at what is stored, which is fetched first
};

/// What comes along with `matches`, of what is shown: all else leads no further, either. What is searched for is what
/// `view` sees, so that what isn't shown counts for nothing. With `as_of` canonicals are followed into what the index has
/// thrown away, too (reach_back()). Lifetime: the arguments outlive the call. Errors: timeout, too_costly, expired.
asio::awaitable<Result<Included>> find_included(
    const Service& service, search::Snapshot& snapshot,
    const std::shared_ptr<const search::ParameterSet>& parameters, const search::View& view,
    std::string_view base_url, std::span<const search::Include> includes,
    std::span<const storage::VersionInfo> matches, const Shown& shown, bool as_of, Turns& turns);

}  // namespace annals::core
