// Ranges: the range that the text of a date or number stands for, in resources as in queries.
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

/// The microseconds that a FHIR date, dateTime or instant of any precision covers, both ends included: 2026 is the
/// whole year. Without a time zone it is in `zone`; null: UTC. None if it is malformed.
std::optional<Range> date_range(std::string_view text, const TimeZone* zone);

/// The same for a query, where the precision may also be a minute (2026-01-02T10:30, with or without a time zone),
/// which dateTime doesn't allow.
std::optional<Range> asked_date_range(std::string_view text, const TimeZone* zone);

/// A decimal as written.
struct Number {
    double value = 0;
    /// The range implied by its precision, as ordered() values, both ends included: 100 is [99.5, 100.5), 5.40 is
    /// [5.395, 5.405), 1e2 is [95, 105).
    Range range;
};

/// Reads a FHIR decimal, perhaps with an exponent. None if it is malformed or out of a double's range.
std::optional<Number> number_range(std::string_view text);

/// Only its value, faster.
std::optional<double> number_value(std::string_view text);

}  // namespace annals::core::search
