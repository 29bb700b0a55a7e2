#include "tools/generate/chart.h"

#include "tools/generate/dice.h"
#include "tools/generate/vocabulary.h"

#include <algorithm>
#include <array>

namespace annals::generate {
namespace {

constexpr int kAgeMax = 100;

std::uint64_t item_seed(std::uint64_t chart_seed, std::size_t index) {
    return mix(chart_seed + (index + 1) * 0x9e3779b97f4a7c15ULL);
}

// How many states an item of `kind` goes through, by the chances (per mille) of a second and a third.
std::uint8_t draw_states(Dice& dice, Kind kind) {
    struct Shares {
        unsigned second;
        unsigned third;
    };

    const Shares shares = [kind]() -> Shares {
        switch (kind) {
            case Kind::patient:
                return {700, 400};
            case Kind::encounter:
                return {700, 250};
            case Kind::laboratory:
                return {350, 60};
            case Kind::diagnostic_report:
                return {450, 60};
            case Kind::condition:
                return {550, 0};
            case Kind::medication_request:
                return {500, 0};
            case Kind::care_plan:
                return {500, 0};
            case Kind::procedure:
                return {150, 0};
            case Kind::allergy_intolerance:
                return {400, 0};
            case Kind::explanation_of_benefit:
                return {100, 0};
            case Kind::organization:
            case Kind::practitioner:
                return {400, 0};
            default:
                return {20, 0};
        }
    }();
    if (!dice.chance(shares.second)) {
        return 1;
    }
    return dice.chance(shares.third) ? 3 : 2;
}

// Only items that nothing refers to are ever deleted.
unsigned deleted_per_mille(Kind kind) {
    switch (kind) {
        case Kind::vital_sign:
        case Kind::blood_pressure:
            return 12;
        case Kind::immunization:
        case Kind::allergy_intolerance:
            return 30;
        case Kind::care_plan:
        case Kind::explanation_of_benefit:
            return 15;
        default:
            return 0;
    }
}

// Adds the items of one patient, visit by visit.
class Planner {
  public:
    Planner(Chart& chart, const World& world, Dice& dice)
        : chart_(chart), world_(world), dice_(dice) {
        home_ = static_cast<std::uint16_t>(dice_.below(world.houses));
        doctor_ = static_cast<std::uint8_t>(dice_.below(kDoctorsPerHouse));
    }

    std::uint32_t add(Kind kind, std::size_t code = 0) {
        Item item{.kind = kind};
        const auto index = static_cast<std::uint32_t>(chart_.items.size());
        item.seed = item_seed(chart_.seed, index);
        item.code = static_cast<std::uint16_t>(code);
        item.house = house_;
        item.doctor = doctor_;
        item.encounter = encounter_;
        item.when = when_;
        item.states = draw_states(dice_, kind);
        item.deleted = dice_.chance(deleted_per_mille(kind));
        item.restored = item.deleted && dice_.chance(150);
        // Strictly later than the item before, so that all references point to existing resources.
        recorded_.us =
            std::max(recorded_.us + kMillisecond, base_.us + dice_.between(1, 40) * kSecond);
        item.recorded = recorded_;
        chart_.items.push_back(item);
        return index;
    }

    void begin_chart(Instant start) {
        base_ = start;
        when_ = start;
        house_ = home_;
        add(Kind::patient);
    }

    void visit(Instant recorded, Instant when) {
        base_ = recorded;
        when_ = when;
        age_ = static_cast<int>((when.us - chart_.birth.us) / kYear);
        house_ = dice_.chance(800) ? home_ : static_cast<std::uint16_t>(dice_.below(world_.houses));
        encounter_ = kNone;
        const std::size_t kind = draw_visit();
        encounter_ = add(Kind::encounter, kind);
        if (first_) {
            add_allergies();
        }
        add_vital_signs();
        add_laboratory();
        const std::uint32_t condition = add_condition(kind);
        add_medications(condition);
        add_vaccines();
        add_procedures_and_claim();
        first_ = false;
    }

  private:
    std::size_t draw_visit() {
        constexpr std::array<unsigned, 8> kWeights{400, 250, 120, 110, 50, 40, 20, 10};
        std::uint64_t draw = dice_.below(1000);
        std::size_t kind = 0;
        while (draw >= kWeights[kind]) {
            draw -= kWeights[kind];
            ++kind;
        }
        return kind;
    }

    void link(std::uint32_t item, std::uint32_t to, std::size_t count = 1) {
        chart_.items[item].link = to;
        chart_.items[item].link_count = static_cast<std::uint16_t>(to == kNone ? 0 : count);
    }

    void add_allergies() {
        if (!dice_.chance(250)) {
            return;
        }
        const std::uint64_t first = dice_.below(allergens().size());
        for (std::uint64_t i = dice_.below(3) + 1; i > 0; --i) {
            add(Kind::allergy_intolerance, (first + i) % allergens().size());
        }
    }

    void add_vital_signs() {
        if (dice_.chance(120)) {
            return;
        }
        for (std::size_t i = 0; i < vital_signs().size(); ++i) {
            if (i <= kBodyMassIndex || dice_.chance(600)) {
                add(Kind::vital_sign, i);
            }
        }
        if (age_ >= 3) {
            add(Kind::blood_pressure);
        }
        if (age_ >= 15 && dice_.chance(300)) {
            add(Kind::smoking_status);
        }
    }

    void add_laboratory() {
        const std::size_t count = dice_.chance(260) ? 1 + dice_.below(2) : 0;
        const std::size_t first = dice_.below(panels().size());
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t panel = (first + 3 * i) % panels().size();
            const std::size_t measures = panels()[panel].measures.size();
            std::uint32_t result = kNone;
            for (std::size_t m = 0; m < measures; ++m) {
                const std::uint32_t item = add(Kind::laboratory, panel << 8 | m);
                result = m == 0 ? item : result;
            }
            link(add(Kind::diagnostic_report, panel), result, measures);
        }
    }

    std::uint32_t add_condition(std::size_t visit) {
        if (!dice_.chance(visit == 1 || visit >= 4 ? 850 : 180)) {
            return kNone;
        }
        // A few draws, accepted by weight, find something that fits the age.
        for (int attempt = 0; attempt < 8; ++attempt) {
            const std::size_t disease = dice_.below(diseases().size());
            const Disease& row = diseases()[disease];
            if (age_ < row.age_from || age_ > row.age_to ||
                dice_.below(80) >= static_cast<std::uint64_t>(row.weight) ||
                (row.chronic && (chronic_ & 1ULL << disease) != 0)) {
                continue;
            }
            const std::uint32_t condition = add(Kind::condition, disease);
            if (row.chronic) {
                chronic_ |= 1ULL << disease;
                chart_.items[condition].states = 1;
                last_chronic_ = condition;
                if (dice_.chance(500)) {
                    link(add(Kind::care_plan, dice_.below(care_plans().size())), condition);
                }
            }
            return condition;
        }
        return kNone;
    }

    void add_medications(std::uint32_t condition) {
        const std::uint32_t reason = condition == kNone ? last_chronic_ : condition;
        if (reason == kNone || !dice_.chance(550)) {
            return;
        }
        const bool chronic = diseases()[chart_.items[reason].code].chronic;
        std::size_t drug = dice_.below(drugs().size());
        while (drugs()[drug].chronic != chronic) {
            drug = (drug + 1) % drugs().size();
        }
        const std::uint32_t request = add(Kind::medication_request, drug);
        link(request, reason);
        if (dice_.chance(600)) {
            const std::uint32_t claim = add(Kind::claim, 1);
            link(claim, request);
        }
    }

    void add_vaccines() {
        const unsigned share = age_ < 2 ? 900 : age_ < 18 ? 500 : 300;
        if (!dice_.chance(share)) {
            return;
        }
        const std::size_t count = age_ < 2 ? 1 + dice_.below(4) : 1;
        const std::size_t first = dice_.below(vaccines().size());
        for (std::size_t i = 0, added = 0; i < vaccines().size() && added < count; ++i) {
            const std::size_t vaccine = (first + i) % vaccines().size();
            if (age_ >= vaccines()[vaccine].age_from && age_ <= vaccines()[vaccine].age_to) {
                add(Kind::immunization, vaccine);
                ++added;
            }
        }
    }

    void add_procedures_and_claim() {
        const std::uint64_t count = dice_.below(4);
        std::uint32_t first = kNone;
        for (std::uint64_t i = 0; i < count; ++i) {
            std::size_t index = dice_.below(interventions().size());
            if (dice_.below(60) >= static_cast<std::uint64_t>(interventions()[index].weight)) {
                index = dice_.below(4);
            }
            const std::uint32_t item = add(Kind::procedure, index);
            first = i == 0 ? item : first;
        }
        const std::uint32_t claim = add(Kind::claim, 0);
        link(claim, first, count);
        if (dice_.chance(900)) {
            link(add(Kind::explanation_of_benefit), claim);
        }
    }

    Chart& chart_;
    const World& world_;
    Dice& dice_;
    std::uint16_t home_ = 0;
    std::uint16_t house_ = 0;
    std::uint8_t doctor_ = 0;
    std::uint32_t encounter_ = kNone;
    std::uint32_t last_chronic_ = kNone;
    std::uint64_t chronic_ = 0;
    Instant base_;
    Instant recorded_;
    Instant when_;
    int age_ = 0;
    bool first_ = true;
};

// How long after the previous version a change of `kind` is recorded.
std::int64_t delay(Dice& dice, Kind kind) {
    switch (kind) {
        case Kind::encounter:
            return dice.between(10, 300) * kMinute;
        case Kind::laboratory:
        case Kind::diagnostic_report:
            return dice.between(30, 2000) * kMinute;
        case Kind::procedure:
            return dice.between(5, 200) * kMinute;
        default:
            return dice.between(2, 120) * kDay;
    }
}

}  // namespace

std::string_view type_name(Kind kind) noexcept {
    constexpr std::string_view kNames[] = {
        "Organization",
        "Location",
        "Practitioner",
        "Patient",
        "Encounter",
        "Observation",
        "Observation",
        "Observation",
        "Observation",
        "Condition",
        "Procedure",
        "MedicationRequest",
        "Immunization",
        "DiagnosticReport",
        "AllergyIntolerance",
        "CarePlan",
        "Claim",
        "ExplanationOfBenefit",
    };
    return kNames[static_cast<std::size_t>(kind)];
}

Person person_of(std::uint64_t seed) {
    Dice dice(seed ^ 0x706572736f6e);
    Person person;
    person.female = dice.chance(508);
    person.given = dice.pick(person.female ? female_names() : male_names());
    person.middle = dice.pick(person.female ? female_names() : male_names());
    person.family = dice.pick(family_names());
    // An age pyramid: uniform up to 60, thinning out above.
    std::int64_t age = dice.between(0, kAgeMax - 1);
    while (age > 60 && dice.between(60, kAgeMax) < age) {
        age = dice.between(0, kAgeMax - 1);
    }
    person.age_days = age * 365 + dice.between(0, 364);
    return person;
}

World make_world(std::uint64_t seed, std::uint32_t houses, Instant start) {
    World world;
    world.houses = houses;
    world.chart.seed = mix(seed ^ 0x776f726c64);
    Dice dice(world.chart.seed);
    std::int64_t recorded = start.us;
    const auto add = [&](Kind kind, std::uint32_t house) {
        Item item{.kind = kind};
        item.house = static_cast<std::uint16_t>(house);
        item.seed = item_seed(world.chart.seed, world.chart.items.size());
        item.states = draw_states(dice, kind);
        item.when = start;
        item.recorded = Instant{recorded += kMillisecond};
        world.chart.items.push_back(item);
    };
    for (std::uint32_t house = 0; house < houses; ++house) {
        add(Kind::organization, house);
        for (std::uint32_t i = 0; i < kLocationsPerHouse; ++i) {
            add(Kind::location, house);
        }
        for (std::uint32_t i = 0; i < kDoctorsPerHouse; ++i) {
            add(Kind::practitioner, house);
        }
    }
    return world;
}

Chart make_patient(std::uint64_t seed, std::uint64_t number, const World& world,
                   const Schedule& schedule) {
    Chart chart;
    chart.seed = mix(seed ^ mix(number + 1));
    chart.person = person_of(item_seed(chart.seed, 0));
    const Instant start{schedule.start.us / kMillisecond * kMillisecond};
    chart.birth = Instant{(start.us / kDay - chart.person.age_days) * kDay};
    Dice dice(chart.seed);
    Planner planner(chart, world, dice);
    planner.begin_chart(start);
    const std::int64_t visits = dice.between(3, 16) + chart.person.age_days / (365 * 10);
    const std::int64_t gap = std::max<std::int64_t>(schedule.width_us / visits, 1);
    // If the record is a narrow window, visits are further apart in life than in it; none is
    // before birth.
    const std::int64_t life = start.us - chart.birth.us;
    const std::int64_t stretch = std::max<std::int64_t>(
        0, std::min(life / (visits + 1), dice.between(40, 300) * kDay) - gap);
    for (std::int64_t visit = 0; visit < visits; ++visit) {
        const std::int64_t jitter = static_cast<std::int64_t>(dice.next() >> 1) % gap;
        const Instant recorded{(start.us + visit * gap + jitter) / kMillisecond * kMillisecond};
        const std::int64_t when = recorded.us - (visits - 1 - visit) * stretch;
        planner.visit(recorded, Instant{when / kSecond * kSecond});
    }
    return chart;
}

std::vector<Event> make_events(const Chart& chart) {
    std::vector<Event> events;
    events.reserve(chart.items.size() * 3 / 2);
    for (std::uint32_t i = 0; i < chart.items.size(); ++i) {
        const Item& item = chart.items[i];
        Dice dice(item.seed ^ 0x6576656e7473);
        Event event{.when = item.recorded, .item = i, .version = 1, .state = 0};
        events.push_back(event);
        event.change = Change::update;
        while (event.state + 1 < item.states) {
            event.when.us += delay(dice, item.kind);
            ++event.version;
            ++event.state;
            events.push_back(event);
        }
        if (item.deleted) {
            event.when.us += delay(dice, item.kind);
            ++event.version;
            event.change = Change::remove;
            events.push_back(event);
            if (item.restored) {
                event.when.us += delay(dice, item.kind);
                ++event.version;
                event.change = Change::update;
                events.push_back(event);
            }
        }
    }
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
        return a.when != b.when ? a.when < b.when
                                : (a.item != b.item ? a.item < b.item : a.version < b.version);
    });
    return events;
}

}  // namespace annals::generate
