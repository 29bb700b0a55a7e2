#include "core/config/token_clients.h"

#include "core/config/config_checks.h"
#include "core/config/entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace annals::core {

namespace {

constexpr std::string_view kClientsSetting = "auth.token_endpoint.clients_file";
constexpr auto kClientMembers = std::to_array<std::string_view>({"jwks", "jwks_file", "jwks_url"});
constexpr std::size_t kIdBytesMax = 200;

/// An id appears in logs and tokens, and is compared byte by byte.
bool is_client_id(std::string_view id) noexcept {
    return id.size() <= kIdBytesMax && id.find_first_not_of(" \t") != std::string_view::npos &&
           std::all_of(id.begin(), id.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
}

}  // namespace

Result<std::vector<TokenClient>> read_token_clients(const std::string& file) {
    ANNALS_TRY(std::vector<Entry> entries,
               read_entries(kClientsSetting, file, "client", kClientMembers));
    std::vector<TokenClient> clients;
    std::size_t fetched = 0;
    for (Entry& entry : entries) {
        const auto fault = [&](std::string_view why) {
            return entries_fault(kClientsSetting, file,
                                 fmt::format("the client '{}' {}", one_line(entry.id), why));
        };
        if (!is_client_id(entry.id)) {
            return fault("must have an id of at most 200 ASCII characters");
        }
        if (entry.texts.size() != 1) {
            return fault("needs one of jwks, jwks_file and jwks_url");
        }
        TokenClient& client = clients.emplace_back();
        client.id = entry.id;
        client.scopes = std::move(entry.scopes);
        client.jwks = std::move(entry.texts["jwks"]);
        client.jwks_file = std::move(entry.texts["jwks_file"]);
        client.jwks_url = std::move(entry.texts["jwks_url"]);
        if (!client.jwks_url.empty() && !is_safe_url(client.jwks_url)) {
            return fault("must have a jwks_url that begins with https:// and contains no user");
        }
        fetched += client.jwks_url.empty() ? 0 : 1;
    }
    if (clients.size() > kTokenClientsMax || fetched > kFetchedClientsMax) {
        return entries_fault(kClientsSetting, file,
                             fmt::format("it has more than {} clients, or {} with a jwks_url",
                                         kTokenClientsMax, kFetchedClientsMax));
    }
    return clients;
}

}  // namespace annals::core
