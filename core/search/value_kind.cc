#include "core/search/value_kind.h"

#include <array>

namespace annals::core::search {

namespace {

using schema::Primitive;
using schema::SearchType;

bool is_text(Primitive primitive) {
    switch (primitive) {
        case Primitive::canonical:
        case Primitive::code:
        case Primitive::id:
        case Primitive::markdown:
        case Primitive::oid:
        case Primitive::string:
        case Primitive::uri:
        case Primitive::url:
        case Primitive::uuid:
            return true;
        default:
            return false;
    }
}

bool is_link(Primitive primitive) {
    return primitive == Primitive::canonical || primitive == Primitive::oid ||
           primitive == Primitive::uri || primitive == Primitive::url ||
           primitive == Primitive::uuid;
}

bool is_number(Primitive primitive) {
    return primitive == Primitive::decimal || primitive == Primitive::integer ||
           primitive == Primitive::positive_int || primitive == Primitive::unsigned_int;
}

bool is_date(Primitive primitive) {
    return primitive == Primitive::date || primitive == Primitive::date_time ||
           primitive == Primitive::instant;
}

ValueKind primitive_kind(SearchType search, Primitive primitive) {
    switch (search) {
        case SearchType::token:
            return primitive == Primitive::boolean              ? ValueKind::token_boolean
                   : is_text(primitive) || is_number(primitive) ? ValueKind::token_text
                                                                : ValueKind::none;
        case SearchType::string:
            return is_text(primitive) ? ValueKind::string_text : ValueKind::none;
        case SearchType::reference:
            return is_link(primitive) ? ValueKind::reference_text : ValueKind::none;
        case SearchType::date:
            return is_date(primitive) ? ValueKind::date_text : ValueKind::none;
        case SearchType::number:
            return is_number(primitive) ? ValueKind::number_text : ValueKind::none;
        case SearchType::quantity:
            return is_number(primitive) ? ValueKind::quantity_text : ValueKind::none;
        case SearchType::uri:
            return is_link(primitive) || primitive == Primitive::string ? ValueKind::uri_text
                                                                        : ValueKind::none;
        default:
            return ValueKind::none;
    }
}

}  // namespace

ValueKind value_kind(SearchType search, schema::Type type) noexcept {
    struct Row {
        SearchType search;
        std::string_view type;
        ValueKind kind;
    };

    static constexpr auto kRows = std::to_array<Row>({
        {SearchType::token, "Coding", ValueKind::token_coding},
        {SearchType::token, "CodeableConcept", ValueKind::token_concept},
        {SearchType::token, "Identifier", ValueKind::token_identifier},
        {SearchType::token, "ContactPoint", ValueKind::token_contact},
        {SearchType::string, "HumanName", ValueKind::string_name},
        {SearchType::string, "Address", ValueKind::string_address},
        {SearchType::string, "Coding", ValueKind::string_coding},
        {SearchType::string, "CodeableConcept", ValueKind::string_concept},
        {SearchType::reference, "Reference", ValueKind::reference_reference},
        {SearchType::date, "Period", ValueKind::date_period},
        {SearchType::date, "Timing", ValueKind::date_timing},
        {SearchType::number, "Range", ValueKind::number_range},
        {SearchType::number, "Quantity", ValueKind::number_quantity},
        {SearchType::quantity, "Quantity", ValueKind::quantity_quantity},
        {SearchType::quantity, "Money", ValueKind::quantity_money},
        {SearchType::quantity, "Range", ValueKind::quantity_range},
        {SearchType::quantity, "SampledData", ValueKind::quantity_sampled},
        {SearchType::special, "Location.position", ValueKind::near_position},
    });
    if (type.is_primitive()) {
        return primitive_kind(search, type.primitive());
    }
    if (type.is_resource()) {
        return search == SearchType::reference ? ValueKind::reference_resource : ValueKind::none;
    }
    for (const Row& row : kRows) {
        if (row.search == search && type.is_a(schema::find_type(row.type))) {
            return row.kind;
        }
    }
    return ValueKind::none;
}

std::string_view implied_system(schema::Element element) noexcept {
    if (element.type().primitive() != Primitive::code ||
        element.strength() != schema::Strength::required || !element.value_set() ||
        !element.value_set().enumerated() || element.value_set().size() == 0) {
        return {};
    }
    const schema::ValueSet codes = element.value_set();
    const std::string_view system = codes[0].system;
    for (std::size_t i = 1; i < codes.size(); ++i) {
        if (codes[i].system != system) {
            return codes.url();
        }
    }
    return system;
}

std::string_view system_of(std::string_view implied, std::string_view code) noexcept {
    if (!implied.starts_with("http://hl7.org/fhir/ValueSet/")) {
        return implied;
    }
    const schema::ValueSet codes = schema::find_value_set(implied);
    std::string_view system;
    for (std::size_t i = 0; codes && i < codes.size(); ++i) {
        if (codes[i].code == code) {
            if (!system.empty()) {
                return {};
            }
            system = codes[i].system;
        }
    }
    return system;
}

}  // namespace annals::core::search
