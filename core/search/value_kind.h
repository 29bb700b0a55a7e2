// ValueKind: how a value is indexed for a parameter, by the parameter's type and the value's data type.
//
// Layer:   core/search; determined once for each parameter and element, not for each resource.
// Spec:    FHIR R4 search.html, the table of data types for each type of parameter.
// Threads: plain functions.

#pragma once

#include "codec/schema/schema.h"

#include <cstdint>
#include <string_view>

namespace annals::core::search {

/// How a value is indexed.
enum class ValueKind : std::uint8_t {
    none,  ///< this type of parameter ignores this data type
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
    presence,  ///< of Patient.deceased: true unless the value is false
};

/// How a parameter of type `search` indexes an element of `type`.
ValueKind value_kind(schema::SearchType search, schema::Type type) noexcept;

/// The system of an element's codes, by its required binding; if that has several systems, the URL of its value set,
/// for system_of(). Lifetime: static.
std::string_view implied_system(schema::Element element) noexcept;

/// The system of `code`; `implied` is the result of implied_system(). Empty if no system, or more than one, has the code.
std::string_view system_of(std::string_view implied, std::string_view code) noexcept;

}  // namespace annals::core::search
