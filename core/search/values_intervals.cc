// The entries of dates, numbers, quantities and positions: intervals.

#include "core/search/members.h"
#include "core/search/values.h"

#include <algorithm>
#include <limits>

namespace annals::core::search {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kCurrencySystem = "urn:iso:std:iso:4217";

}  // namespace

std::optional<SampledBounds> sampled_bounds(json::Value sampled) {
    // Each value is origin + factor * the written number.
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

void ValueWriter::date(std::string_view text, std::span<const Use> uses) {
    if (const auto range = date_range(text, zone_)) {
        interval(uses, range->low, range->high);
    }
}

std::optional<Range> ValueWriter::period_range(json::Value period) {
    Range range{kNever, kForever};
    bool any = false;
    for (const auto [key, member] : period.members()) {
        const std::string_view name = raw_of(key);
        if (name != "start" && name != "end") {
            continue;
        }
        const auto limit = date_range(text_of(member, 0), zone_);
        if (!limit) {
            return std::nullopt;
        }
        any = true;
        (name == "start" ? range.low : range.high) = name == "start" ? limit->low : limit->high;
    }
    return any && range.low <= range.high ? std::optional(range) : std::nullopt;
}

void ValueWriter::period(json::Value value, std::span<const Use> uses) {
    if (const auto range = period_range(value)) {
        interval(uses, range->low, range->high);
    }
}

void ValueWriter::timing(json::Value value, std::span<const Use> uses) {
    // R4: "the specified scheduling details are ignored and only the outer limits matter".
    std::optional<Range> limits = period_range(value["repeat"]["boundsPeriod"]);
    each(value["event"], [&](json::Value event) {
        if (const auto range = date_range(text_of(event, 0), zone_)) {
            limits = limits ? Range{std::min(limits->low, range->low),
                                    std::max(limits->high, range->high)}
                            : *range;
        }
    });
    if (limits) {
        interval(uses, limits->low, limits->high);
    }
}

void ValueWriter::number_bounds(json::Value value, std::span<const Use> uses) {
    const auto low = number_of_member(value["low"], "value");
    const auto high = number_of_member(value["high"], "value");
    if (low || high) {
        interval(uses, low ? ordered(*low) : kNever, high ? ordered(*high) : kForever);
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
    const std::string low_unit(unit_of(at_low));  // The next call overwrites it.
    if (low && high && low_unit != unit_of(at_high)) {
        // Two units: each end applies in its own.
        in_unit(low_unit, ordered(*low), kForever, uses);
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
