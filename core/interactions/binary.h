// Binary by its content: bodies that are sent in other formats than FHIR's, and answers that are the content
// itself.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 binary.html, "Serving Binary Resources using the RESTful API"; docs/api/binary.md.
// Threads: plain functions.

#pragma once

#include "core/exchange.h"
#include "core/interactions/negotiation.h"
#include "core/target.h"

#include <string>

namespace annals::core {

/// True if `target` is a Binary, or the URL where Binaries are created.
bool is_binary(const Target& target) noexcept;

/// Whether the body of a create or update is the content of a Binary: its media type is not FHIR's, and if it is that of JSON or
/// XML in general, the body does not begin as a Binary resource.
bool is_content(const Request& request, const Target& target);

/// The JSON of a Binary that contains the request's body: contentType from Content-Type, securityContext from
/// X-Security-Context, the id from `target` if it has one.
Result<std::string> binary_json(const Request& request, const Target& target);

/// Turns `response`, the JSON of a Binary, into its content, with headers that keep a browser from running it.
/// Returns false and changes nothing if the request asks for the resource itself or the content is not
/// available.
///
/// `asked`: the FHIR format that Accept asks for; null if it accepts none.
bool make_raw(const Request& request, const AnswerFormat* asked, Response& response);

}  // namespace annals::core
