// What items are worth: System values of elements, equality, equivalence, order, hashes.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "Equality", "Comparison", "Types"; FHIR R4 fhirpath.html "Using FHIR types".

#include "codec/fhirpath/machine.h"
#include "codec/fhirpath/text.h"
#include "codec/json/unicode.h"

#include <algorithm>

namespace annals::fhirpath {
namespace {

using json::Kind;
using schema::Primitive;

constexpr std::string_view kUcum = "http://unitsofmeasure.org";

schema::Type quantity_type() {
    static const schema::Type type = schema::find_type("Quantity");
    return type;
}

std::uint64_t mix(std::uint64_t hash) {
    hash ^= hash >> 32;
    hash *= 0x9e3779b97f4a7c15ULL;
    return hash ^ (hash >> 29);
}

std::uint64_t hash_text(std::string_view text) {
    std::uint64_t hash = text.size() * 0xc2b2ae3d27d4eb4fULL;
    std::size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + i, 8);
        hash = mix(hash ^ word);
    }
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i, text.size() - i);
    return mix(hash ^ word);
}

Truth truth(Order order) {
    return order == Order::equal     ? Truth::yes
           : order == Order::unknown ? Truth::unknown
                                     : Truth::no;
}

Order order(std::strong_ordering ordering) {
    return ordering < 0 ? Order::less : ordering > 0 ? Order::greater : Order::equal;
}

// Calendar years and months don't compare with anything that is defined in seconds; the number of months of
// one, or 0.
int calendar_months(const Quantity& quantity) {
    if (!quantity.calendar) {
        return 0;
    }
    return quantity.unit.starts_with("year") ? 12 : quantity.unit.starts_with("month") ? 1 : 0;
}

std::optional<Unit> unit_of(const Quantity& quantity) {
    if (const int months = calendar_months(quantity)) {
        return parse_unit(months == 12 ? "a" : "mo");
    }
    return parse_unit(quantity.calendar ? definite_duration(quantity.unit) : quantity.unit);
}

Order compare_quantities(const Quantity& a, const Quantity& b) {
    if (a.unit == b.unit) {
        return order(a.value <=> b.value);
    }
    const int months_a = calendar_months(a);
    const int months_b = calendar_months(b);
    if (months_a != 0 && months_b != 0) {
        const auto x = Decimal::multiply(a.value, Decimal(months_a));
        const auto y = Decimal::multiply(b.value, Decimal(months_b));
        return x && y ? order(*x <=> *y) : Order::unknown;
    }
    const std::optional<Unit> unit_a = unit_of(a);
    const std::optional<Unit> unit_b = unit_of(b);
    if (months_a != 0 || months_b != 0 || !unit_a || !unit_b || !unit_a->same_dimension(*unit_b)) {
        return Order::unknown;
    }
    // a/b compares as a's numerator times b's denominator does: nothing is rounded.
    const auto x = Decimal::multiply(a.value, unit_a->numerator);
    const auto y = Decimal::multiply(b.value, unit_b->numerator);
    const auto left = x ? Decimal::multiply(*x, unit_b->denominator) : std::nullopt;
    const auto right = y ? Decimal::multiply(*y, unit_a->denominator) : std::nullopt;
    return left && right ? order(*left <=> *right) : Order::unknown;
}

bool equivalent_decimals(const Decimal& a, const Decimal& b) {
    const Decimal x = a.normalized();
    const Decimal y = b.normalized();
    const int scale = std::min(x.scale(), y.scale());
    const auto left = x.rounded(scale);
    const auto right = y.rounded(scale);
    return left && right && *left == *right;
}

bool equivalent_quantities(const Quantity& a, const Quantity& b) {
    if (a.unit == b.unit) {
        return equivalent_decimals(a.value, b.value);
    }
    const std::optional<Unit> unit_a = unit_of(a);
    const std::optional<Unit> unit_b = unit_of(b);
    if (!unit_a || !unit_b || !unit_a->same_dimension(*unit_b)) {
        return false;
    }
    // In the larger unit, so that the less precise of the two decides.
    const bool to_a = compare_size(*unit_a, *unit_b) >= 0;
    const auto converted = to_a ? fhirpath::convert(b.value, *unit_b, *unit_a)
                                : fhirpath::convert(a.value, *unit_a, *unit_b);
    return converted && equivalent_decimals(*converted, to_a ? a.value : b.value);
}

Decimal decimal_of(const Item& number) {
    return number.kind() == Item::Kind::integer ? Decimal(number.as_integer())
                                                : number.as_decimal();
}

bool is_number(const Item& item) {
    return item.kind() == Item::Kind::integer || item.kind() == Item::Kind::decimal;
}

bool is_date(Item::Kind kind) {
    return kind == Item::Kind::date || kind == Item::Kind::date_time;
}

// A number as a quantity of unit one, for comparing with quantities.
Quantity quantity_from(const Item& item) {
    return item.kind() == Item::Kind::quantity ? item.as_quantity()
                                               : Quantity{decimal_of(item), "1", false};
}

// The scalar `value` of a primitive type as a System value; `text` is its string, unescaped.
bool scalar(json::Value value, schema::Type type, std::string_view text, Item& out) {
    switch (value.node().kind) {
        case Kind::boolean:
            out = Item::boolean(value.raw() == "true");
            return true;
        case Kind::number: {
            const std::optional<Decimal> number = Decimal::parse(value.raw());
            if (!number) {
                return false;
            }
            const bool integral = type.primitive() != Primitive::decimal &&
                                  (type.is_primitive() || number->scale() == 0) &&
                                  number->is_integral();
            const std::optional<std::int64_t> integer =
                integral ? number->integer() : std::optional<std::int64_t>();
            out = integer ? Item::integer(*integer) : Item::decimal(*number);
            return true;
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
    // What is no date although it should be one is still a string.
    out = temporal ? Item::temporal(*temporal) : Item::string(text);
    return true;
}

// The quantity that an element of type Quantity means: the UCUM code if it has one, else the unit. Nothing if
// it has no value, or a comparator that makes the value something else than a number.
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
        const std::string_view code = unit.raw_string();
        if (code == "a" || code == "mo") {
            unit = {};
            quantity.unit = code == "a" ? "year" : "month";
            quantity.calendar = true;
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
    return is_date(kind) || kind == Item::Kind::time;
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
            item.type().is_a(quantity_type()) ? quantity_parts(value, unit) : std::nullopt;
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
    Item out;
    return scalar(value, item.type(), text, out) ? std::optional(out) : std::nullopt;
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

bool Machine::system_value(const Item& item, Item& out, bool& present) {
    present = true;
    if (!item.is_element()) {
        out = item;
        return true;
    }
    const json::Value value = item.value();
    if (!value) {
        out = item;
        present = false;
        return true;
    }
    switch (value.node().kind) {
        case Kind::null:
            out = item;
            present = false;
            return true;
        case Kind::object:
            return quantity_of(item, out, present);
        case Kind::array:
            out = item;
            return true;
        default:
            break;
    }
    std::string_view text;
    if (value.is_string() && !string_of(value, text)) {
        return false;
    }
    return scalar(value, item.type(), text, out) || fail("a number with too many digits");
}

bool Machine::quantity_of(const Item& element, Item& out, bool& present) {
    present = true;
    out = element;
    if (!element.type().is_a(quantity_type())) {
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

bool Machine::equal(Range a, Range b, Truth& out) {
    if (a.size() != b.size()) {
        out = Truth::no;
        return true;
    }
    out = Truth::yes;
    for (std::uint32_t i = 0; i < a.size(); ++i) {
        Truth one = Truth::unknown;
        if (!equal_items(at(a.begin + i), at(b.begin + i), one)) {
            return false;
        }
        if (one == Truth::no) {
            out = Truth::no;
            return true;
        }
        out = one == Truth::unknown ? one : out;
    }
    return true;
}

bool Machine::equal_items(const Item& a, const Item& b, Truth& out) {
    Item x;
    Item y;
    bool has_x = false;
    bool has_y = false;
    if (!step() || !system_value(a, x, has_x) || !system_value(b, y, has_y)) {
        return false;
    }
    out = Truth::no;
    if (!has_x || !has_y) {
        if (!has_x && !has_y && a.is_element() && b.is_element()) {
            bool same = false;
            if (!equal_json(a.sibling(), b.sibling(), false, same)) {
                return false;
            }
            out = same ? Truth::yes : Truth::no;
        }
        return true;
    }
    if (x.kind() == Item::Kind::string && y.kind() == Item::Kind::string) {
        out = x.as_string() == y.as_string() ? Truth::yes : Truth::no;
        return step(x.as_string().size() / 64);
    }
    if (x.kind() == Item::Kind::integer && y.kind() == Item::Kind::integer) {
        out = x.as_integer() == y.as_integer() ? Truth::yes : Truth::no;
        return true;
    }
    if (is_number(x) && is_number(y)) {
        out = decimal_of(x) == decimal_of(y) ? Truth::yes : Truth::no;
        return true;
    }
    if (x.kind() == Item::Kind::quantity || y.kind() == Item::Kind::quantity) {
        const bool comparable = (is_number(x) || x.kind() == Item::Kind::quantity) &&
                                (is_number(y) || y.kind() == Item::Kind::quantity);
        // Reading units takes longer than most.
        if (!step(comparable ? 100 : 1)) {
            return false;
        }
        out =
            comparable ? truth(compare_quantities(quantity_from(x), quantity_from(y))) : Truth::no;
        return true;
    }
    if ((is_date(x.kind()) && is_date(y.kind())) ||
        (x.kind() == Item::Kind::time && y.kind() == Item::Kind::time)) {
        out = truth(fhirpath::compare(x.as_temporal(), y.as_temporal()));
        return true;
    }
    if (x.kind() != y.kind()) {
        return true;
    }
    switch (x.kind()) {
        case Item::Kind::boolean:
            out = x.as_boolean() == y.as_boolean() ? Truth::yes : Truth::no;
            return true;
        case Item::Kind::type_info:
            out = x.type() == y.type() && x.kind_of_ == y.kind_of_ ? Truth::yes : Truth::no;
            return true;
        case Item::Kind::element: {
            bool same = false;
            if (!equal_json(x.value(), y.value(), false, same)) {
                return false;
            }
            out = same ? Truth::yes : Truth::no;
            return true;
        }
        default:
            return true;
    }
}

bool Machine::equal_json(json::Value a, json::Value b, bool equivalence, bool& out) {
    out = false;
    if (!step()) {
        return false;
    }
    if (!a || !b) {
        out = !a && !b;
        return true;
    }
    if (a.node().kind != b.node().kind) {
        return true;
    }
    if (a.raw() == b.raw()) {
        out = true;
        return step(a.raw().size() / 64);
    }
    switch (a.node().kind) {
        case Kind::null:
        case Kind::boolean:
            return true;
        case Kind::number: {
            const std::optional<Decimal> x = Decimal::parse(a.raw());
            const std::optional<Decimal> y = Decimal::parse(b.raw());
            out = x && y && (equivalence ? equivalent_decimals(*x, *y) : *x == *y);
            return true;
        }
        case Kind::string:
            if (equivalence) {
                std::string_view x;
                std::string_view y;
                if (!string_of(a, x) || !string_of(b, y) || !step((x.size() + y.size()) / 16)) {
                    return false;
                }
                out = equivalent_strings(x, y);
            } else if (a.node().escaped || b.node().escaped) {
                out = a.string() == b.string();
            }
            return true;
        case Kind::array: {
            if (a.size() != b.size()) {
                return true;
            }
            auto other = b.elements().begin();
            for (const json::Value x : a.elements()) {
                bool same = false;
                if (!equivalence) {
                    if (!equal_json(x, *other, false, same)) {
                        return false;
                    }
                    ++other;
                } else {
                    for (const json::Value y : b.elements()) {
                        if (!same && !equal_json(x, y, true, same)) {
                            return false;
                        }
                    }
                }
                if (!same) {
                    return true;
                }
            }
            out = true;
            return true;
        }
        case Kind::object:
            if (a.size() != b.size()) {
                return true;
            }
            for (const auto [key, value] : a.members()) {
                bool same = false;
                bool found = false;
                if (!step(b.size())) {
                    return false;
                }
                for (const auto [other_key, other] : b.members()) {
                    if (!found && key.raw() == other_key.raw()) {
                        found = true;
                        if (!equal_json(value, other, equivalence, same)) {
                            return false;
                        }
                    }
                }
                if (!same) {
                    return true;
                }
            }
            out = true;
            return true;
    }
    return true;
}

bool Machine::equivalent(Range a, Range b, bool& out) {
    out = a.size() == b.size();
    if (!out) {
        return true;
    }
    // In any order; an item of b matches one of a only.
    std::vector<bool> taken(a.size() > 1 ? b.size() : 0);
    for (std::uint32_t i = a.begin; i < a.end; ++i) {
        bool found = false;
        for (std::uint32_t k = 0; k < b.size() && !found; ++k) {
            if (!taken.empty() && taken[k]) {
                continue;
            }
            if (!equivalent_items(at(i), at(b.begin + k), found)) {
                return false;
            }
            if (found && !taken.empty()) {
                taken[k] = true;
            }
        }
        if (!found) {
            out = false;
            return true;
        }
    }
    return true;
}

bool Machine::equivalent_items(const Item& a, const Item& b, bool& out) {
    Item x;
    Item y;
    bool has_x = false;
    bool has_y = false;
    out = false;
    if (!step() || !system_value(a, x, has_x) || !system_value(b, y, has_y)) {
        return false;
    }
    if (!has_x || !has_y) {
        return has_x || has_y || equal_json(a.sibling(), b.sibling(), true, out);
    }
    if (x.kind() == Item::Kind::string && y.kind() == Item::Kind::string) {
        out = equivalent_strings(x.as_string(), y.as_string());
        return step((x.as_string().size() + y.as_string().size()) / 16);
    }
    if (is_number(x) && is_number(y)) {
        out = equivalent_decimals(decimal_of(x), decimal_of(y));
    } else if ((x.kind() == Item::Kind::quantity || is_number(x)) &&
               (y.kind() == Item::Kind::quantity || is_number(y))) {
        out = equivalent_quantities(quantity_from(x), quantity_from(y));
        return step(100);
    } else if (is_temporal(x.kind()) && is_temporal(y.kind())) {
        out = fhirpath::equivalent(x.as_temporal(), y.as_temporal());
    } else if (x.is_element() && y.is_element()) {
        return equal_json(x.value(), y.value(), true, out);
    } else {
        Truth same = Truth::no;
        if (!equal_items(x, y, same)) {
            return false;
        }
        out = same == Truth::yes;
    }
    return true;
}

bool Machine::compare_items(const Item& a, const Item& b, Order& out) {
    Item x;
    Item y;
    bool has_x = false;
    bool has_y = false;
    if (!step() || !system_value(a, x, has_x) || !system_value(b, y, has_y)) {
        return false;
    }
    out = Order::unknown;
    if (!has_x || !has_y) {
        return true;
    }
    if (x.kind() == Item::Kind::integer && y.kind() == Item::Kind::integer) {
        out = order(x.as_integer() <=> y.as_integer());
        return true;
    }
    if (is_number(x) && is_number(y)) {
        out = order(decimal_of(x) <=> decimal_of(y));
        return true;
    }
    if (x.kind() == Item::Kind::string && y.kind() == Item::Kind::string) {
        // Bytes of UTF-8 have the order of its characters.
        const int order_of_bytes = x.as_string().compare(y.as_string());
        out = order_of_bytes < 0 ? Order::less : order_of_bytes > 0 ? Order::greater : Order::equal;
        return true;
    }
    if ((is_date(x.kind()) && is_date(y.kind())) ||
        (x.kind() == Item::Kind::time && y.kind() == Item::Kind::time)) {
        out = fhirpath::compare(x.as_temporal(), y.as_temporal());
        return true;
    }
    if ((x.kind() == Item::Kind::quantity || is_number(x)) &&
        (y.kind() == Item::Kind::quantity || is_number(y))) {
        out = compare_quantities(quantity_from(x), quantity_from(y));
        return step(100);
    }
    return fail(type_name(x) + " and " + type_name(y) + " can't be compared");
}

std::uint64_t Machine::hash_json(json::Value value) {
    if (!value) {
        return 1;
    }
    steps_ += 1;
    switch (value.node().kind) {
        case Kind::string:
            return value.node().escaped ? 2 : hash_text(value.raw_string());
        case Kind::array: {
            std::uint64_t hash = 3;
            for (const json::Value element : value.elements()) {
                hash = mix(hash ^ hash_json(element));
            }
            return hash;
        }
        case Kind::object: {
            // Members count in any order.
            std::uint64_t hash = 4;
            for (const auto [key, member] : value.members()) {
                hash += mix(hash_text(key.raw_string()) ^ hash_json(member));
            }
            return hash;
        }
        default:
            return 5;  // 1.0 equals 1
    }
}

std::uint64_t Machine::hash_of(const Item& item) {
    if (item.is_element()) {
        const json::Value value = item.value();
        if (!value || value.is(Kind::null)) {
            return hash_json(item.sibling());
        }
        if (value.is_object() || value.is_array()) {
            return item.type().is_a(quantity_type()) ? 6 : hash_json(value);
        }
        if (value.is_string()) {
            const Item::Kind kind = types::system_kind(item.type());
            // Dates of different texts can be equal; escapes too.
            return is_temporal(kind)      ? 7
                   : value.node().escaped ? hash_text(value.string())
                                          : hash_text(value.raw_string());
        }
        if (value.is(Kind::boolean)) {
            return value.raw() == "true" ? 8 : 9;
        }
        const std::optional<Decimal> number = Decimal::parse(value.raw());
        return number ? hash_of(Item::decimal(*number)) : 10;
    }
    switch (item.kind()) {
        case Item::Kind::boolean:
            return item.as_boolean() ? 8 : 9;
        case Item::Kind::integer:
            return mix(static_cast<std::uint64_t>(item.as_integer()) + 11);
        case Item::Kind::decimal: {
            const std::optional<std::int64_t> whole = item.as_decimal().integer();
            return whole ? mix(static_cast<std::uint64_t>(*whole) + 11) : 12;
        }
        case Item::Kind::string:
            return hash_text(item.as_string());
        case Item::Kind::quantity:
            return 6;
        case Item::Kind::type_info:
            return 13;
        default:
            return 7;
    }
}

bool Machine::contains(Range range, const Item& item, bool& out) {
    const Item wanted = item;
    out = false;
    for (std::uint32_t i = range.begin; i < range.end && !out; ++i) {
        Truth same = Truth::no;
        if (!equal_items(at(i), wanted, same)) {
            return false;
        }
        out = same == Truth::yes;
    }
    return true;
}

bool Machine::distinct(Range range, std::uint32_t to) {
    constexpr std::uint32_t kSmall = 8;
    std::uint32_t kept = to;
    if (range.size() <= kSmall) {
        for (std::uint32_t i = range.begin; i < range.end; ++i) {
            bool seen = false;
            if (!contains({to, kept}, at(i), seen)) {
                return false;
            }
            if (!seen) {
                stack_[kept++] = at(i);
            }
        }
        top_ = kept;
        return true;
    }
    // Open addressing over hashes.
    std::size_t slots = 32;
    while (slots < std::size_t{range.size()} * 2) {
        slots *= 2;
    }

    struct Slot {
        std::uint64_t hash = 0;
        std::uint32_t item = kNone;
    };

    std::vector<Slot> table(slots);
    for (std::uint32_t i = range.begin; i < range.end; ++i) {
        const std::uint64_t hash = hash_of(at(i));
        if (!step()) {
            return false;
        }
        std::size_t slot = mix(hash) & (slots - 1);
        bool seen = false;
        for (; table[slot].item != kNone && !seen; slot = (slot + 1) & (slots - 1)) {
            if (table[slot].hash == hash) {
                Truth same = Truth::no;
                if (!equal_items(at(table[slot].item), at(i), same)) {
                    return false;
                }
                seen = same == Truth::yes;
            }
            if (!step()) {
                return false;
            }
        }
        if (!seen) {
            table[slot] = {hash, kept};
            stack_[kept++] = at(i);
        }
    }
    top_ = kept;
    return true;
}

}  // namespace annals::fhirpath
