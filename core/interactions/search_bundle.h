// The searchset Bundle of one page: spliced from stored bytes, in slices if it is large.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 search.html#return, bundle.html#searchset; docs/api/search.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/exchange.h"
#include "core/interactions/bundle_stream.h"
#include "core/search/snapshot.h"
#include "core/service.h"
#include "storage/types.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// A contained resource that matched.
struct ContainedMatch {
    std::string full_url;
    std::string resource;  ///< its JSON
};

/// The contents of a page.
struct SearchBundleContent {
    std::optional<std::uint64_t> total;
    std::vector<BundleLink> links;
    std::vector<storage::VersionInfo> matches;
    /// How the entry of each match ends; empty: as in a search.
    std::vector<std::string> match_ends;
    std::vector<ContainedMatch> contained;  ///< listed after the matches
    std::vector<storage::VersionInfo> included;
    /// Where matches may come from beside the store; or null.
    std::shared_ptr<const search::Carried> carried;
    std::vector<std::string> warnings;  ///< one issue each, in an outcome entry at the end
    std::string_view warning_code = "not-supported";  ///< of all of them
};

/// 200 with the Bundle.
Response answer_search(const Service& service, std::string_view base_url,
                       SearchBundleContent content);

}  // namespace annals::core
