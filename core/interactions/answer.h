// Answers made from stored versions: their bytes as the body, their numbers as headers.
//
// Layer:   core/interactions.
// Threads: plain functions.

#pragma once

#include "core/exchange.h"
#include "core/service.h"
#include "storage/types.h"

#include <asio/awaitable.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

class ScopedView;

/// "Patient/1".
std::string resource_name(TypeId type, std::string_view id);

/// Sets ETag and Last-Modified.
void set_version(Response& response, VersionNumber version, Instant instant);

/// Answers 200 with the stored bytes of `info`, 304 if the request is conditional and the client has them, or the
/// failure. If the bytes are not in memory and the request may not block, returns what answer_later() does.
Response answer_version(const Service& service, const Request& request,
                        const storage::VersionInfo& info);

/// The response of a plain handler that must be called again once `versions` are in memory (Response::unread). None: they are
/// in memory, or the request may block.
std::optional<Response> answer_later(const Service& service, const Request& request,
                                     std::span<const storage::VersionInfo> versions);

/// The versions that are read to answer with `info`, a version of the resource `id`, and to decide whether it is shown.
std::vector<storage::VersionInfo> looked_at(const Service& service, const Request& request,
                                            std::string_view id, const storage::VersionInfo& info);

/// Fetches what looked_at() returns, for callers that will load it next.
asio::awaitable<void> fetch_version(const Service& service, const Request& request,
                                    std::string_view id, storage::VersionInfo info);

/// The same for a resource's newest version, if it has one.
asio::awaitable<void> fetch_newest(const Service& service, const Request& request, TypeId type,
                                   std::string_view id);

/// The newest version of a resource, durable or not, if `view` shows it, otherwise an empty Head. None: this could only be
/// decided once the version was durable, which it now is; call again.
asio::awaitable<std::optional<storage::Head>> newest_shown(const Service& service,
                                                           const Request& request,
                                                           const ScopedView& view, TypeId type,
                                                           std::string_view id);

/// 404: the resource has no version.
Error no_such_resource(TypeId type, std::string_view id);

/// 410 with the ETag and Last-Modified of `deletion`.
Response answer_deleted(const Service& service, std::string_view id,
                        const storage::VersionInfo& deletion);

/// An OperationOutcome with one issue, severity information.
std::string information(std::string_view diagnostics);

}  // namespace annals::core
