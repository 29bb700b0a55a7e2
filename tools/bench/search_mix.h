// SearchMix: what `search` and `search-count` ask for: one parameter each, with values that are in the store.
//
// Layer:   tools/bench. The mix is defined in docs/benchmarks.md.
// Threads: plain values, const once made.

#pragma once

#include "tools/bench/bench.h"
#include "tools/generate/dice.h"

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::bench {

/// What a latency is booked under.
enum class ParameterType : std::uint8_t { string, date, token, quantity, composite, reference };

inline constexpr std::array<std::string_view, 6> kParameterTypes{
    "string", "date", "token", "quantity", "composite", "reference"};

/// A value to search for, percent-encoded.
struct SearchValue {
    std::string plain;   ///< "8302-2", "170.2", "Patient/1"
    std::string full;    ///< the same with its system or unit; empty if it has none
    std::string number;  ///< what a composite compares behind the $

    auto operator<=>(const SearchValue&) const = default;
};

/// A parameter and the values that it is asked with; there is at least one.
struct SearchParameter {
    std::string_view target;  ///< "/Patient?name"
    ParameterType type = ParameterType::string;
    std::vector<SearchValue> values;
};

using SearchMix = std::vector<SearchParameter>;

/// The value as it stands in a query: what separates values is escaped, then all is percent-encoded.
std::string search_text(std::string_view value);

/// The mix with the values of the patients in the store, of what 64 of them have, and of the organizations.
/// Parameters of which no value was found are left out. Errors: io (no answer, none that is right, no patient).
Result<SearchMix> sample_search_mix(const Site& site);

/// Appends one search of `parameter`: modifier or prefix, value, form and length of a list are drawn.
void put_search(std::string& target, const SearchParameter& parameter, generate::Dice& dice);

}  // namespace annals::bench
