#include "core/search/ranges.h"
#include "core/search/reading.h"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace annals::core::search {

namespace {

constexpr double kEarthRadiusMetres = 6'371'008.8;  // mean
constexpr double kDefaultMetres = 50'000;           // without a distance, the server chooses
constexpr double kDegree = std::numbers::pi / 180;

struct Place {
    double latitude = 0;
    double longitude = 0;
};

// Along a great circle.
double metres_between(Place a, Place b) {
    const double dy = std::sin((b.latitude - a.latitude) * kDegree / 2);
    const double dx = std::sin((b.longitude - a.longitude) * kDegree / 2);
    const double h =
        dy * dy + std::cos(a.latitude * kDegree) * std::cos(b.latitude * kDegree) * dx * dx;
    return 2 * kEarthRadiusMetres * std::asin(std::min(1.0, std::sqrt(h)));
}

std::optional<double> metres_in(std::string_view unit) {
    static constexpr std::array<std::pair<std::string_view, double>, 9> kUnits{{
        {"km", 1000},
        {"m", 1},
        {"cm", 0.01},
        {"mm", 0.001},
        {"[mi_us]", 1609.347219},
        {"[mi_i]", 1609.344},
        {"[nmi_i]", 1852},
        {"[yd_i]", 0.9144},
        {"[ft_i]", 0.3048},
    }};
    for (const auto& [name, metres] : kUnits) {
        if (name == unit) {
            return metres;
        }
    }
    return std::nullopt;
}

Plan between(Column column, double low, double high) {
    return interval(column, Comparison::ap, {ordered(low), ordered(high)});
}

// What lies in the bounding box of the circle. Across a pole, or if the circle is wide, that is every longitude.
Plan in_box(Column column, Place centre, double metres) {
    // Slightly larger, so that rounding doesn't exclude what is within the distance.
    const double reach = metres / kEarthRadiusMetres / kDegree * 1.000001 + 1e-9;
    const double south = centre.latitude - reach;
    const double north = centre.latitude + reach;
    Plan plan = between(beside(column, ":lat"), south, north);
    if (south <= -90 || north >= 90) {
        return plan;
    }
    const double sine = std::sin(reach * kDegree) / std::cos(centre.latitude * kDegree);
    if (sine >= 1) {
        return plan;
    }
    const double width = std::asin(sine) / kDegree * 1.000001 + 1e-9;
    const double west = centre.longitude - width;
    const double east = centre.longitude + width;
    const Column longitude = beside(column, ":lon");
    std::vector<Plan> strips;
    strips.push_back(between(longitude, west, east));
    // Across the date line it continues at the other end.
    if (west < -180) {
        strips.push_back(between(longitude, west + 360, 180));
    }
    if (east > 180) {
        strips.push_back(between(longitude, -180, east - 360));
    }
    return all_of(std::move(plan), any_of(std::move(strips)));
}

}  // namespace

// location.html#positional: latitude|longitude|distance|units; the last two may be omitted.
Result<Plan> near_plan(const Asked& asked, std::string_view value) {
    if (asked.parameter.code != "near") {
        return Error{Errc::not_supported, "search parameter '" + std::string(asked.name) +
                                              "': there is no search by it"};
    }
    if (!asked.modifier.empty()) {
        return asked.unsupported();
    }
    const auto parts = split_unescaped(value, '|');
    if (parts.size() < 2 || parts.size() > 4) {
        return asked.bad("latitude|longitude|distance|units is needed");
    }
    const auto latitude = number_value(parts[0]);
    const auto longitude = number_value(parts[1]);
    if (!latitude || std::abs(*latitude) > 90 || !longitude || std::abs(*longitude) > 180) {
        return asked.bad("a latitude must be from -90 to 90, a longitude from -180 to 180");
    }
    double metres = kDefaultMetres;
    if (parts.size() > 2 && !parts[2].empty()) {
        const auto distance = number_value(parts[2]);
        const auto unit = metres_in(parts.size() > 3 && !parts[3].empty() ? parts[3] : "km");
        if (!distance || *distance < 0 || !unit) {
            return asked.bad(
                "the distance is a number of km, m, cm, mm, [mi_i], [mi_us], [nmi_i], "
                "[yd_i] or [ft_i]");
        }
        metres = *distance * *unit;
    }
    const Place centre{*latitude, *longitude};
    return verified(in_box(asked.parameter.column, centre, metres),
                    [centre, metres](json::Value resource) {
                        const json::Value position = resource["position"];
                        const auto y = number_value(position["latitude"].raw());
                        const auto x = number_value(position["longitude"].raw());
                        return y && x && metres_between(centre, {*y, *x}) <= metres;
                    });
}

}  // namespace annals::core::search
