// What a request says of representations and answers: Accept, _format, Content-Type, Prefer.
//
// Layer:   core/interactions.
// Spec:    RFC 9110 sections 8.3, 12.5.1; RFC 7240; FHIR R4 http.html#mime-type, #ops.
// Threads: plain functions.

#pragma once

#include "core/base/result.h"
#include "core/exchange.h"

#include <optional>
#include <string_view>

namespace annals::core {

/// Can the answer be in FHIR JSON? `_format` overrides Accept.
/// Errors: not_acceptable; invalid (a malformed query).
Result<void> check_accept(const Request& request);

/// Is the body FHIR JSON? A body without Content-Type is taken for it.
/// Errors: unsupported_media.
Result<void> check_content_type(const Request& request);

/// What a Prefer header asks for.
struct Preference {
    enum class Return : std::uint8_t { unsaid, minimal, representation, operation_outcome };
    Return return_form = Return::unsaid;
    bool strict = false;   ///< handling=strict
    bool lenient = false;  ///< handling=lenient
};

/// Reads all Prefer headers; the first of a kind counts, unknown ones are ignored.
Preference read_preference(const Request& request);

/// True if `a` and `b` are the same but for the case of ASCII letters.
bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept;

/// `text` without blanks and tabs at its ends.
std::string_view trimmed(std::string_view text) noexcept;

}  // namespace annals::core
