// Vocabulary: the codes, names and places that generated histories use.
//
// Layer:   tools/generate. Every text is plain ASCII that needs no escaping in JSON or XML.
// Threads: constant data.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace annals::generate {

enum class System : std::uint8_t { loinc, snomed, rxnorm, cvx };

std::string_view system_uri(System system) noexcept;

struct Code {
    System system;
    std::string_view code;
    std::string_view display;
};

/// A typical quantity: mean and standard deviation in units of the last of `digits` decimals.
struct Measure {
    std::string_view loinc;
    std::string_view display;
    std::string_view unit;  ///< UCUM
    std::int64_t mean;
    std::int64_t sd;
    int digits;
    std::int64_t low;  ///< reference range
    std::int64_t high;
};

struct Panel {
    std::string_view loinc;
    std::string_view display;
    std::span<const Measure> measures;
};

struct Disease {
    std::string_view snomed;
    std::string_view icd10;
    std::string_view display;
    bool chronic;
    int age_from;
    int age_to;
    int weight;
};

struct Drug {
    std::string_view rxnorm;
    std::string_view display;
    std::string_view instruction;
    int per_day;
    bool chronic;
};

struct Vaccine {
    std::string_view cvx;
    std::string_view display;
    int age_from;
    int age_to;
};

struct Intervention {
    std::string_view snomed;
    std::string_view display;
    int minutes;
    int price_usd;
    int weight;
};

struct Allergen {
    Code code;
    std::string_view category;  ///< food, medication, environment
};

struct Place {
    std::string_view city;
    std::string_view state;
    std::string_view postal;
};

/// Height, weight and body mass index first; then those that don't depend on each other.
std::span<const Measure> vital_signs() noexcept;
inline constexpr std::size_t kHeight = 0;
inline constexpr std::size_t kBodyMassIndex = 2;

std::span<const Panel> panels() noexcept;
std::span<const Disease> diseases() noexcept;
std::span<const Drug> drugs() noexcept;
std::span<const Vaccine> vaccines() noexcept;
std::span<const Intervention> interventions() noexcept;
std::span<const Allergen> allergens() noexcept;
std::span<const Code> reactions() noexcept;
std::span<const Code> care_plans() noexcept;
std::span<const Code> activities() noexcept;
std::span<const Code> visits() noexcept;
std::span<const Code> smoking() noexcept;

std::span<const std::string_view> female_names() noexcept;
std::span<const std::string_view> male_names() noexcept;
std::span<const std::string_view> family_names() noexcept;
std::span<const std::string_view> streets() noexcept;
std::span<const std::string_view> hospitals() noexcept;
std::span<const std::string_view> payers() noexcept;
std::span<const std::string_view> remarks() noexcept;
std::span<const Place> places() noexcept;

}  // namespace annals::generate
