// Request and Response: one FHIR interaction as net hands it to core, and back.
//
// Layer:   core. HTTP syntax stays in net; a batch entry makes the same Request without a socket.
// Threads: plain values, on the connection's thread.

#pragma once

#include "core/base/ids.h"
#include "core/base/instant.h"
#include "core/base/result.h"
#include "core/body.h"
#include "storage/types.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::xml {
struct UnreadableEntry;
}

namespace annals::core {

class Loop;
class Principal;

enum class HttpMethod : std::uint8_t { get, head, post, put, patch, delete_, options, other };

/// "GET", "POST", ...
std::string_view method_name(HttpMethod method) noexcept;

struct Header {
    std::string_view name;
    std::string_view value;
};

/// One request below {base_url}.
///
/// Lifetime: the views point into the connection's (or the batch's) buffers, which outlive the handling
/// of the request, all its awaits included.
struct Request {
    HttpMethod method = HttpMethod::get;
    std::string_view
        path;  ///< below /fhir: "", "/Patient", "/Patient/1/_history"; still percent-encoded
    std::string_view query;  ///< after '?', percent-encoded; empty if none
    std::vector<Header> headers;
    std::string_view body;
    std::string_view base_url;             ///< "http://host:port/fhir", no trailing slash
    std::string_view request_id;           ///< X-Request-Id, given or made
    Loop* loop = nullptr;                  ///< of the thread that handles it; never null
    const Principal* principal = nullptr;  ///< who asks; null: nobody that is known
    bool inside_bundle = false;            ///< an entry: answered in JSON whatever it asks for
    bool may_block = false;  ///< a plain handler answers, whatever is on the device only
    bool oversized = false;  ///< the body is beyond limits.max_body, by up to kBundleWrapBytes
    /// ifModifiedSince of a Bundle's entry; what the header has knows no fraction of a second.
    std::optional<Instant> modified_since;
    /// X-Annals-Min-Position as it stands: nothing is answered from a state before that position.
    std::optional<std::string_view> min_position;
    /// Of a read inside of a transaction: reads, searches and histories see the store as it was here; none: as it is.
    std::optional<Position> seen_at;
    /// X-Request-Id as the client gave it, kept with what is written; empty: it gave none.
    std::string_view client_request_id;
    /// Of a Bundle that came as XML: its entries without a JSON, ascending; null: none.
    const std::vector<xml::UnreadableEntry>* unreadable = nullptr;

    /// The first header of that name (case ignored), trimmed; none if absent.
    std::optional<std::string_view> header(std::string_view name) const noexcept;
};

enum class ContentType : std::uint8_t {
    none,
    fhir_json,
    fhir_xml,
    json,
    ndjson,
    text,
    html,
    prometheus,
    event_stream
};

/// "application/fhir+json; charset=utf-8", ...
std::string_view content_type_name(ContentType type) noexcept;

/// What one entry of a bundle came to, for the audit log.
struct EntryTrace {
    HttpMethod method = HttpMethod::get;
    int status = 0;
    std::string reference;  ///< "Patient/1/_history/2", as much of it as there is
};

/// One response. What FHIR clients read is typed, so that a batch can put it into an entry.
struct Response {
    Response() = default;

    /// A failure, with the status that its code means. What returns a Response may return an Error.
    Response(Error error);

    int status = 200;
    ContentType content_type = ContentType::fhir_json;  ///< meaningless while the body is empty
    std::string media_type;  ///< Content-Type where none of ContentType fits; else empty
    Body body;
    std::unique_ptr<BodySource> more;  ///< null: `body` is all there is

    std::optional<VersionNumber> etag;  ///< W/"N"
    std::optional<Instant> last_modified;
    std::optional<Position> position;  ///< X-Annals-Position: the newest of what was written
    std::string location;              ///< absolute URL
    std::string content_location;      ///< as spec.md: "/fhir/Patient/1/_history/2"
    std::string_view cache_control;    ///< static text; empty: header left out
    std::string allow;                 ///< with 405
    std::vector<std::pair<std::string, std::string>> headers;  ///< any others
    std::vector<EntryTrace> entries;  ///< of a bundle, where accesses are audited
    std::optional<Error> failure;     ///< what `body` says once tell_failure() has put it there
    /// A plain handler's: it has not answered, since what stands at these positions is on the device only. To be asked again,
    /// with Request::may_block, when that was fetched.
    std::vector<Position> unread;
    /// Not 0: what is said holds once this has settled, and is not to be said before (EarlyHandler).
    storage::Ticket unsettled;
    bool close = false;  ///< the connection ends after this response
};

}  // namespace annals::core
