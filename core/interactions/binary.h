// Binary by its content: what is sent to it without a FHIR type, and what is read from it as itself.
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

/// True if `target` is a Binary, or the place where they are created.
bool is_binary(const Target& target) noexcept;

/// The JSON of the Binary that holds the request's body: contentType by Content-Type, securityContext by
/// X-Security-Context, the id of `target` where it has one.
Result<std::string> binary_json(const Request& request, const Target& target);

/// Turns `response`, the JSON of a Binary, into its content, with headers that keep a browser from running it.
/// False, and nothing changed, if the resource itself is what the request asks for or the content can't be had.
///
/// `asked`: what Accept says of FHIR's own formats; null if it takes none of them.
bool make_raw(const Request& request, const AnswerFormat* asked, Response& response);

}  // namespace annals::core
