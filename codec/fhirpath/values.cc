// Values of items: System values of elements, their texts and types.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "Types"; FHIR R4 fhirpath.html "Using FHIR types".

#include "codec/fhirpath/machine.h"
#include "codec/json/unicode.h"

#include <algorithm>

namespace annals::fhirpath {
namespace {

using json::Kind;
using schema::Primitive;

// The scalar `value` of a primitive type as a System value; none if it is a number with too many digits. `text` is its
// string, unescaped.
std::optional<Item> scalar(json::Value value, schema::Type type, std::string_view text) {
    switch (value.node().kind) {
        case Kind::boolean:
            return Item::boolean(value.raw() == "true");
        case Kind::number: {
            const std::optional<Decimal> number = Decimal::parse(value.raw());
            if (!number) {
                return std::nullopt;
            }
            const bool integral = type.primitive() != Primitive::decimal &&
                                  (type.is_primitive() || number->scale() == 0) &&
                                  number->is_integral();
            const std::optional<std::int64_t> integer =
                integral ? number->integer() : std::optional<std::int64_t>();
            return integer ? Item::integer(*integer) : Item::decimal(*number);
        }
        default:
            break;
    }
    std::optional<Temporal> temporal;
    switch (type.primitive()) {
        case Primitive::date:
            temporal = parse_date(text);
            break;
        case Primitive::date_time:
        case Primitive::instant:
            temporal = parse_date_time(text);
            break;
        case Primitive::time:
            temporal = parse_time(text);
            break;
        default:
            break;
    }
    // An invalid date is still a string.
    return temporal ? Item::temporal(*temporal) : Item::string(text);
}

// The value of an element of type Quantity: the unit is the UCUM code if it has one, else `unit`. Nothing if
// it has no value, or a comparator, with which the value is not a number.
std::optional<Quantity> quantity_parts(json::Value element, json::Value& unit) {
    const json::Value number = element["value"];
    if (!number.is(Kind::number) || element["comparator"]) {
        return std::nullopt;
    }
    const std::optional<Decimal> value = Decimal::parse(number.raw());
    if (!value) {
        return std::nullopt;
    }
    Quantity quantity{*value, "1", false};
    unit = {};
    if (element["system"].equals(kUcum) && element["code"].is_string()) {
        unit = element["code"];
        if (unit.equals("a") || unit.equals("mo")) {
            quantity.unit = unit.equals("a") ? "year" : "month";
            quantity.calendar = true;
            unit = {};
        }
    } else if (element["unit"].is_string()) {
        unit = element["unit"];
    } else if (element["code"].is_string()) {
        unit = element["code"];
    }
    return quantity;
}

}  // namespace

namespace types {

Item::Kind system_kind(schema::Type type) {
    switch (type.primitive()) {
        case Primitive::none:
            return Item::Kind::element;
        case Primitive::boolean:
            return Item::Kind::boolean;
        case Primitive::date:
            return Item::Kind::date;
        case Primitive::date_time:
        case Primitive::instant:
            return Item::Kind::date_time;
        case Primitive::decimal:
            return Item::Kind::decimal;
        case Primitive::integer:
        case Primitive::positive_int:
        case Primitive::unsigned_int:
            return Item::Kind::integer;
        case Primitive::time:
            return Item::Kind::time;
        default:
            return Item::Kind::string;
    }
}

std::string_view system_name(Item::Kind kind) {
    constexpr std::array<std::string_view, 10> kNames{"Any",      "Boolean", "Integer",  "Decimal",
                                                      "String",   "Date",    "DateTime", "Time",
                                                      "Quantity", "TypeInfo"};
    return kNames[static_cast<std::size_t>(kind)];
}

schema::Type quantity() {
    static const schema::Type type = schema::find_type("Quantity");
    return type;
}

std::string_view public_name(schema::Type type) {
    return type.kind() == schema::TypeKind::backbone ? type.base().name() : type.name();
}

}  // namespace types

Item Item::boolean(bool value) {
    Item item;
    item.kind_ = Kind::boolean;
    item.boolean_ = value;
    return item;
}

Item Item::integer(std::int64_t value) {
    Item item;
    item.kind_ = Kind::integer;
    item.integer_ = value;
    return item;
}

Item Item::decimal(const Decimal& value) {
    Item item;
    item.kind_ = Kind::decimal;
    item.decimal_ = value;
    return item;
}

Item Item::string(std::string_view value) {
    Item item;
    item.kind_ = Kind::string;
    item.string_ = value;
    return item;
}

Item Item::temporal(const Temporal& value) {
    Item item;
    item.kind_ = value.kind == Temporal::Kind::date        ? Kind::date
                 : value.kind == Temporal::Kind::date_time ? Kind::date_time
                                                           : Kind::time;
    item.temporal_ = value;
    return item;
}

Item Item::quantity(const Quantity& value) {
    Item item;
    item.kind_ = Kind::quantity;
    item.quantity_ = &value;
    return item;
}

bool is_temporal(Item::Kind kind) {
    return kind == Item::Kind::date || kind == Item::Kind::date_time || kind == Item::Kind::time;
}

void append_text(std::string& out, const Item& value) {
    std::array<char, std::max(Decimal::kCharsMax, Temporal::kCharsMax)> buffer;
    switch (value.kind()) {
        case Item::Kind::boolean:
            out += value.as_boolean() ? "true" : "false";
            return;
        case Item::Kind::integer:
            out += std::to_string(value.as_integer());
            return;
        case Item::Kind::decimal:
            out.append(buffer.data(), value.as_decimal().write(buffer.data()));
            return;
        case Item::Kind::string:
            out += value.as_string();
            return;
        case Item::Kind::date:
        case Item::Kind::date_time:
        case Item::Kind::time:
            out.append(buffer.data(), value.as_temporal().write(buffer.data()));
            return;
        case Item::Kind::quantity: {
            const Quantity& quantity = value.as_quantity();
            out.append(buffer.data(), quantity.value.write(buffer.data()));
            out += quantity.calendar ? " " : " '";
            out += quantity.unit;
            out += quantity.calendar ? "" : "'";
            return;
        }
        case Item::Kind::element:
            out += value.value().raw();
            return;
        case Item::Kind::type_info:
            out += type_name(value);
            return;
    }
}

std::optional<Item> to_system(const Item& item, SystemStorage& storage) {
    if (!item.is_element()) {
        return item;
    }
    const json::Value value = item.value();
    if (!value) {
        return std::nullopt;
    }
    if (value.is_object()) {
        json::Value unit;
        const std::optional<Quantity> quantity =
            item.type().is_a(types::quantity()) ? quantity_parts(value, unit) : std::nullopt;
        if (!quantity) {
            return item;
        }
        storage.quantity = *quantity;
        if (unit) {
            storage.text = unit.string();
            storage.quantity.unit = storage.text;
        }
        return Item::quantity(storage.quantity);
    }
    if (value.is_array() || value.is(Kind::null)) {
        return item;
    }
    std::string_view text = value.raw_string();
    if (value.is_string() && value.node().escaped) {
        storage.text = value.string();
        text = storage.text;
    }
    return scalar(value, item.type(), text);
}

std::string to_text(const Item& item) {
    SystemStorage storage;
    std::string text;
    const std::optional<Item> value = to_system(item, storage);
    if (value && item.is_element() && item.value().is_object()) {
        return std::string(item.value().raw());
    }
    if (value) {
        append_text(text, *value);
    }
    return text;
}

std::string type_name(const Item& item) {
    if (item.is_element()) {
        return std::string(types::public_name(item.type()));
    }
    return "System." + std::string(types::system_name(item.kind()));
}

bool Machine::string_of(json::Value value, std::string_view& out) {
    if (!value.node().escaped) {
        out = value.raw_string();
        return true;
    }
    scratch_.clear();
    json::append_unescaped(scratch_, value.raw_string());
    return keep(scratch_, out);
}

bool Machine::system_value(const Item& item, std::optional<Item>& out) {
    if (!item.is_element()) {
        out = item;
        return true;
    }
    const json::Value value = item.value();
    if (!value) {
        out.reset();
        return true;
    }
    switch (value.node().kind) {
        case Kind::null:
            out.reset();
            return true;
        case Kind::object:
            return quantity_of(item, out);
        case Kind::array:
            out = item;
            return true;
        default:
            break;
    }
    std::string_view text;
    if (value.is_string() && (!string_of(value, text) || !step(text.size() / 64))) {
        return false;  // a time may have any number of decimals
    }
    out = scalar(value, item.type(), text);
    return out || fail("a number with too many digits");
}

bool Machine::quantity_of(const Item& element, std::optional<Item>& out) {
    out = element;
    if (!element.type().is_a(types::quantity())) {
        return true;
    }
    json::Value unit;
    const std::optional<Quantity> parts = quantity_parts(element.value(), unit);
    if (!parts) {
        return true;
    }
    char* memory = allocate(sizeof(Quantity));
    if (memory == nullptr) {
        return false;
    }
    auto* quantity = new (memory) Quantity(*parts);
    if (unit && !string_of(unit, quantity->unit)) {
        return false;
    }
    out = Item::quantity(*quantity);
    return true;
}

bool Machine::is_type(const Item& item, const TypeSpecifier& type) const {
    if (item.is_element()) {
        return type.fhir && item.type().is_a(type.fhir);
    }
    return (type.system_kinds >> static_cast<unsigned>(item.kind()) & 1) != 0;
}

bool Machine::is_exactly(const Item& item, const TypeSpecifier& type) const {
    if (item.is_element() && item.type().is_primitive()) {
        return item.type() == type.fhir;
    }
    return is_type(item, type);
}

}  // namespace annals::fhirpath
