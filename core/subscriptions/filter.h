// Filter: a subscription's criteria, and whether a version matches them.
//
// Layer:   core/subscriptions.
// Spec:    FHIR R4 subscription.html (criteria are searches, applied to the new value of the resource);
//          docs/api/subscriptions.md, Criteria.
// Threads: filters are immutable once made; a Matcher belongs to one thread.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"
#include "core/search/parameters.h"
#include "core/search/plan.h"
#include "core/search/resolution.h"
#include "core/search/view.h"
#include "core/service.h"
#include "storage/search_entries.h"
#include "storage/types.h"

#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace annals::core {

/// Parsed criteria.
struct Filter {
    TypeId type;
    std::shared_ptr<const search::ParameterSet> parameters;  ///< that the plan refers to
    search::Plan plan;
    std::vector<TypeId> others{};  ///< other types that the criteria refer to
};

/// Parses criteria on `type` as a search, strictly. An empty `query` matches every resource of the type. `view`: what the
/// criteria may see. `unread`: receives the positions of resources that they name and that are not in memory; that is then an
/// error. Null: waits for the device. Errors: invalid, not_supported, too_costly.
Result<Filter> parse_filter(const Service& service, TypeId type, std::string_view query,
                            std::vector<Position>* unread = nullptr,
                            const search::View& view = search::unrestricted());

/// Matches versions against filters; the newest version is parsed only once for any number of filters.
class Matcher {
  public:
    explicit Matcher(const Service& service) : service_(service) {}

    /// Forgets the last version and the results of chains and _has, which reflect the state when they are first evaluated after
    /// this call.
    void begin();

    /// Whether the version matches the filter. Requires: begin() was called since the version became visible; it is no deletion
    /// and has the filter's type; all filters used since begin() are alive. Errors: not_found (erased), corrupt, too_costly (a
    /// chain has too many results).
    Result<bool> matches(const storage::VersionInfo& info, const Filter& filter);

  private:
    Result<void> look_at(const storage::VersionInfo& info);
    bool is_related(const search::Plan& part, const storage::SearchEntries& entries);
    Result<search::KeySet> resolve(const search::Plan& part) const;

    const Service& service_;
    // Results of chains and _has since begin().
    std::unordered_map<const search::Plan*, search::KeySet> related_;
    std::optional<Error> fault_;

    // The version evaluated last.
    Position position_;
    json::Parser parser_;
    json::Document document_;
    storage::SearchEntries entries_;
    std::uint64_t key_ = 0;
};

/// The maximum number of terms in a filter's plan, so that many subscriptions fit into memory.
inline constexpr std::size_t kFilterTermsMax = 10'000;

}  // namespace annals::core
