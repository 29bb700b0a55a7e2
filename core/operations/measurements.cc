#include "core/operations/measurements.h"

#include "codec/fhirpath/ucum.h"
#include "core/operations/coded_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace annals::core {

namespace {

using fhirpath::Decimal;
using fhirpath::kUcum;
using fhirpath::Unit;

/// By which values are multiplied or divided.
struct Factor {
    long double number = 1;
    bool divides = false;
};

std::optional<Factor> factor(const Unit& from, const Unit& to) {
    const auto forth = fhirpath::convert(Decimal(1), from, to);
    const auto back = fhirpath::convert(Decimal(1), to, from);
    if (!forth || !back || forth->is_zero() || back->is_zero()) {
        return {};
    }
    // The larger one has more digits.
    const bool divides = *back > *forth;
    return Factor{(divides ? *back : *forth).to_double(), divides};
}

}  // namespace

bool MeasuredUnit::is_ucum() const {
    return system == kUcum && !code.empty();
}

Result<bool> Measurements::add(json::Value quantity) {
    const json::Value number = quantity["value"];
    if (!number.is(json::Kind::number) || quantity["comparator"]) {
        return false;
    }
    const auto value = Decimal::parse(number.raw());
    if (!value) {
        return false;
    }
    MeasuredUnit unit{.system = quantity["system"].string(),
                      .code = quantity["code"].string(),
                      .unit = quantity["unit"].string()};
    // A code identifies the unit; without one, the human-readable unit does.
    std::string name = unit.code.empty() ? text_key(unit.unit) : coding_key(unit.system, unit.code);
    const auto [found, is_new] = by_name_.try_emplace(std::move(name), units_.size());
    if (is_new) {
        if (units_.size() == kUnitsMax) {
            return Error{Errc::too_costly,
                         fmt::format("The values have more than {} different units", kUnitsMax)};
        }
        units_.push_back({std::move(unit), {}});
    }
    units_[found->second].values.push_back(value->to_double());
    return true;
}

std::vector<Measured> Measurements::by_unit() {
    const auto has_more = [](const Measured& a, const Measured& b) {
        return a.values.size() != b.values.size()
                   ? a.values.size() > b.values.size()
                   : std::tie(a.unit.code, a.unit.system, a.unit.unit) <
                         std::tie(b.unit.code, b.unit.system, b.unit.unit);
    };
    std::sort(units_.begin(), units_.end(), has_more);
    std::vector<Measured> groups;
    std::vector<std::optional<Unit>> known;  // of each group
    for (Measured& measured : units_) {
        const auto unit = measured.unit.is_ucum() ? fhirpath::parse_unit(measured.unit.code)
                                                  : std::optional<Unit>();
        std::optional<Factor> by;
        std::size_t into = 0;
        for (; unit && into < groups.size(); ++into) {
            by = known[into] ? factor(*unit, *known[into]) : std::nullopt;
            if (by) {
                break;
            }
        }
        if (!by) {
            groups.push_back(std::move(measured));
            known.push_back(unit);
            continue;
        }
        for (const long double value : measured.values) {
            groups[into].values.push_back(by->divides ? value / by->number : value * by->number);
        }
    }
    // Groups with converted values may have grown beyond earlier ones.
    std::sort(groups.begin(), groups.end(), has_more);
    units_.clear();
    by_name_.clear();
    return groups;
}

}  // namespace annals::core
