// Ranges: what the text of a date or a number stands for, the same for those who index and those who ask.
//
// Layer:   core/search.
// Spec:    FHIR R4 search.html#date, #number, #quantity; datatypes.html#dateTime.
// Threads: plain functions.

#pragma once

#include "core/base/time_zone.h"
#include "core/search/plan.h"

#include <optional>
#include <string_view>

namespace annals::core::search {

/// The microseconds that a FHIR date, dateTime or instant of any precision covers, both ends inside: 2026 is the
/// whole year. What names no zone is in `zone`; null: UTC. Nothing if it is none.
std::optional<Range> date_range(std::string_view text, const TimeZone* zone);

/// The same, and a minute (2026-01-02T10:30, with or without a zone), which is no dateTime but may be asked for.
std::optional<Range> asked_date_range(std::string_view text, const TimeZone* zone);

/// A decimal as it was written.
struct Number {
    double value = 0;
    /// What it covers by the digits given, by ordered(), both ends inside: 100 is [99.5, 100.5), 5.40 is
    /// [5.395, 5.405), 1e2 is [95, 105).
    Range range;
};

/// Reads a number as FHIR's decimal writes it; an exponent is allowed. Nothing if it is none, or beyond a double.
std::optional<Number> number_range(std::string_view text);

/// Its value alone, faster.
std::optional<double> number_value(std::string_view text);

}  // namespace annals::core::search
