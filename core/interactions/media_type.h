// Media types and the lists of them in headers, with parameters and q-values.
//
// Layer:   core/interactions.
// Spec:    RFC 9110 sections 5.6, 8.3, 12.4.2.
// Threads: plain functions.

#pragma once

#include "core/base/text.h"

#include <string>
#include <string_view>

namespace annals::core {

/// q=1 in thousandths.
inline constexpr int kQualityMax = 1000;

/// A media type or range, with the parameters used here.
struct MediaType {
    std::string_view name;  ///< type/subtype, as written
    std::string_view fhir_version;
    std::string_view charset;
    int quality = kQualityMax;
};

/// Reads one element of a list. Lifetime: views point into `text`.
MediaType read_media_type(std::string_view text);

/// A media type from a query, with its + restored: unescaped, it arrives as a blank.
std::string with_plus(std::string_view text);

/// Whether `text` is one media type, with or without parameters (`image/*` is not).
bool is_media_type(std::string_view text) noexcept;

/// Cuts the part before `separator` off `rest` and trims it; separators inside quotes are ignored.
std::string_view next_part(std::string_view& rest, char separator);

/// `text` without the quotes around it.
std::string_view unquoted(std::string_view text) noexcept;

/// A q-value in thousandths, .5 as 0.5; an invalid one counts as 1.
int read_quality(std::string_view text) noexcept;

/// True if `range` (image/png, image/*, */*) covers the media type `name`.
bool covers(std::string_view range, std::string_view name) noexcept;

}  // namespace annals::core
