// The URLs of a search's pages.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#paging; RFC 3986.
// Threads: plain functions.

#pragma once

#include "core/search/query.h"
#include "core/target.h"

#include <span>
#include <string>
#include <string_view>

namespace annals::core {

/// The value of `_cursor` for the first page, if the URL must have one.
inline constexpr std::string_view kFirstPageCursor = "first";

/// The path of the search, without the server's base.
std::string search_path(const Target& target);

/// The URL of the search, without a cursor. `used`: its parameters.
std::string search_url(std::string_view base_url, const Target& target,
                       std::span<const search::QueryPair> used);

/// The URL of the page at `cursor`, of the first one if it is empty. `url`: what search_url() returned.
std::string with_cursor(const std::string& url, std::string_view cursor);

}  // namespace annals::core
