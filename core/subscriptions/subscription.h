// Subscription: what a Subscription resource asks for, as far as this server can do it.
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

/// What a notification by rest-hook says.
enum class Payload : std::uint8_t {
    none,     ///< that there is something
    id_only,  ///< which version it is
    json,     ///< the resource
    xml,
};

struct Subscription {
    TypeId type;           ///< of what it asks for
    std::string criteria;  ///< the query, without the type
    std::optional<Instant> end;
    Channel channel = Channel::rest_hook;
    std::string endpoint;  ///< of a rest-hook
    Payload payload = Payload::none;
    std::vector<std::string> headers;  ///< "Name: value"
};

/// The type in `Subscription`s' own tables.
TypeId subscription_type() noexcept;

/// None if there is no such code.
std::optional<SubscriptionStatus> status_of(json::Value resource);

/// What `criteria` asks for: its type and its query. Errors: invalid.
Result<std::pair<TypeId, std::string>> split_criteria(std::string_view criteria);

/// Reads a Subscription whose endpoint must lie below one of `allowed`. Its criteria are not parsed.
/// Errors: invalid, not_supported, value, forbidden; the detail is for Subscription.error.
Result<Subscription> read_subscription(json::Value resource, std::span<const std::string> allowed);

/// The text of `resource` with this status and, if it is not empty, this error.
std::string with_status(json::Value resource, SubscriptionStatus status, std::string_view error);

inline constexpr std::size_t kChannelHeadersMax = 20;
inline constexpr std::size_t kChannelHeaderBytesMax = 8 << 10;  ///< all together
inline constexpr std::size_t kCriteriaBytesMax = 16 << 10;

}  // namespace annals::core
