// Filter: which versions a subscription is about, and whether a version is one of them.
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

/// Criteria, parsed.
struct Filter {
    TypeId type;
    std::shared_ptr<const search::ParameterSet> parameters;  ///< the plan asks of them
    search::Plan plan;
    std::vector<TypeId> others{};  ///< the other types that the criteria look at
};

/// Reads criteria on `type` as a search, strictly. An empty `query` is every resource of the type.
/// `view`: whose they are. `unread`: where the positions go of what it names and is on the device only; that is then an error. Null: it is waited for.
/// Errors: invalid, not_supported, too_costly.
Result<Filter> parse_filter(const Service& service, TypeId type, std::string_view query,
                            std::vector<Position>* unread = nullptr,
                            const search::View& view = search::unheld());

/// Holds versions against filters; looks at the newest one once, however many there are.
class Matcher {
  public:
    explicit Matcher(const Service& service) : service_(service) {}

    /// Forgets what it has looked at, and what chains and _has came to: they are answered by what is visible when they are
    /// first asked for after this.
    void begin();

    /// Whether the version is what the filter asks for. Requires: begin() since it has become visible; it is no deletion
    /// and of the filter's type; filters asked for since begin() live.
    /// Errors: not_found (erased), corrupt; too_costly (a chain comes to too much).
    Result<bool> matches(const storage::VersionInfo& info, const Filter& filter);

  private:
    Result<void> look_at(const storage::VersionInfo& info);
    bool is_related(const search::Plan& part, const storage::SearchEntries& entries);
    Result<search::KeySet> resolve(const search::Plan& part) const;

    const Service& service_;
    std::unordered_map<const search::Plan*, search::KeySet>
        related_;  // what chains and _has came to
    std::optional<Error> fault_;

    // The version that was looked at last.
    Position position_;
    json::Parser parser_;
    json::Document document_;
    storage::SearchEntries entries_;
    std::uint64_t key_ = 0;
};

/// What the plan of a filter may name: so that many subscriptions fit into memory.
inline constexpr std::size_t kFilterTermsMax = 10'000;

}  // namespace annals::core
