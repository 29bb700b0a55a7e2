// The one place where the JSON of a Response is turned into the representation asked for, and where a request's body
// in another format is turned into JSON.
//
// Layer:   core.
// Spec:    FHIR R4 http.html#mime-type, #parameters, search.html#summary, #elements, binary.html;
//          docs/api/representation.md.
// Threads: plain functions and values.

#pragma once

#include "core/base/result.h"
#include "core/exchange.h"
#include "core/interactions/negotiation.h"
#include "core/outcome.h"
#include "core/subset.h"
#include "core/target.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace annals::core {

/// The representation that a request asks for. The default is the stored JSON as it is.
struct Representation {
    AnswerFormat format;
    bool pretty = false;
    /// For a read of a Binary: whether its content may, or must, be the answer.
    enum class Raw : std::uint8_t { no, maybe, must };
    Raw raw = Raw::no;
    Subset subset;

    /// Whether the JSON is sent as it is, with its usual Content-Type.
    bool plain() const noexcept {
        return format.format == Format::json && !format.says_version && !pretty && raw == Raw::no &&
               subset.whole();
    }
};

/// Reads Accept, `_format`, `_pretty`, `_summary` and `_elements`; of a request inside a Bundle only the last two. Even
/// on error, `out` has what could be read, so that the refusal can be sent in that representation.
///
/// Errors: not_acceptable; invalid (a malformed query or value).
/// Cost:   without a query, a look at the headers and no allocation.
Result<void> read_representation(const Request& request, const Target& target, Representation& out);

/// represent() for anything but the stored JSON.
void represent_changed(const Representation& asked, const Request& request, Response& response);

/// Turns a failure into an OperationOutcome, and the JSON of `response` into the representation asked for. A body that is large
/// or streamed is converted slice by slice while it is sent, with no more in memory than one entry of a Bundle and a slice; a
/// single resource that must be parsed (for everything but `_pretty`) is converted as a whole.
inline void represent(const Representation& asked, const Request& request, Response& response) {
    tell_failure(request, response);
    if (!asked.plain()) {
        represent_changed(asked, request, response);
    }
}

/// The same for answers made without read_representation(): errors before or outside the dispatch.
void represent_error(const Request& request, Response& response);

/// Whether Content-Type says that the body is a form.
bool is_form(const Request& request);

/// Whether the body of a search by POST is a form: Content-Type says so, or is absent and the body doesn't begin like JSON or XML.
bool is_search_form(const Request& request);

/// A request whose body was not plain JSON, with the JSON or the query that it was converted to.
struct ConvertedRequest {
    // Not inline: most files that include this need not know the XML reader.
    ConvertedRequest();
    ~ConvertedRequest();

    Request request;
    std::string body;
    std::string query;  ///< of a search by POST: that of the URL, then the form's
    std::vector<xml::UnreadableEntry> unreadable;
};

/// Converts an XML body to JSON, content that is sent to Binary (is_content()) to a Binary, and the form of a search
/// to a query, and skips a byte-order mark before JSON; null if the body is JSON already, or is not read.
/// Lifetime: the result points into `request`.
/// Errors: unsupported_media; body_too_large (a form beyond kFormBytesMax); those of the XML reader, except that unreadable
///         entries of a Bundle for `POST {base_url}` go to Request::unreadable instead.
Result<std::unique_ptr<ConvertedRequest>> convert_body(const Request& request,
                                                       const Target& target);

/// Whether convert_body() would leave the body of a create, update or delete unchanged, except for one that is sent to Binary.
bool is_json_or_none(const Request& request);

inline constexpr std::size_t kFormBytesMax = 4 << 20;

}  // namespace annals::core
