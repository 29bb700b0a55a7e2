#include "core/search/canonical_links.h"

#include "codec/schema/schema.h"
#include "core/base/all_resource_types.h"
#include "core/base/digest.h"
#include "core/canonical.h"

#include <array>
#include <string>

namespace annals::core::search {

namespace {

/// Distinguishes the keys of canonicals from other hashes of the same text.
constexpr std::uint64_t kCanonical = 0x243f6a8885a308d3;

}  // namespace

bool may_be_named(TypeId type) noexcept {
    static const std::array<bool, kResourceTypeCount> kNamed = [] {
        std::array<bool, kResourceTypeCount> named{};
        for (const TypeId type : kAllResourceTypes) {
            named[type.value] = static_cast<bool>(schema::Type(type).find("url"));
        }
        return named;
    }();
    return kNamed[type.value];
}

std::uint64_t canonical_key(std::uint64_t seed, std::string_view canonical) noexcept {
    // A trailing bar names no version.
    const Canonical parts = split_canonical(canonical);
    return hash64(parts.version.empty() ? parts.url : canonical, seed ^ kCanonical);
}

std::vector<std::uint64_t> canonical_keys(std::uint64_t seed, json::Value resource) {
    std::string name = resource["url"].string();
    if (name.empty()) {
        return {};
    }
    std::vector<std::uint64_t> keys{canonical_key(seed, name)};
    if (const std::string version = resource["version"].string(); !version.empty()) {
        name += '|';
        name += version;
        keys.push_back(canonical_key(seed, name));
    }
    return keys;
}

Column names_column() noexcept {
    static const Column of = column_of("_names");
    return of;
}

void append_names(json::Value resource, std::uint64_t seed, storage::SearchEntries& entries) {
    for (const std::uint64_t key : canonical_keys(seed, resource)) {
        entries.terms.push_back(identity(key));
        entries.links.push_back({names_column(), key});
    }
}

std::vector<std::uint64_t> names_in(const storage::SearchEntries& entries) {
    std::vector<std::uint64_t> keys;
    for (const storage::SearchEntries::Link& link : entries.links) {
        if (link.column == names_column()) {
            keys.push_back(link.target);
        }
    }
    return keys;
}

}  // namespace annals::core::search
