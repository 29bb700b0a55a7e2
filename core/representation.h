// The one place where the JSON of a Response becomes what the request asked for, and where a request's body
// in another format becomes JSON.
//
// Layer:   core.
// Spec:    FHIR R4 http.html#mime-type, #parameters, search.html#summary, #elements, binary.html;
//          docs/api/representation.md.
// Threads: plain functions and values.

#pragma once

#include "codec/xml/reader.h"
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

/// What a request asks its answer to look like. The default is the stored JSON as it is.
struct Representation {
    AnswerFormat format;
    bool pretty = false;
    /// Of a read of a Binary: may, or must, its content be the answer?
    enum class Raw : std::uint8_t { no, maybe, must };
    Raw raw = Raw::no;
    Subset subset;

    /// True if the JSON goes out as it is, under its usual name.
    bool plain() const noexcept {
        return format.format == Format::json && !format.says_version && !pretty && raw == Raw::no &&
               subset.whole();
    }
};

/// Reads Accept, `_format`, `_pretty`, `_summary` and `_elements`; of a request inside of a Bundle only the
/// last two. `out` has what could be read also where the rest is refused, so that the refusal is answered in it.
///
/// Errors: not_acceptable; invalid (a malformed query or value).
/// Cost:   without a query a look at the headers, no allocation.
Result<void> read_representation(const Request& request, const Target& target, Representation& out);

/// What represent() does when there is something to do.
void represent_changed(const Representation& asked, const Request& request, Response& response);

/// Tells a failure, and makes of `response`, which holds JSON, what was asked for. A body that is large or streamed is made slice by
/// slice while it is sent, and no more of it is in memory than a Bundle's entry and a slice; a resource that
/// must be taken apart (all but `_pretty`) as a whole.
inline void represent(const Representation& asked, const Request& request, Response& response) {
    tell_failure(request, response);
    if (!asked.plain()) {
        represent_changed(asked, request, response);
    }
}

/// The same for an answer that was made without read_representation(): an error before or beside the dispatch.
void represent_error(const Request& request, Response& response);

/// Whether it says that it sends a form.
bool is_form(const Request& request);

/// Whether what a search by POST sends is a form: it says so, or it says nothing and doesn't begin like JSON or XML.
bool is_search_form(const Request& request);

/// A request whose body was not plain JSON, with the JSON or the query that its body means.
struct ConvertedRequest {
    Request request;
    std::string body;
    std::string query;  ///< of a search by POST: the URL's and the form's
    std::vector<xml::UnreadableEntry> unreadable;
};

/// Turns an XML body into JSON, what is sent to Binary without a FHIR type into a Binary, and the form of a search
/// into a query, and passes over a byte-order mark before JSON; null if the body is JSON already or not ours to read.
/// Lifetime: the result points into `request`.
/// Errors: unsupported_media; body_too_large (a form beyond kFormBytesMax); those of the XML reader, but for the entries of a
///         Bundle for `POST {base_url}` that can't be read: Request::unreadable has them.
Result<std::unique_ptr<ConvertedRequest>> convert_body(const Request& request,
                                                       const Target& target);

/// Whether convert_body() would leave the body of a create, an update or a delete as it is.
bool is_json_or_none(const Request& request);

inline constexpr std::size_t kFormBytesMax = 4 << 20;

}  // namespace annals::core
