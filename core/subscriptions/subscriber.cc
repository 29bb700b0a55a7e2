#include "core/subscriptions/subscriber.h"

#include "core/access.h"
#include "core/scoped_view.h"
#include "core/subscriptions/filter.h"
#include "core/subscriptions/subscription.h"

namespace annals::core {

Result<void> check_subscriber(const Service& service, const Request& request, json::Value resource,
                              std::vector<Position>* unread) {
    // Checked even if subscriptions are disabled: they may be enabled later without another check.
    if (!service.guarded() || !resource["resourceType"].equals("Subscription")) {
        return {};
    }
    const auto status = status_of(resource);
    if (status != SubscriptionStatus::requested && status != SubscriptionStatus::active) {
        return {};
    }
    const auto criteria = split_criteria(resource["criteria"].string());
    if (!criteria) {
        return {};
    }
    ANNALS_TRY_VOID(require_read(service, request, criteria->first, Extent::all));
    ANNALS_TRY_VOID(require_search(service, request, criteria->first, Extent::all));
    const ScopedView view(service, request, kMaySearch, "search");
    const Result<Filter> filter =
        parse_filter(service, criteria->first, criteria->second, unread, view);
    if (unread != nullptr && !unread->empty()) {
        return {};
    }
    if (!filter) {
        return require(service, request, kMaySearch, std::nullopt);
    }
    return require_search(service, request, filter->others, Extent::all);
}

}  // namespace annals::core
