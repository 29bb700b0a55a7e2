// SearchMix: what `search` and `search-count` search for: one parameter each, with values from the store.
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

/// Which histogram a latency goes to.
enum class ParameterType : std::uint8_t { string, date, token, quantity, composite, reference };

inline constexpr std::array<std::string_view, 6> kParameterTypes{
    "string", "date", "token", "quantity", "composite", "reference"};

/// A value to search for, percent-encoded.
struct SearchValue {
    std::string plain;   ///< "8302-2", "170.2", "Patient/1"
    std::string full;    ///< the same with its system or unit; empty if it has none
    std::string number;  ///< what a composite compares after the $

    auto operator<=>(const SearchValue&) const = default;
};

/// A parameter and its values, at least one.
struct SearchParameter {
    std::string_view target;  ///< "/Patient?name"
    ParameterType type = ParameterType::string;
    std::vector<SearchValue> values;
};

using SearchMix = std::vector<SearchParameter>;

/// The value as it appears in a query: separators are escaped, then everything is percent-encoded.
std::string search_text(std::string_view value);

/// The mix, with values from the store's patients, from the resources of 64 of them, and from the organizations.
/// Parameters without any value are left out. Errors: io (no response, or a wrong one; no patient).
Result<SearchMix> sample_search_mix(const Site& site);

/// Appends a search of `parameter` with random modifier or prefix, value, form and list length.
void put_search(std::string& target, const SearchParameter& parameter, generate::Dice& dice);

}  // namespace annals::bench
