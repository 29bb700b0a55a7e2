// Recognisers of FHIR's primitive types: whether a text is a value of the type.
//
// Layer:   codec; depends on codec/json and core/base.
// Spec:    FHIR R4 datatypes.html#primitive: the regular expressions and what the prose adds to them (real
//          calendar days, 32 bits, lengths). Written by hand: one pass over the text, no allocation.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"
#include "codec/schema/schema.h"

#include <string_view>

namespace annals::schema {

/// Whether `text` (UTF-8, escapes resolved) is a value of `type`, as XML's value attribute or a JSON string,
/// number or literal has it. An xhtml is only checked to be text, not for its markup.
/// Requires: `type` is not Primitive::none.
bool is_valid(Primitive type, std::string_view text) noexcept;

/// The kind of JSON value that values of `type` are: a string, a number or a boolean.
constexpr json::Kind kind_of(Primitive type) noexcept {
    switch (type) {
        case Primitive::boolean:
            return json::Kind::boolean;
        case Primitive::decimal:
        case Primitive::integer:
        case Primitive::positive_int:
        case Primitive::unsigned_int:
            return json::Kind::number;
        default:
            return json::Kind::string;
    }
}

/// "true" or "false".
bool is_boolean(std::string_view text) noexcept;

/// Not empty, no control characters but tab, line feed and carriage return, at most 1,048,576 characters.
bool is_string(std::string_view text) noexcept;

/// No white space around it, and none but single spaces inside.
bool is_code(std::string_view text) noexcept;

/// 1 to 64 letters, digits, hyphens and dots.
bool is_id(std::string_view text) noexcept;

/// is_id(), faster. Requires: 64 readable bytes.
bool is_padded_id(std::string_view text) noexcept;

/// Not empty, no white space or control characters; also for url and canonical.
bool is_uri(std::string_view text) noexcept;

/// What Reference.reference may be: `Type/id` or `Type/id/_history/vid` or `Type?criteria` with a type of R4, `#id`, or
/// a URL or URN without white space.
bool is_reference(std::string_view text) noexcept;

/// "urn:oid:" and an OID.
bool is_oid(std::string_view text) noexcept;

/// "urn:uuid:" and a UUID in lower case.
bool is_uuid(std::string_view text) noexcept;

/// Groups of four of the base64 alphabet, padded at the end; white space anywhere.
bool is_base64_binary(std::string_view text) noexcept;

/// YYYY, YYYY-MM or YYYY-MM-DD; the day must exist.
bool is_date(std::string_view text) noexcept;

/// A date, or a day with a time to the second or finer and a zone.
bool is_date_time(std::string_view text) noexcept;

/// A day with a time to the second or finer and a zone.
bool is_instant(std::string_view text) noexcept;

/// hh:mm:ss with any fraction, no zone.
bool is_time(std::string_view text) noexcept;

/// A decimal number, its exponent included, in JSON's grammar.
bool is_decimal(std::string_view text) noexcept;

/// A whole number of 32 bits with sign, without leading zeros, fraction or exponent.
bool is_integer(std::string_view text) noexcept;

/// A whole number from 0 to 2,147,483,647.
bool is_unsigned_int(std::string_view text) noexcept;

/// A whole number from 1 to 2,147,483,647.
bool is_positive_int(std::string_view text) noexcept;

}  // namespace annals::schema
