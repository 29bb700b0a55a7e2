// Who subscribes may see what he will be told of.
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

/// Whether whoever sends `request` may write `resource`: if it is a Subscription that is to become active, he must be permitted
/// to read and to search its type, and to search the other types that its criteria lead to; every type, if that can't be told
/// now.
/// `unread`: where the positions go of value sets and lists that the criteria name and that are on the device only; what is
/// returned then means nothing. Null: they are waited for.
/// Errors: as authorise().
Result<void> check_subscriber(const Service& service, const Request& request, json::Value resource,
                              std::vector<Position>* unread);

}  // namespace annals::core
