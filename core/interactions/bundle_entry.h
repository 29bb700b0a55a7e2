// The entries of batch and transaction bundles: what one asks for, and what is answered to it.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 bundle.html (Bundle.entry.request, .response), http.html#transaction-response.
// Threads: plain functions and values.

#pragma once

#include "codec/json/document.h"
#include "codec/json/resource.h"
#include "core/exchange.h"
#include "storage/types.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// Bundle.entry.request, read.
struct EntryRequest {
    HttpMethod method = HttpMethod::other;
    std::string path;   ///< as Request::path: "/Patient/1"
    std::string query;  ///< as Request::query
    std::optional<std::string> if_match;
    std::optional<std::string> if_none_match;
    std::optional<std::string> if_none_exist;
    std::optional<Instant> if_modified_since;

    // Of a PATCH, whose body is not the entry's resource itself.
    std::string patch;
    std::string patch_type;  ///< its Content-Type
};

/// Reads `entry.request`. A url may be relative or stand below `base_url`. Of a PATCH it reads the patch, too: a
/// Binary with the patch as its data, or Parameters (FHIRPath Patch).
/// Errors: structure, required, value, invalid.
Result<EntryRequest> read_entry_request(json::Value entry, std::string_view base_url);

/// Refuses the entry at `index` of the Bundle that `outer` brings if it couldn't be read.
Result<void> check_readable(const Request& outer, std::size_t index);

/// The Request that `asked` makes inside of `outer`, whose Prefer it inherits. A PATCH has its own body.
/// Lifetime: points into `asked`, `outer` and `body`.
Request request_of_entry(const EntryRequest& asked, const Request& outer, std::string_view body);

/// What is written down of an entry whose answer comes later: what it asks for.
EntryTrace trace_asked(json::Value entry, int status);

/// Writes a response Bundle, entry by entry.
class ResponseBundle {
  public:
    /// `type` is batch-response or transaction-response. `traced`: the answer has its Response::entries.
    ResponseBundle(std::string_view type, std::string_view base_url, bool traced);

    /// Adds the entry for `response` to a request by `method`. `entry` is the request's entry (its fullUrl is
    /// echoed), or missing. `outcome_preferred`: an OperationOutcome tells what was done, else it is what was asked for.
    /// Requires: all of it is there (draw_answer()).
    void add(json::Value entry, HttpMethod method, Response response, bool outcome_preferred);

    /// Adds an entry that is written out already: a JSON object.
    void add_text(std::string_view entry_json);

    /// Says what became of an entry that was written out.
    void trace(HttpMethod method, int status, std::string reference);

    /// The whole answer.
    Response finish();

  private:
    std::string origin_;  ///< scheme and host of base_url
    Body body_;
    std::string text_;  ///< of the entry under way; a member for the sake of its memory
    bool first_ = true;
    bool traced_;
    std::vector<EntryTrace> traces_;
};

/// Has `entry` fetched into the nearer caches, for whoever reads it next. A bundle is parsed as a whole, and its beginning
/// has left them by then.
void fetch_ahead(json::Value entry) noexcept;

/// The members of Bundle.entry.response but `outcome`, without braces:
/// "status":"201 Created","location":"...","etag":"W/\"1\"","lastModified":"...". Empty parts are left out.
void append_entry_response(std::string& out, int status, std::string_view location,
                           std::optional<VersionNumber> etag, std::optional<Instant> last_modified);

/// The same for a version that was written, at its URL below a root that is escaped as in a JSON string already;
/// `created`: as the first one of its resource's life.
void append_version_response(std::string& out, bool created, std::string_view escaped_base,
                             TypeId type, std::string_view id, VersionNumber version,
                             Instant instant);

}  // namespace annals::core
