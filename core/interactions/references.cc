#include "core/interactions/references.h"

#include "core/interactions/vread.h"

namespace annals::core {

std::optional<std::pair<TypeId, std::string_view>> local_reference(std::string_view reference,
                                                                   std::string_view base_url) {
    if (reference.starts_with(base_url) && reference.substr(base_url.size()).starts_with('/')) {
        reference.remove_prefix(base_url.size() + 1);
    }
    const std::size_t slash = reference.find('/');
    if (slash == std::string_view::npos) {
        return {};
    }
    const std::optional<TypeId> type = find_resource_type(reference.substr(0, slash));
    std::string_view id = reference.substr(slash + 1);
    if (const std::size_t history = id.find(kHistoryMark); history != std::string_view::npos) {
        id = id.substr(0, history);
    }
    if (!type || !is_resource_id(id)) {
        return {};
    }
    return std::pair{*type, id};
}

std::optional<std::pair<TypeId, std::string_view>> referred_resource(std::string_view reference,
                                                                     std::string_view base_url) {
    return local_reference(reference.substr(0, reference.find('#')), base_url);
}

bool is_relative_reference(std::string_view reference) noexcept {
    if (reference.empty() || reference.front() == '#') {
        return false;
    }
    const std::size_t end = reference.find_first_of(":/?#");
    return end == std::string_view::npos || reference[end] != ':';
}

std::string_view referred_version(std::string_view reference) noexcept {
    const std::size_t history = reference.find(kHistoryMark);
    if (history == std::string_view::npos) {
        return {};
    }
    reference.remove_prefix(history + kHistoryMark.size());
    return reference.substr(0, reference.find('#'));
}

std::optional<VersionNumber> required_version(std::string_view version) noexcept {
    return version.empty() ? std::nullopt
                           : std::optional(read_version_number(version).value_or(VersionNumber{}));
}

asio::awaitable<void> fetch_referred(const Service& service, const Request& request,
                                     std::vector<std::pair<TypeId, std::string>> referred) {
    std::vector<storage::VersionInfo> versions;
    for (const auto& [type, id] : referred) {
        if (const auto info = service.store().current(type, id)) {
            versions.push_back(*info);
        }
    }
    co_await request.loop->fetched(versions);
}

}  // namespace annals::core
