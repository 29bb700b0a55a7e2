// Request and Response: one FHIR interaction, as net passes it to core and gets it back.
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
    /// Below /fhir: "", "/Patient", "/Patient/1/_history"; still percent-encoded.
    std::string_view path;
    std::string_view query;  ///< after '?', percent-encoded; empty if none
    std::vector<Header> headers;
    std::string_view body;
    std::string_view base_url;             ///< "http://host:port/fhir", no trailing slash
    std::string_view request_id;           ///< X-Request-Id, given or made
    Loop* loop = nullptr;                  ///< of the thread that handles it; never null
    const Principal* principal = nullptr;  ///< who asks; null: no credentials were presented
    bool inside_bundle = false;            ///< an entry: always answered in JSON
    bool may_block = false;  ///< a plain handler may wait for the device, and so always answers
    bool oversized = false;  ///< the body exceeds limits.max_body, by up to kBundleWrapBytes
    /// ifModifiedSince of a Bundle's entry, which, unlike the header, may have fractions of a second.
    std::optional<Instant> modified_since;
    /// X-Annals-Min-Position, verbatim: the state answered from must include that position.
    std::optional<std::string_view> min_position;
    /// The position that reads, searches and histories inside a transaction see; none: the newest.
    std::optional<Position> seen_at;
    /// X-Request-Id as given by the client, stored with what the request writes; empty: none given.
    std::string_view client_request_id;
    /// The entries of an XML Bundle that could not be converted to JSON, ascending; null: none.
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

/// The outcome of one entry of a bundle, for the audit log.
struct EntryTrace {
    HttpMethod method = HttpMethod::get;
    int status = 0;
    std::string reference;  ///< "Patient/1/_history/2", or as much of that as is known
};

/// One response. The headers that FHIR defines are typed, so that a batch can put them into an entry.
struct Response {
    Response() = default;

    /// A failure, with the status of its code. Implicit, so that handlers can return an Error.
    Response(Error error);

    int status = 200;
    ContentType content_type = ContentType::fhir_json;  ///< meaningless while the body is empty
    std::string media_type;  ///< Content-Type if no ContentType fits; else empty
    Body body;
    std::unique_ptr<BodySource> more;  ///< null: `body` is complete

    std::optional<VersionNumber> etag;  ///< W/"N"
    std::optional<Instant> last_modified;
    std::optional<Position> position;  ///< X-Annals-Position: of the newest version written
    std::string location;              ///< absolute URL
    std::string content_location;      ///< a path: "/fhir/Patient/1/_history/2"
    std::string_view cache_control;    ///< static text; empty: header left out
    std::string allow;                 ///< with 405
    std::vector<std::pair<std::string, std::string>> headers;  ///< any others
    std::vector<EntryTrace> entries;  ///< of a bundle, if accesses are audited
    std::optional<Error> failure;     ///< tell_failure() makes `body` of it
    /// Set by a plain handler that has not answered because the versions at these positions are not in
    /// memory. Once they have been fetched it must be called again, with Request::may_block.
    std::vector<Position> unread;
    /// Not 0: the response must not be sent before this has settled (EarlyHandler).
    storage::Ticket unsettled;
    bool close = false;  ///< the connection ends after this response
};

}  // namespace annals::core
