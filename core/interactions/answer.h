// Answers made of stored versions: their bytes as the body, their numbers as headers.
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

/// Answers `status` with the stored bytes of `info`, or 304 if the request is conditional and its client
/// has them; what went wrong as an OperationOutcome. Where the bytes are on the device only, and the request may not block,
/// what answer_later() returns.
Response answer_version(const Service& service, const Request& request,
                        const storage::VersionInfo& info);

/// What a plain handler returns that is to be asked again when `versions` are in memory (Response::unread). None: they are, or
/// the request may block.
std::optional<Response> answer_later(const Service& service, const Request& request,
                                     std::span<const storage::VersionInfo> versions);

/// What is read of the store to answer with `info`, a version of the resource `id`, and to find out whether that is shown.
std::vector<storage::VersionInfo> looked_at(const Service& service, const Request& request,
                                            std::string_view id, const storage::VersionInfo& info);

/// Has looked_at() fetched, for who is about to load it.
asio::awaitable<void> fetch_version(const Service& service, const Request& request,
                                    std::string_view id, storage::VersionInfo info);

/// The same of a resource's newest version, if it has one.
asio::awaitable<void> fetch_newest(const Service& service, const Request& request, TypeId type,
                                   std::string_view id);

/// The newest version of a resource, on its way to the device or there, as far as `view` shows it. None: what it is could not be
/// told before it was durable, which has been awaited; ask again.
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
