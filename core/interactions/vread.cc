#include "core/interactions/vread.h"

#include "core/base/text.h"
#include "core/interactions/answer.h"
#include "core/scoped_view.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

/// How many bytes of a malformed version number are shown.
constexpr std::size_t kTold = 64;

}  // namespace

std::optional<VersionNumber> read_version_number(std::string_view text) noexcept {
    const auto number = parse_number(text);
    if (!number || *number > kVersionNumberMax || text.front() == '0') {
        return {};
    }
    return VersionNumber{*number};
}

std::optional<storage::VersionInfo> find_version(const storage::Store& store, TypeId type,
                                                 std::string_view id, std::string_view text) {
    const auto number = read_version_number(text);
    return number ? store.version(type, id, *number) : std::nullopt;
}

Error no_such_version(TypeId type, std::string_view id, std::string_view version) {
    return {Errc::not_found, fmt::format("{} has no version '{}'", resource_name(type, id),
                                         version.substr(0, kTold))};
}

Response vread(const Service& service, const Request& request, const Target& target) {
    const auto info = find_version(service.store(), target.type, target.id, target.version);
    if (info && is_restricted(request)) {
        if (auto later =
                answer_later(service, request, looked_at(service, request, target.id, *info))) {
            return *std::move(later);
        }
    }
    const ScopedView view(service, request, kMayRead, "read");
    if (!info || !view.shows(*info)) {
        const auto newest = service.store().current(target.type, target.id);
        if (newest && is_restricted(request)) {
            if (auto later = answer_later(service, request,
                                          looked_at(service, request, target.id, *newest))) {
                return *std::move(later);
            }
        }
        if (!newest || !view.shows(*newest)) {
            return no_such_resource(target.type, target.id);
        }
        return no_such_version(target.type, target.id, target.version);
    }
    if (info->deletion) {
        Response response = Error{
            Errc::deleted,
            fmt::format("Version {} of {} is its deletion at {}", info->version.value,
                        resource_name(target.type, target.id), format_instant(info->instant))};
        set_version(response, info->version, info->instant);
        return response;
    }
    Response response = answer_version(service, request, *info);
    if (response.status < 400) {
        if (everybody_may_read(service)) {
            response.cache_control = "public, max-age=31536000, immutable";
        } else {
            // Neither for shared caches nor for the next user of the same browser.
            response.cache_control = "private, max-age=31536000, immutable";
            response.headers.emplace_back("Vary", "Authorization, X-API-Key");
        }
    }
    return response;
}

}  // namespace annals::core
