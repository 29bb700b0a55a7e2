// Changes the status of a subscription on the server's behalf, by writing a new version of it.
//
// Layer:   core/subscriptions.
// Spec:    FHIR R4 subscription.html, Subscription.status.
// Threads: blocks until the version is durable; not for network threads.

#pragma once

#include "core/service.h"
#include "core/subscriptions/subscription.h"
#include "storage/types.h"

#include <string_view>

namespace annals::core {

/// Commits the next version of the Subscription `base`, with another status and error. False if another writer was faster; its
/// version then has to be considered instead. Errors: no_store, overloaded, and those of `validation` and referential
/// integrity.
Result<bool> change_status(const Service& service, const storage::StoredVersion& base,
                           SubscriptionStatus status, std::string_view error);

}  // namespace annals::core
