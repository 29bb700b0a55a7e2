// Chart: the plan of one patient's history: which resources there are, how they are linked, when each was
// created and changed. Small, so that hundreds can be open at once; bodies are made from it on demand.
//
// Layer:   tools/generate.
// Threads: plain values.

#pragma once

#include "core/base/instant.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace annals::generate {

/// Durations in microseconds, the unit of Instant; a year has 365 days.
inline constexpr std::int64_t kMillisecond = 1'000;
inline constexpr std::int64_t kSecond = 1'000 * kMillisecond;
inline constexpr std::int64_t kMinute = 60 * kSecond;
inline constexpr std::int64_t kHour = 60 * kMinute;
inline constexpr std::int64_t kDay = 24 * kHour;
inline constexpr std::int64_t kYear = 365 * kDay;

enum class Kind : std::uint8_t {
    organization,
    location,
    practitioner,
    patient,
    encounter,
    vital_sign,
    blood_pressure,
    laboratory,
    smoking_status,
    condition,
    procedure,
    medication_request,
    immunization,
    diagnostic_report,
    allergy_intolerance,
    care_plan,
    claim,
    explanation_of_benefit,
};

/// The resource type of `kind`: "Observation" for four of them.
std::string_view type_name(Kind kind) noexcept;

inline constexpr std::uint32_t kNone = 0xffff'ffff;

/// One resource of a chart. Its content follows from `seed`, its links and the state.
struct Item {
    Kind kind;
    std::uint8_t states = 1;  ///< the number of different contents it goes through
    bool deleted = false;     ///< after its last state
    bool restored = false;    ///< after its deletion
    std::uint8_t doctor = 0;  ///< which practitioner of `house`
    std::uint16_t house = 0;  ///< which organization
    std::uint16_t code = 0;   ///< index into the vocabulary of its kind
    std::uint16_t link_count = 0;
    std::uint32_t link = kNone;       ///< the first item (of `link_count`) that it is about
    std::uint32_t encounter = kNone;  ///< the item it happened at
    std::uint64_t seed = 0;           ///< determines its id and content
    Instant when{};                   ///< clinical time
    Instant recorded{};               ///< when its first version is written
};

enum class Change : std::uint8_t { create, update, remove };

/// One future version.
struct Event {
    Instant when{};
    std::uint32_t item = 0;
    std::uint16_t version = 0;
    std::uint8_t state = 0;
    Change change = Change::create;
};

struct Person {
    bool female = false;
    std::string_view given;
    std::string_view middle;
    std::string_view family;
    std::int64_t age_days = 0;  ///< at the start of the chart
};

struct Chart {
    std::uint64_t seed = 0;
    Person person;
    Instant birth{};
    std::vector<Item> items;  ///< an item refers only to items before it
};

/// Organizations with their locations and practitioners: shared by all patients.
inline constexpr std::uint32_t kLocationsPerHouse = 2;
inline constexpr std::uint32_t kDoctorsPerHouse = 6;
inline constexpr std::uint32_t kItemsPerHouse = 1 + kLocationsPerHouse + kDoctorsPerHouse;

struct World {
    std::uint32_t houses = 0;
    Chart chart;

    const Item& organization(const Item& of) const {
        return chart.items[of.house * kItemsPerHouse];
    }

    const Item& location(const Item& of) const {
        return chart.items[of.house * kItemsPerHouse + 1 + of.seed % kLocationsPerHouse];
    }

    const Item& practitioner(const Item& of) const {
        return chart.items[of.house * kItemsPerHouse + 1 + kLocationsPerHouse + of.doctor];
    }
};

/// When the visits of a chart are recorded: from `start` on, spread over `width_us`.
struct Schedule {
    Instant start{};
    std::int64_t width_us = 0;
};

/// The name, sex and age determined by an item's seed.
Person person_of(std::uint64_t seed);

World make_world(std::uint64_t seed, std::uint32_t houses, Instant start);

/// The chart of patient `number`. The patient is its first item.
Chart make_patient(std::uint64_t seed, std::uint64_t number, const World& world,
                   const Schedule& schedule);

/// All versions of the chart's items, oldest first.
std::vector<Event> make_events(const Chart& chart);

}  // namespace annals::generate
