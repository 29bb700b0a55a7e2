#include "core/config/api_keys.h"

#include "core/base/digest.h"
#include "core/config/config_checks.h"
#include "core/config/entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace annals::core {

namespace {

constexpr std::string_view kSetting = "auth.api_keys_file";
constexpr auto kMembers = std::to_array<std::string_view>({"sha256"});
constexpr std::size_t kDigestChars = 64;

}  // namespace

Result<std::vector<ApiKey>> read_api_keys(const std::string& file) {
    ANNALS_TRY(std::vector<Entry> entries, read_entries(kSetting, file, "key", kMembers));
    std::vector<ApiKey> keys;
    std::set<std::string> seen;
    for (Entry& entry : entries) {
        ApiKey& key = keys.emplace_back();
        key.id = std::move(entry.id);
        key.scopes = std::move(entry.scopes);
        key.sha256 = std::move(entry.texts["sha256"]);
        std::transform(key.sha256.begin(), key.sha256.end(), key.sha256.begin(),
                       [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c; });
        if (key.sha256.size() != kDigestChars ||
            key.sha256.find_first_not_of("0123456789abcdef") != std::string::npos) {
            return entries_fault(
                kSetting, file,
                fmt::format("sha256 of the key '{}' must be 64 hex digits", one_line(key.id)));
        }
        if (key.sha256 == sha256_hex("")) {
            // The output of printf %s "$KEY" | sha256sum if KEY is not set: an empty header would be accepted.
            return entries_fault(
                kSetting, file,
                fmt::format("sha256 of the key '{}' is the hash of an empty string",
                            one_line(key.id)));
        }
        if (!seen.insert(key.sha256).second) {
            return entries_fault(kSetting, file,
                                 fmt::format("the key '{}' appears twice", one_line(key.id)));
        }
    }
    return keys;
}

}  // namespace annals::core
