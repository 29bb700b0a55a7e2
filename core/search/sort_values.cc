#include "core/search/sort_values.h"

#include "core/search/members.h"
#include "core/search/ranges.h"
#include "core/search/values.h"

namespace annals::core::search {

namespace {

// The value of a Quantity; for a Range or SampledData, the end that comes first in this direction.
std::optional<double> number_in(json::Value value, bool descending) {
    if (!value.is_object()) {
        return value.is(json::Kind::number) ? number_value(value.raw()) : std::nullopt;
    }
    if (const auto own = number_of_member(value, "value")) {
        return own;
    }
    const auto low = number_of_member(value["low"], "value");
    const auto high = number_of_member(value["high"], "value");
    if (low && high) {
        return descending ? high : low;
    }
    if (low || high) {
        return low ? low : high;
    }
    const auto sampled = sampled_bounds(value);
    if (!sampled) {
        return {};
    }
    return descending ? sampled->high : sampled->low;
}

// What the codings of a concept have, the first in this direction; empty if none has any.
std::string text_in_codings(json::Value value, std::string_view member, bool descending) {
    std::string best;
    for (const json::Value coding : value["coding"].elements()) {
        std::string text = coding[member].string();
        if (!text.empty() && (best.empty() || (descending ? text > best : text < best))) {
            best = std::move(text);
        }
    }
    return best;
}

// What a token, reference or uri is sorted by: its code (of several, the first in this direction), else its text.
std::string text_in(json::Value value, bool descending) {
    if (!value.is_object()) {
        return value.is_string() ? value.string() : std::string(value.raw());
    }
    std::string code = text_in_codings(value, "code", descending);
    if (!code.empty()) {
        return code;
    }
    for (const char* const name : {"code", "reference", "value", "text", "display"}) {
        if (value[name].is_string()) {
            return value[name].string();
        }
    }
    return text_in_codings(value, "display", descending);
}

}  // namespace

std::optional<double> sort_number(const fhirpath::Item& item, bool descending) {
    return item.is_element() ? number_in(item.value(), descending)
                             : number_value(fhirpath::to_text(item));
}

std::string sort_text(const fhirpath::Item& item, bool descending) {
    if (!item.is_element()) {
        return fhirpath::to_text(item);
    }
    return item.value() ? text_in(item.value(), descending) : std::string();
}

}  // namespace annals::core::search
