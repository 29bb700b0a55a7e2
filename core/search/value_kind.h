// ValueKind: how a parameter reads a value, by its own type and by the value's data type.
//
// Layer:   core/search, when parameters are made; once a parameter and element, not once a resource.
// Spec:    FHIR R4 search.html, the table of data types for each type of parameter.
// Threads: plain functions.

#pragma once

#include "codec/schema/schema.h"

#include <cstdint>
#include <string_view>

namespace annals::core::search {

/// How a value is read.
enum class ValueKind : std::uint8_t {
    none,  ///< this type of parameter finds nothing in this data type
    token_text,
    token_boolean,
    token_coding,
    token_concept,
    token_identifier,
    token_contact,
    string_text,
    string_name,
    string_address,
    string_coding,
    string_concept,
    reference_reference,
    reference_text,
    reference_resource,
    date_text,
    date_period,
    date_timing,
    number_text,
    number_range,
    number_quantity,
    quantity_text,
    quantity_quantity,
    quantity_money,
    quantity_range,
    quantity_sampled,
    uri_text,
    near_position,
    presence,  ///< of Patient.deceased: true unless it says false
};

/// What a parameter of `search` reads from an element of `type`.
ValueKind value_kind(schema::SearchType search, schema::Type type) noexcept;

/// The system that an element's codes are of, as its required binding says; if that is of several, the URL of its value set,
/// which system_of() reads. Lifetime: the program's.
std::string_view implied_system(schema::Element element) noexcept;

/// The system of `code`, where implied_system() gave `implied`; empty if that has it in none, or in several.
std::string_view system_of(std::string_view implied, std::string_view code) noexcept;

}  // namespace annals::core::search
