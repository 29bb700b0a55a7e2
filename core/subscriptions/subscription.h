// Subscription: the parts of a Subscription resource that this server supports.
//
// Layer:   core/subscriptions.
// Spec:    FHIR R4 subscription.html; docs/api/subscriptions.md.
// Threads: plain functions and values.

#pragma once

#include "codec/json/document.h"
#include "core/base/instant.h"
#include "core/base/resource_types.h"
#include "core/base/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

enum class SubscriptionStatus : std::uint8_t { requested, active, error, off };

std::string_view name_of(SubscriptionStatus status) noexcept;

enum class Channel : std::uint8_t { rest_hook, websocket };

/// The content of a rest-hook notification.
enum class Payload : std::uint8_t {
    none,     ///< only that there is a match
    id_only,  ///< the reference of the version, in a header
    json,     ///< the resource
    xml,
};

struct Subscription {
    TypeId type;           ///< of the criteria
    std::string criteria;  ///< the query, without the type
    std::optional<Instant> end;
    Channel channel = Channel::rest_hook;
    std::string endpoint;  ///< of a rest-hook
    Payload payload = Payload::none;
    std::vector<std::string> headers;  ///< "Name: value"
};

/// The TypeId of Subscription.
TypeId subscription_type() noexcept;

/// The status of a Subscription; none if the code is unknown.
std::optional<SubscriptionStatus> status_of(json::Value resource);

/// Splits `criteria` into type and query. Errors: invalid, too_costly (too long).
Result<std::pair<TypeId, std::string>> split_criteria(std::string_view criteria);

/// Reads a Subscription whose endpoint must be below one of `allowed`. The criteria are not parsed. Errors: invalid,
/// not_supported, required, value, forbidden, too_costly; the detail is meant for Subscription.error.
Result<Subscription> read_subscription(json::Value resource, std::span<const std::string> allowed);

/// The text of `resource` with this status and, unless empty, this error.
std::string with_status(json::Value resource, SubscriptionStatus status, std::string_view error);

inline constexpr std::size_t kChannelHeadersMax = 20;
inline constexpr std::size_t kChannelHeaderBytesMax = 8 << 10;  ///< of all headers together
inline constexpr std::size_t kCriteriaBytesMax = 16 << 10;

}  // namespace annals::core
