// A canonical URL and its optional version.
//
// Layer:   core.
// Spec:    FHIR R4 references.html#canonical.
// Threads: plain values.

#pragma once

#include <string_view>

namespace annals::core {

struct Canonical {
    std::string_view url;
    std::string_view version;  ///< empty: none given
};

/// Splits "http://url|version". Lifetime: points into `canonical`.
inline Canonical split_canonical(std::string_view canonical) noexcept {
    const std::size_t bar = canonical.find('|');
    return bar == std::string_view::npos
               ? Canonical{canonical, {}}
               : Canonical{canonical.substr(0, bar), canonical.substr(bar + 1)};
}

}  // namespace annals::core
