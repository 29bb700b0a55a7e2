#include "codec/schema/search_type.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace annals::schema {

namespace {

constexpr auto kTypeNames = std::to_array<std::string_view>(
    {"number", "date", "string", "token", "reference", "composite", "quantity", "uri", "special"});
static_assert(kTypeNames.size() == static_cast<std::size_t>(SearchType::special) + 1);

}  // namespace

std::string_view search_type_name(SearchType type) noexcept {
    return kTypeNames[static_cast<std::size_t>(type)];
}

std::optional<SearchType> find_search_type(std::string_view name) noexcept {
    const auto* const found = std::ranges::find(kTypeNames, name);
    return found == kTypeNames.end()
               ? std::nullopt
               : std::optional(static_cast<SearchType>(found - kTypeNames.begin()));
}

}  // namespace annals::schema
