#include "core/search/values.h"

#include "codec/json/unicode.h"
#include "core/base/ids.h"
#include "core/search/canonical_links.h"
#include "core/search/fold.h"
#include "storage/index.h"

#include <string.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace annals::core::search {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kBooleanSystem = "http://terminology.hl7.org/CodeSystem/special-values";
constexpr std::string_view kCurrencySystem = "urn:iso:std:iso:4217";

/// The raw characters of a string without a call.
std::string_view raw_of(json::Value value) {
    const json::Node& node = value.node();
    return {value.tree().text().data() + node.begin + 1, node.end - node.begin - 2};
}

/// Where the last `c` stands before `end`; npos if there is none.
std::size_t last_of(std::string_view text, char c, std::size_t end) noexcept {
    if (end == 0) {
        return std::string_view::npos;  // of no text, which may be null
    }
    const void* const found = ::memrchr(text.data(), c, end);
    return found == nullptr
               ? std::string_view::npos
               : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

std::optional<double> number_of_member(json::Value object, std::string_view member) {
    const json::Value value = object[member];
    return value.is(json::Kind::number) ? number_value(value.raw()) : std::nullopt;
}

/// The element itself, or each of an array.
template <typename See>
void each(json::Value value, const See& see) {
    if (value.is_array()) {
        for (const json::Value element : value.elements()) {
            see(element);
        }
    } else if (value) {
        see(value);
    }
}

}  // namespace

Columns::Columns(Column of) noexcept
    : column(of),
      text(beside(of, ":text")),
      units(beside(of, ":units")),
      identifier(beside(of, ":identifier")),
      latitude(beside(of, ":lat")),
      longitude(beside(of, ":lon")),
      present(search::present(of)) {
}

ReferenceText read_reference(std::string_view text, std::string_view base_url) noexcept {
    ReferenceText target;
    target.unversioned = text;
    constexpr std::string_view kHistory = "/_history";
    const std::size_t last = last_of(text, '/', text.size());
    if (last == std::string_view::npos) {
        return target;
    }
    if (text.substr(0, last).ends_with(kHistory)) {
        target.unversioned = text.substr(0, last - kHistory.size());
        target.versioned = true;
    }
    std::string_view path = target.unversioned;
    target.local = true;
    if (!base_url.empty() && path.starts_with(base_url) && path.size() > base_url.size() &&
        path[base_url.size()] == '/') {
        path.remove_prefix(base_url.size() + 1);
    }
    const std::size_t slash = last_of(path, '/', path.size());
    if (slash == std::string_view::npos || slash == 0) {
        target.local = false;
        return target;
    }
    const std::size_t before = last_of(path, '/', slash);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    target.type = find_resource_type(path.substr(begin, slash - begin));
    target.id = path.substr(slash + 1);
    if (!target.type || !is_resource_id(target.id)) {
        target.type = std::nullopt;
        target.local = false;
        return target;
    }
    target.local = begin == 0;
    return target;
}

std::optional<SampledBounds> sampled_bounds(json::Value sampled) {
    // Each value is origin + factor * what is written.
    const auto zero = number_of_member(sampled["origin"], "value");
    const double factor = number_of_member(sampled, "factor").value_or(1);
    if (!zero) {
        return std::nullopt;
    }
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    const std::string text = sampled["data"].string();
    const std::string_view data = text;
    for (std::size_t at = 0; at < data.size();) {
        const std::size_t end = std::min(data.find(' ', at), data.size());
        const std::string_view one = data.substr(at, end - at);
        const auto number = one == "L"   ? number_of_member(sampled, "lowerLimit")
                            : one == "U" ? number_of_member(sampled, "upperLimit")
                                         : number_value(one);
        if (number) {
            low = std::min(low, *zero + factor * *number);
            high = std::max(high, *zero + factor * *number);
        }
        at = end + 1;
    }
    return low <= high ? std::optional(SampledBounds{low, high}) : std::nullopt;
}

ValueWriter::ValueWriter(std::uint64_t seed, std::string base_url)
    : seed_(seed), base_url_(std::move(base_url)) {
}

std::string_view ValueWriter::text_of(json::Value value, std::size_t scratch) {
    if (!value.is_string()) {
        return {};
    }
    if (!value.node().escaped) {
        return raw_of(value);
    }
    scratch_[scratch].clear();
    json::append_unescaped(scratch_[scratch], raw_of(value));
    return scratch_[scratch];
}

void ValueWriter::term(Term term) {
    if (out_->terms.size() < kTermsMax) {
        out_->terms.push_back(term);
    }
}

void ValueWriter::term(const Use& use, Term of_value) {
    if (use.pairs == nullptr) {
        term(of_value);
    } else if (!use.is_key && use.pairs->values.terms.size() < kPairedMax) {
        use.pairs->values.terms.push_back(of_value);
    }
}

void ValueWriter::terms_present(std::span<const Use> uses) {
    for (const Use& use : uses) {
        if (use.pairs == nullptr) {
            term(use.columns->present);
        } else {
            (use.is_key ? use.pairs->has_key : use.pairs->has_value) = true;
        }
    }
}

void ValueWriter::interval(Column column, std::int64_t low, std::int64_t high) {
    if (low <= high && out_->intervals.size() < kIntervalsMax) {
        out_->intervals.push_back({column, low, high});
    }
}

void ValueWriter::interval(const Use& use, std::int64_t low, std::int64_t high) {
    if (use.pairs == nullptr) {
        interval(use.columns->column, low, high);
    } else if (low <= high && use.pairs->values.intervals.size() < kPairedMax) {
        use.pairs->values.intervals.push_back({0, low, high});
    }
}

void ValueWriter::link(const Use& use, std::uint64_t target) {
    if (use.pairs == nullptr && out_->links.size() < kLinksMax) {
        out_->links.push_back({use.columns->column, target});
    }
}

void ValueWriter::text(Column column, std::string_view text) {
    if (!text.empty() && out_->characters.size() + text.size() <= kTextBytesMax) {
        out_->add_text(column, text);
    }
}

void ValueWriter::text(const Use& use, Column column, std::string_view text) {
    if (use.pairs == nullptr) {
        this->text(column, text);
    } else if (!use.is_key && column == use.columns->column && !text.empty() &&
               use.pairs->values.texts.size() < kPairedMax) {
        use.pairs->values.add_text(column, text);
    }
}

void ValueWriter::folded_text(std::string_view from, std::span<const Use> uses,
                              Column Columns::* column) {
    fold(from, folded_);
    for (const Use& use : uses) {
        text(use, use.columns->*column, folded_);
    }
}

/// A code that can have no system: found by itself and as `|code`.
void ValueWriter::bare_code(std::string_view code, std::span<const Use> uses,
                            Column Columns::* column) {
    const TextHash hash = text_hash(code);
    const TextHash none = text_hash({});
    for (const Use& use : uses) {
        if (use.is_key) {
            key(*use.pairs, {}, code, none, hash);
            continue;
        }
        term(use, token(use.columns->*column, hash));
        term(use, token(use.columns->*column, none, hash));
    }
}

void ValueWriter::coded(std::optional<std::string_view> system, std::string_view code,
                        std::span<const Use> uses, Column Columns::* column) {
    const TextHash code_hash = text_hash(code);
    const TextHash system_hash = text_hash(system.value_or(std::string_view()));
    for (const Use& use : uses) {
        if (use.is_key) {
            if (!code.empty()) {
                key(*use.pairs, system.value_or(std::string_view()), code, system_hash, code_hash);
            }
            continue;
        }
        const Column of = use.columns->*column;
        if (!code.empty()) {
            term(use, token(of, code_hash));
            term(use, token(of, system_hash, code_hash));
        }
        if (system) {
            term(use, token_system(of, system_hash));
        }
    }
}

void ValueWriter::write(ValueKind kind, std::string_view text, std::span<const Use> uses,
                        std::string_view system) {
    if (text.empty()) {
        return;
    }
    switch (kind) {
        case ValueKind::token_text:
            bare_code(text, uses, &Columns::column);
            if (!system.empty()) {
                coded(system, text, uses, &Columns::column);
            }
            break;
        case ValueKind::token_boolean:
            bare_code(text, uses, &Columns::column);
            coded(kBooleanSystem, text, uses, &Columns::column);
            break;
        case ValueKind::string_text:
            string_value(text, uses);
            break;
        case ValueKind::reference_text: {
            const ReferenceText target = read_reference(text, base_url_);
            reference_text(text, target, key_of(target), uses);
            if (!target.local && !text.starts_with('#')) {
                canonical(text, uses);
            }
            break;
        }
        case ValueKind::date_text:
            date(text, uses);
            break;
        case ValueKind::number_text:
            if (const auto number = number_value(text)) {
                number_interval(ordered(*number), ordered(*number), uses);
            }
            break;
        case ValueKind::quantity_text:
            if (const auto number = number_value(text)) {
                in_unit("\x1F\x1F", ordered(*number), ordered(*number), uses);
            }
            break;
        case ValueKind::uri_text: {
            const std::size_t bar = text.find('|');
            for (const Use& use : uses) {
                term(use, exact(use.columns->column, text));
                if (bar != std::string_view::npos) {
                    term(use, exact(use.columns->column, text.substr(0, bar)));
                }
                if (text.size() <= kUriBytesMax) {
                    this->text(use, use.columns->column, text);
                }
            }
            break;
        }
        default:
            return;
    }
    terms_present(uses);
}

void ValueWriter::write(ValueKind kind, json::Value value, std::span<const Use> uses,
                        std::string_view system) {
    if (!value || value.is(json::Kind::null)) {
        return;
    }
    switch (kind) {
        case ValueKind::none:
            return;
        case ValueKind::token_text:
        case ValueKind::string_text:
        case ValueKind::reference_text:
        case ValueKind::uri_text:
        case ValueKind::date_text:
            // A number or boolean is there by its text: an integer as a code.
            write(kind, value.is_string() ? text_of(value, 0) : value.raw(), uses, system);
            return;
        case ValueKind::token_boolean:
        case ValueKind::number_text:
        case ValueKind::quantity_text:
            write(kind, value.raw(), uses, system);
            return;
        case ValueKind::presence:
            presence_ = presence_ || !value.is(json::Kind::boolean) || value.raw() != "false";
            return;
        case ValueKind::reference_reference:
            reference(value, uses);
            return;
        case ValueKind::reference_resource:
            reference_resource(value, uses);
            return;
        default:
            break;
    }
    if (!value.is_object()) {
        return;
    }
    switch (kind) {
        case ValueKind::token_coding:
            coding(value, uses);
            break;
        case ValueKind::token_concept:
            concept_codes(value, uses);
            break;
        case ValueKind::token_identifier:
            identifier(value, uses, &Columns::column);
            break;
        case ValueKind::token_contact:
            contact(value, uses);
            break;
        case ValueKind::string_name: {
            static constexpr auto kParts =
                std::to_array<std::string_view>({"text", "family", "given", "prefix", "suffix"});
            string_parts(value, uses, kParts);
            break;
        }
        case ValueKind::string_address: {
            static constexpr auto kParts = std::to_array<std::string_view>(
                {"text", "line", "city", "district", "state", "postalCode", "country"});
            string_parts(value, uses, kParts);
            break;
        }
        case ValueKind::string_coding:
            string_display(value, "display", uses);
            break;
        case ValueKind::string_concept:
            string_display(value, "text", uses);
            each(value["coding"],
                 [&](json::Value inner) { string_display(inner, "display", uses); });
            break;
        case ValueKind::date_period:
            period(value, uses);
            break;
        case ValueKind::date_timing:
            timing(value, uses);
            break;
        case ValueKind::number_range:
            number_bounds(value, uses);
            break;
        case ValueKind::number_quantity:
            if (const auto number = number_of_member(value, "value")) {
                number_interval(ordered(*number), ordered(*number), uses);
            }
            break;
        case ValueKind::quantity_quantity:
            quantity(value, uses);
            break;
        case ValueKind::quantity_money:
            money(value, uses);
            break;
        case ValueKind::quantity_range:
            quantity_range(value, uses);
            break;
        case ValueKind::quantity_sampled:
            sampled(value, uses);
            break;
        case ValueKind::near_position:
            position(value, uses);
            break;
        default:
            return;
    }
    terms_present(uses);
}

void ValueWriter::coding(json::Value value, std::span<const Use> uses) {
    std::optional<std::string_view> system;
    std::string_view code;
    for (const auto [key, member] : value.members()) {
        const std::string_view name = raw_of(key);
        if (name == "system" && member.is_string()) {
            system = text_of(member, 0);
        } else if (name == "code") {
            code = text_of(member, 1);
        } else if (name == "display") {
            folded_text(text_of(member, 2), uses, &Columns::text);
        }
    }
    coded(system, code, uses, &Columns::column);
}

void ValueWriter::concept_codes(json::Value value, std::span<const Use> uses) {
    for (const auto [key, member] : value.members()) {
        const std::string_view name = raw_of(key);
        if (name == "coding") {
            each(member, [&](json::Value inner) { coding(inner, uses); });
        } else if (name == "text") {
            folded_text(text_of(member, 2), uses, &Columns::text);
        }
    }
}

void ValueWriter::identifier(json::Value value, std::span<const Use> uses,
                             Column Columns::* column) {
    std::optional<std::string_view> system;
    std::string_view code;
    json::Value type;
    for (const auto [key, member] : value.members()) {
        const std::string_view name = raw_of(key);
        if (name == "system" && member.is_string()) {
            system = text_of(member, 0);
        } else if (name == "value") {
            code = text_of(member, 1);
        } else if (name == "type") {
            type = member;
        }
    }
    coded(system, code, uses, column);
    if (!type.is_object()) {
        return;
    }
    if (column == &Columns::column) {
        if (const std::string_view text = text_of(type["text"], 2); !text.empty()) {
            folded_text(text, uses, &Columns::text);
        }
    }
    if (code.empty()) {
        return;
    }
    each(type["coding"], [&](json::Value coding) {
        const std::string_view type_system = text_of(coding["system"], 3);
        const std::string_view type_code = text_of(coding["code"], 4);
        if (type_code.empty()) {
            return;
        }
        for (const Use& use : uses) {
            term(use, token_of_type(use.columns->*column, type_system, type_code, code));
        }
    });
}

void ValueWriter::contact(json::Value value, std::span<const Use> uses) {
    const std::string_view code = text_of(value["value"], 0);
    if (code.empty()) {
        return;
    }
    bare_code(code, uses, &Columns::column);
    if (const std::string_view system = text_of(value["system"], 1); !system.empty()) {
        coded(system, code, uses, &Columns::column);
    }
}

void ValueWriter::string_value(std::string_view from, std::span<const Use> uses) {
    if (from.empty()) {
        return;
    }
    for (const Use& use : uses) {
        term(use, exact(use.columns->column, from));
    }
    folded_text(from, uses, &Columns::column);
}

void ValueWriter::string_parts(json::Value value, std::span<const Use> uses,
                               std::span<const std::string_view> parts) {
    for (const auto [key, member] : value.members()) {
        if (std::find(parts.begin(), parts.end(), raw_of(key)) != parts.end()) {
            each(member, [&](json::Value part) { string_value(text_of(part, 0), uses); });
        }
    }
}

void ValueWriter::string_display(json::Value value, std::string_view member,
                                 std::span<const Use> uses) {
    string_value(text_of(value[member], 0), uses);
}

std::optional<TypeId> ValueWriter::contained_type(std::string_view id) const {
    for (const json::Value contained : root_["contained"].elements()) {
        if (contained["id"].equals(id)) {
            return find_resource_type(contained["resourceType"].string());
        }
    }
    return {};
}

std::optional<TypeId> ValueWriter::type_of(json::Value reference) {
    const std::string_view text = text_of(reference["reference"], 0);
    if (text == "#") {
        return find_resource_type(text_of(root_["resourceType"], 1));
    }
    if (text.starts_with('#')) {
        return contained_type(text.substr(1));
    }
    if (const auto type = read_reference(text, base_url_).type) {
        return type;
    }
    return find_resource_type(text_of(reference["type"], 1));
}

void ValueWriter::reference(json::Value value, std::span<const Use> uses) {
    if (!value.is_object()) {
        return;
    }
    std::string_view text;
    std::string_view stated;
    json::Value identifier;
    for (const auto [key, member] : value.members()) {
        const std::string_view name = raw_of(key);
        if (name == "reference") {
            text = text_of(member, 0);
        } else if (name == "type") {
            stated = text_of(member, 5);
        } else if (name == "identifier") {
            identifier = member;
        }
    }
    ReferenceText target;
    std::uint64_t target_key = 0;
    std::optional<TypeId> type;
    const bool fragment = text.starts_with('#');
    if (fragment) {
        type = text.size() == 1 ? find_resource_type(text_of(root_["resourceType"], 1))
                                : contained_type(text.substr(1));
    } else {
        target = read_reference(text, base_url_);
        target_key = key_of(target);
        type = target.type ? target.type : find_resource_type(stated);
    }
    for (const Use& use : uses) {
        if (use.refers_to && type != use.refers_to) {
            continue;
        }
        const std::span<const Use> one(&use, 1);
        if (!text.empty()) {
            reference_text(text, target, target_key, one);
        }
        if (identifier.is_object()) {
            this->identifier(identifier, one, &Columns::identifier);
        }
        terms_present(one);
    }
}

std::uint64_t ValueWriter::key_of(const ReferenceText& target) const {
    return target.local ? storage::resource_key(seed_, *target.type, target.id).low : 0;
}

void ValueWriter::reference_text(std::string_view text, const ReferenceText& target,
                                 std::uint64_t key, std::span<const Use> uses) {
    if (text.starts_with('#')) {
        for (const Use& use : uses) {
            term(use, inner_reference(use.columns->column));
            term(use, inner_reference(use.columns->column, text.substr(1)));
        }
        return;
    }
    if (target.local) {
        for (const Use& use : uses) {
            term(use, search::reference(use.columns->column, key));
            link(use, key);
        }
        if (target.versioned) {
            const std::string_view from_type =
                text.substr(static_cast<std::size_t>(target.id.data() - text.data()) -
                            resource_type_name(*target.type).size() - 1);
            for (const Use& use : uses) {
                term(use, exact(use.columns->column, from_type));
            }
        }
        return;
    }
    const std::size_t bar = text.find('|');
    for (const Use& use : uses) {
        term(use, exact(use.columns->column, text));
        if (target.versioned) {
            term(use, exact(use.columns->column, target.unversioned));
        }
        if (bar != std::string_view::npos) {
            term(use, exact(use.columns->column, text.substr(0, bar)));
        }
    }
}

void ValueWriter::canonical(std::string_view text, std::span<const Use> uses) {
    const std::uint64_t key = canonical_key(seed_, text);
    for (const Use& use : uses) {
        term(use, search::reference(use.columns->column, key));
        link(use, key);
    }
}

/// A resource in the place of a reference (Bundle.entry[0].resource): as a reference to itself.
void ValueWriter::reference_resource(json::Value value, std::span<const Use> uses) {
    const auto type = find_resource_type(text_of(value["resourceType"], 0));
    if (!type) {
        return;
    }
    const std::string_view id = text_of(value["id"], 1);
    for (const Use& use : uses) {
        if (use.refers_to && type != use.refers_to) {
            continue;
        }
        term(use, inner_reference(use.columns->column));
        term(use, inner_reference(use.columns->column, id));
        if (is_resource_id(id)) {
            const std::uint64_t key = storage::resource_key(seed_, *type, id).low;
            term(use, search::reference(use.columns->column, key));
            link(use, key);
        }
        terms_present({&use, 1});
    }
}

void ValueWriter::date(std::string_view text, std::span<const Use> uses) {
    if (const auto range = date_range(text)) {
        for (const Use& use : uses) {
            interval(use, range->low, range->high);
        }
    }
}

void ValueWriter::period(json::Value value, std::span<const Use> uses) {
    std::int64_t low = kNever;
    std::int64_t high = kForever;
    bool any = false;
    for (const auto [key, member] : value.members()) {
        const std::string_view name = raw_of(key);
        if (name != "start" && name != "end") {
            continue;
        }
        const auto range = date_range(text_of(member, 0));
        if (!range) {
            return;
        }
        any = true;
        (name == "start" ? low : high) = name == "start" ? range->low : range->high;
    }
    for (const Use& use : uses) {
        if (any) {
            interval(use, low, high);
        }
    }
}

void ValueWriter::timing(json::Value value, std::span<const Use> uses) {
    each(value["event"], [&](json::Value event) { date(text_of(event, 0), uses); });
    if (const json::Value bounds = value["repeat"]["boundsPeriod"]; bounds.is_object()) {
        period(bounds, uses);
    }
}

void ValueWriter::number_interval(std::int64_t low, std::int64_t high, std::span<const Use> uses) {
    for (const Use& use : uses) {
        interval(use, low, high);
    }
}

void ValueWriter::number_bounds(json::Value value, std::span<const Use> uses) {
    const auto low = number_of_member(value["low"], "value");
    const auto high = number_of_member(value["high"], "value");
    if (low || high) {
        number_interval(low ? ordered(*low) : kNever, high ? ordered(*high) : kForever, uses);
    }
}

ValueWriter::QuantityParts ValueWriter::parts_of(json::Value quantity) {
    QuantityParts parts;
    for (const auto [key, member] : quantity.members()) {
        const std::string_view name = text_of(key, 0);
        if (name == "value") {
            parts.value = member;
        } else if (name == "comparator") {
            parts.comparator = member;
        } else if (name == "unit") {
            parts.unit = member;
        } else if (name == "system") {
            parts.system = member;
        } else if (name == "code") {
            parts.code = member;
        }
    }
    return parts;
}

std::string_view ValueWriter::unit_of(const QuantityParts& quantity) {
    unit_ = text_of(quantity.system, 0);
    unit_ += '\x1F';
    unit_ += text_of(quantity.code, 0);
    unit_ += '\x1F';
    unit_ += text_of(quantity.unit, 0);
    return unit_;
}

void ValueWriter::in_unit(std::string_view unit, std::int64_t low, std::int64_t high,
                          std::span<const Use> uses) {
    if (unit.size() > kUriBytesMax) {
        return;
    }
    column_text_ = "=";
    column_text_ += unit;
    for (const Use& use : uses) {
        if (use.pairs == nullptr) {
            text(use.columns->units, unit);
            interval(beside(use.columns->column, column_text_), low, high);
        } else if (low <= high && use.pairs->values.intervals.size() < kPairedMax) {
            storage::SearchEntries& values = use.pairs->values;
            values.add_text(0, unit);
            values.intervals.push_back({values.texts.size(), low, high});
        }
    }
}

void ValueWriter::quantity(json::Value value, std::span<const Use> uses) {
    const QuantityParts parts = parts_of(value);
    const auto number =
        parts.value.is(json::Kind::number) ? number_value(parts.value.raw()) : std::nullopt;
    if (!number) {
        return;
    }
    std::int64_t low = ordered(*number);
    std::int64_t high = low;
    const std::string_view comparator = text_of(parts.comparator, 0);
    if (comparator == "<" || comparator == "<=") {
        low = kNever;
        high -= comparator == "<" ? 1 : 0;
    } else if (comparator == ">" || comparator == ">=") {
        high = kForever;
        low += comparator == ">" ? 1 : 0;
    }
    in_unit(unit_of(parts), low, high, uses);
}

void ValueWriter::money(json::Value value, std::span<const Use> uses) {
    const auto number = number_of_member(value, "value");
    if (!number) {
        return;
    }
    const std::string_view currency = text_of(value["currency"], 0);
    unit_ = kCurrencySystem;
    unit_ += '\x1F';
    unit_ += currency;
    unit_ += '\x1F';
    unit_ += currency;
    in_unit(unit_, ordered(*number), ordered(*number), uses);
}

void ValueWriter::quantity_range(json::Value value, std::span<const Use> uses) {
    const auto low = number_of_member(value["low"], "value");
    const auto high = number_of_member(value["high"], "value");
    if (!low && !high) {
        return;
    }
    const QuantityParts at_low = parts_of(value["low"]);
    const QuantityParts at_high = parts_of(value["high"]);
    if (low && high && std::string(unit_of(at_low)) != unit_of(at_high)) {
        // Two units: each end holds in its own.
        in_unit(unit_of(at_low), ordered(*low), kForever, uses);
        in_unit(unit_of(at_high), kNever, ordered(*high), uses);
        return;
    }
    in_unit(unit_of(low ? at_low : at_high), low ? ordered(*low) : kNever,
            high ? ordered(*high) : kForever, uses);
}

void ValueWriter::sampled(json::Value value, std::span<const Use> uses) {
    if (const auto bounds = sampled_bounds(value)) {
        in_unit(unit_of(parts_of(value["origin"])), ordered(bounds->low), ordered(bounds->high),
                uses);
    }
}

void ValueWriter::position(json::Value value, std::span<const Use> uses) {
    const auto latitude = number_of_member(value, "latitude");
    const auto longitude = number_of_member(value, "longitude");
    if (!latitude || !longitude) {
        return;
    }
    for (const Use& use : uses) {
        interval(use.columns->latitude, ordered(*latitude), ordered(*latitude));
        interval(use.columns->longitude, ordered(*longitude), ordered(*longitude));
    }
}

}  // namespace annals::core::search
