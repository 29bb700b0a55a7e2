#include "core/graphql/document.h"

#include <algorithm>

namespace annals::core::graphql {

const FragmentDefinition* Document::fragment(std::string_view name) const noexcept {
    const auto found =
        std::find_if(fragments.begin(), fragments.end(),
                     [&](const FragmentDefinition& one) { return one.name == name; });
    return found == fragments.end() ? nullptr : &*found;
}

}  // namespace annals::core::graphql
