// The entries of batch and transaction bundles: the request in an entry, and the response to it.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 bundle.html (Bundle.entry.request, .response), http.html#transaction-response.
// Threads: plain functions and values.

#pragma once

#include "codec/json/document.h"
#include "codec/json/resource.h"
#include "core/exchange.h"
#include "storage/types.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// The contents of Bundle.entry.request.
struct EntryRequest {
    HttpMethod method = HttpMethod::other;
    std::string path;   ///< as Request::path: "/Patient/1"
    std::string query;  ///< as Request::query
    std::optional<std::string> if_match;
    std::optional<std::string> if_none_match;
    std::optional<std::string> if_none_exist;
    std::optional<Instant> if_modified_since;

    // Of a PATCH, whose body is not the entry's resource.
    std::string patch;
    std::string patch_type;  ///< its Content-Type
};

/// Reads `entry.request`. Its url may be relative or below `base_url`. For a PATCH it also reads the patch: a
/// Binary with the patch as its data, or Parameters (FHIRPath Patch).
/// Errors: structure, required, value, invalid.
Result<EntryRequest> read_entry_request(json::Value entry, std::string_view base_url);

/// Refuses the entry at `index` of the Bundle in `outer` if the entry could not be read (Request::unreadable).
Result<void> check_readable(const Request& outer, std::size_t index);

/// The Request of an entry inside `outer`, from which it inherits Prefer. A PATCH has its own body.
/// Lifetime: points into `asked`, `outer` and `body`.
Request request_of_entry(const EntryRequest& asked, const Request& outer, std::string_view body);

/// The audit trace of an entry that is answered later: what it asks for.
EntryTrace trace_asked(json::Value entry, int status);

/// What an entry of an answer takes around its resource, roughly.
inline constexpr std::size_t kAnsweredEntryBytes = 384;

/// Writes a response Bundle, entry by entry.
class ResponseBundle {
  public:
    /// `type` is batch-response or transaction-response. `traced`: whether to fill in Response::entries.
    ResponseBundle(std::string_view type, std::string_view base_url, bool traced);

    /// Makes room for `bytes` of text.
    void reserve(std::size_t bytes);

    /// What versions are in the responses added from now on is copied: if one were erased before the Bundle is sent, zeros
    /// would be sent.
    void copy_versions() noexcept { copies_ = true; }

    /// Adds the entry for the `response` to a request by `method`. `entry` is the request's entry (its fullUrl is copied),
    /// or missing. `outcome_preferred`: an OperationOutcome in the response goes to response.outcome; otherwise it is the
    /// requested resource. Requires: the response is complete (draw_answer()).
    void add(json::Value entry, HttpMethod method, Response response, bool outcome_preferred);

    /// Adds an entry that is serialized already: a JSON object.
    void add_text(std::string_view entry_json);

    /// The same, with `outcome` between the two parts. It is not copied.
    void add_text(std::string_view begin, std::shared_ptr<const std::string> outcome,
                  std::string_view end);

    /// Adds the audit trace of an entry added by add_text().
    void trace(HttpMethod method, int status, std::string reference);

    /// The complete answer.
    Response finish();

  private:
    void append(Body body);

    std::string origin_;  ///< scheme and host of base_url
    Body body_;
    std::string text_;  ///< what follows body_
    bool copies_ = false;
    bool first_ = true;
    bool traced_;
    std::vector<EntryTrace> traces_;
};

/// Prefetches `entry`, which is read next, into the processor's caches: a bundle is parsed as a whole, which has pushed its
/// beginning out of them.
void fetch_ahead(json::Value entry) noexcept;

/// Appends the members of Bundle.entry.response except `outcome`, without braces:
/// "status":"201 Created","location":"...","etag":"W/\"1\"","lastModified":"...". Empty parts are left out.
void append_entry_response(std::string& out, int status, std::string_view location,
                           std::optional<VersionNumber> etag, std::optional<Instant> last_modified);

/// The same for a version that was written. `escaped_base`: the base URL, escaped for JSON. `created`: the write created or
/// revived the resource.
void append_version_response(std::string& out, bool created, std::string_view escaped_base,
                             TypeId type, std::string_view id, VersionNumber version,
                             Instant instant);

}  // namespace annals::core
