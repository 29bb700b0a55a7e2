// The server's own word on a subscription: a new version of it with another status.
//
// Layer:   core/subscriptions.
// Spec:    FHIR R4 subscription.html, Subscription.status.
// Threads: blocks until the version is durable: not for network threads.

#pragma once

#include "core/service.h"
#include "core/subscriptions/subscription.h"
#include "storage/types.h"

#include <string_view>

namespace annals::core {

/// Commits the next version of the Subscription `base`, which differs from it in its status and its error. False if another
/// writer was faster: what it wrote is another thing to look at.
/// Errors: no_store, overloaded, and whatever `validation` and integrity say against it.
Result<bool> change_status(const Service& service, const storage::StoredVersion& base,
                           SubscriptionStatus status, std::string_view error);

}  // namespace annals::core
