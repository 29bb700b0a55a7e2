// One entry of a history bundle: which version of which resource it contains.
//
// Layer:   core/interactions.
// Spec:    docs/api/history-bundle.md.
// Threads: plain functions and values.

#pragma once

#include "codec/json/document.h"
#include "codec/json/resource.h"
#include "core/base/ids.h"
#include "core/base/instant.h"
#include "core/base/limits.h"
#include "core/base/resource_types.h"
#include "core/base/result.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace annals::core {

/// The maximum depth of a line that is put into a Bundle with others: the entry, the array of entries and the Bundle
/// enclose it.
inline constexpr std::size_t kLineDepthMax = kJsonWrappedDepthMax - 3;

/// A parsed entry. Lifetime: `facts` and `full_url` point into the bundle's Document.
struct HistoryEntry {
    TypeId type;
    std::string id;
    bool deletion = false;
    std::optional<VersionNumber> version;  ///< none: the next one
    std::optional<Instant> instant;        ///< none: the commit's
    std::string last_updated;              ///< the text of `instant`; empty with it
    json::ResourceFacts facts;             ///< of the resource; meaningless for a deletion
    json::Value full_url;                  ///< a string or missing
};

/// Whether an object, which stands alone, is an entry of a history Bundle. Some servers leave out its request and response
/// where they know neither; an entry of a search's results has `search`.
bool is_history_entry(json::Value object) noexcept;

/// Reads `value` into `entry` and overwrites what that held (its memory is reused). The resource is identified by
/// `resource`, else `request.url`, else `fullUrl`; the version number by `meta.versionId`, else `response.etag`,
/// else `_history/N` in `fullUrl` or `response.location`; the instant by `meta.lastUpdated`, else
/// `response.lastModified` (for a deletion the other way round). A deletion has the response status 410 or the
/// method DELETE. Errors: structure, required, value, invalid (also an entry with search.mode outcome); `entry` is
/// meaningless then.
Result<void> read_history_entry(json::Value value, HistoryEntry& entry);

/// The body that an entry is stored as, with holes for the number and the instant if they are unknown.
class KeptBody {
  public:
    /// `instant`: the text of meta.lastUpdated that replaces the entry's own. Lifetime: the arguments outlive it.
    explicit KeptBody(const HistoryEntry& entry, std::optional<std::string_view> instant = {});
    KeptBody(const KeptBody&) = delete;
    KeptBody& operator=(const KeptBody&) = delete;

    const json::BodyPlan& plan() const noexcept { return plan_; }

  private:
    std::array<char, 20> digits_{};  ///< of the number; the plan points into it
    json::BodyPlan plan_;
};

/// The parts of a URL such as "http://a/fhir/Patient/1/_history/2" or "Patient/1".
struct ResourceUrl {
    TypeId type;
    std::string_view id;
    std::string_view version;  ///< empty: none
};

/// None if `url` doesn't end in the name of a resource or a version, or has criteria. Lifetime: views point into `url`.
std::optional<ResourceUrl> parse_resource_url(std::string_view url) noexcept;

}  // namespace annals::core
