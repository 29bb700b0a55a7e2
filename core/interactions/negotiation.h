// What a request says about representations and answers: Accept, _format, Content-Type, Prefer.
//
// Layer:   core/interactions.
// Spec:    RFC 9110 sections 8.3, 12.5.1; RFC 7240; FHIR R4 http.html#mime-type, #ops;
//          docs/api/representation.md.
// Threads: plain functions.

#pragma once

#include "core/base/result.h"
#include "core/exchange.h"
#include "core/interactions/media_type.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace annals::core {

enum class Format : std::uint8_t { json, xml };

/// The format that a media type names: FHIR's (application/fhir+json), DSTU2's (application/json+fhir), or a general one
/// (application/json, text/json). None for a range.
std::optional<Format> format_of(std::string_view media_type);

/// How explicitly a format was asked for.
enum class Naming : std::uint8_t {
    range,    ///< not at all: */* or the like, or a browser's text/html
    generic,  ///< application/json, text/xml
    fhir,     ///< application/fhir+json, _format
};

/// The format of an answer.
struct AnswerFormat {
    Format format = Format::json;
    Naming close = Naming::range;
    bool says_version = false;  ///< fhirVersion was asked for: Content-Type includes it
    int quality = kQualityMax;
};

/// Chooses by the Accept headers: the highest q, then the most specific range, then JSON.
/// Errors: not_acceptable.
Result<AnswerFormat> read_accept(const Request& request);

/// Chooses by the value of `_format`, which overrides Accept. Errors: not_acceptable.
Result<AnswerFormat> read_format_parameter(std::string_view value);

/// The format of a request's body, by Content-Type; without one it is taken as FHIR JSON.
enum class BodyFormat : std::uint8_t { json, xml, other };

/// Errors: unsupported_media (a FHIR type of another version or character set).
Result<BodyFormat> read_content_type(const Request& request);

/// Checks that version and character set of a body's media type are supported. Errors: unsupported_media.
Result<void> check_parameters(const MediaType& media);

/// Checks that the body is FHIR JSON. Errors: unsupported_media.
Result<void> check_content_type(const Request& request);

/// What a Prefer header asks for.
struct Preference {
    enum class Return : std::uint8_t { unsaid, minimal, representation, operation_outcome };
    Return return_form = Return::unsaid;
    bool strict = false;   ///< handling=strict
    bool lenient = false;  ///< handling=lenient
    bool respond_async = false;
};

/// Reads all Prefer headers; the first of a kind counts, unknown ones are ignored.
Preference read_preference(const Request& request);

}  // namespace annals::core
