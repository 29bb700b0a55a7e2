#include "core/search/values.h"

#include "codec/json/unicode.h"
#include "core/search/fold.h"
#include "core/search/members.h"

#include <algorithm>
#include <utility>

namespace annals::core::search {

namespace {

constexpr std::string_view kBooleanSystem = "http://terminology.hl7.org/CodeSystem/special-values";

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

ValueWriter::ValueWriter(std::uint64_t seed, std::string base_url, const TimeZone* zone)
    : seed_(seed), base_url_(std::move(base_url)), zone_(zone) {
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

void ValueWriter::interval(std::span<const Use> uses, std::int64_t low, std::int64_t high) {
    for (const Use& use : uses) {
        interval(use, low, high);
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

/// A code that can't have a system: found as `code` and as `|code`.
void ValueWriter::bare_code(std::string_view code, std::span<const Use> uses,
                            Column Columns::* column) {
    static const TextHash none = text_hash({});
    const TextHash hash = text_hash(code);
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
            if (system = system_of(system, text); !system.empty()) {
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
            if (target.local.empty() && !text.starts_with('#')) {
                canonical(text, uses);
            }
            break;
        }
        case ValueKind::date_text:
            date(text, uses);
            break;
        case ValueKind::number_text:
            if (const auto number = number_value(text)) {
                interval(uses, ordered(*number), ordered(*number));
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
            // A number or boolean is indexed by its text: an integer as a code.
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
                interval(uses, ordered(*number), ordered(*number));
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

}  // namespace annals::core::search
