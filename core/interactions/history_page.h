// The Bundle of one history page: spliced from stored bytes, in slices if it is large.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#history; docs/api/history.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/exchange.h"
#include "core/interactions/bundle_stream.h"
#include "core/service.h"
#include "storage/types.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// The contents of a page.
struct HistoryPageContent {
    std::uint64_t total = 0;
    std::vector<BundleLink> links;
    std::vector<storage::VersionInfo> versions;
};

/// 200 with the Bundle.
Response answer_history(const Service& service, std::string_view base_url,
                        HistoryPageContent content);

/// Appends one entry, which begins with `text`: what precedes its brace, the brace, and any members that FHIR
/// doesn't define. The rest is assembled in `text` too, and changes it. The resource is a view of the stored bytes. If
/// the version was erased meanwhile, appends nothing and returns false. A damaged version becomes an entry with status
/// 500 and an outcome. `base_url` is escaped for a JSON string.
bool append_history_entry(Body& body, const Service& service, std::string_view base_url,
                          const storage::VersionInfo& info, std::string& text);

}  // namespace annals::core
