#include "core/interactions/answer.h"

#include "core/interactions/preconditions.h"
#include "core/loop.h"
#include "core/outcome.h"
#include "core/scoped_view.h"

#include <fmt/format.h>

namespace annals::core {

std::string resource_name(TypeId type, std::string_view id) {
    const std::string_view type_name = resource_type_name(type);
    std::string name;
    name.reserve(type_name.size() + 1 + id.size());
    name.append(type_name).append("/").append(id);
    return name;
}

void set_version(Response& response, VersionNumber version, Instant instant) {
    response.etag = version;
    response.last_modified = instant;
}

Response answer_version(const Service& service, const Request& request,
                        const storage::VersionInfo& info) {
    if (not_modified(request, info.version, info.instant)) {
        Response response;
        response.status = 304;
        set_version(response, info.version, info.instant);
        return response;
    }
    Result<storage::StoredVersion> stored =
        request.may_block ? service.store().load(info) : service.store().load_resident(info);
    if (!stored) {
        return stored.error();
    }
    if (stored->unread) {
        Response later;
        later.unread.push_back(info.position);
        return later;
    }
    Response response;
    set_version(response, info.version, info.instant);
    response.body.append_view(stored->body, std::move(stored->pin));
    return response;
}

std::optional<Response> answer_later(const Service& service, const Request& request,
                                     std::span<const storage::VersionInfo> versions) {
    if (request.may_block) {
        return std::nullopt;
    }
    Response response;
    response.unread = service.store().unread(versions);
    return response.unread.empty() ? std::nullopt : std::optional(std::move(response));
}

std::vector<storage::VersionInfo> looked_at(const Service& service, const Request& request,
                                            std::string_view id, const storage::VersionInfo& info) {
    std::vector<storage::VersionInfo> versions{info};
    // A deletion is shown to whoever may see the deleted version.
    if (info.deletion && is_restricted(request)) {
        if (const auto deleted = deleted_by(service.store(), info, id)) {
            versions.push_back(*deleted);
        }
    }
    return versions;
}

asio::awaitable<void> fetch_version(const Service& service, const Request& request,
                                    std::string_view id, storage::VersionInfo info) {
    const std::vector<storage::VersionInfo> versions = looked_at(service, request, id, info);
    co_await request.loop->fetched(versions);
}

asio::awaitable<void> fetch_newest(const Service& service, const Request& request, TypeId type,
                                   std::string_view id) {
    if (const auto info = service.store().current(type, id)) {
        co_await fetch_version(service, request, id, *info);
    }
}

asio::awaitable<std::optional<storage::Head>> newest_shown(const Service& service,
                                                           const Request& request,
                                                           const ScopedView& view, TypeId type,
                                                           std::string_view id) {
    const storage::Head head = service.store().head(type, id);
    if (!view.is_whole() && head.ticket.value != 0) {
        static_cast<void>(co_await request.loop->settled_ticket(head.ticket));
        co_return std::nullopt;
    }
    if (!view.is_whole()) {
        co_await fetch_newest(service, request, type, id);
    }
    co_return view.shown(type, id, head);
}

Error no_such_resource(TypeId type, std::string_view id) {
    return Error{Errc::not_found, fmt::format("{} does not exist", resource_name(type, id))};
}

Response answer_deleted(const Service& service, std::string_view id,
                        const storage::VersionInfo& deletion) {
    std::string detail = fmt::format("{} was deleted at {}", resource_name(deletion.type, id),
                                     format_instant(deletion.instant));
    // Useful to a reader of a deleted resource: where its last content is.
    if (const auto content = deleted_by(service.store(), deletion, id)) {
        detail += fmt::format("; last content is version {}", content->version.value);
    }
    Response response = Error{Errc::deleted, std::move(detail)};
    set_version(response, deletion.version, deletion.instant);
    return response;
}

std::string information(std::string_view diagnostics) {
    return outcome_json({{"information", "informational", std::string(diagnostics), ""}});
}

}  // namespace annals::core
