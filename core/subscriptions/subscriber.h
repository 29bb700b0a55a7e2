// Checks that subscribers may see what they will be notified of.
//
// Layer:   core/subscriptions.
// Spec:    docs/api/subscriptions.md, Who may subscribe.
// Threads: plain function, on the loop of its request.

#pragma once

#include "codec/json/document.h"
#include "core/exchange.h"
#include "core/service.h"

#include <vector>

namespace annals::core {

/// Whether the sender of `request` may write `resource`. If it is a Subscription that is to become active, this requires
/// permission to read and search its type, and to search the other types that its criteria refer to, or every type if these
/// can't be determined now. `unread`: receives the positions of value sets and lists that the criteria name and that are not in
/// memory; the result is then meaningless. Null: waits for the device. Errors: as authorise().
Result<void> check_subscriber(const Service& service, const Request& request, json::Value resource,
                              std::vector<Position>* unread);

}  // namespace annals::core
