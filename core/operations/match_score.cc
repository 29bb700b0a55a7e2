#include "core/operations/match_score.h"

#include "core/search/fold.h"

#include <algorithm>
#include <set>
#include <string>

namespace annals::core {

namespace {

using Texts = std::set<std::string>;

/// What an agreement and a disagreement count.
struct Weight {
    int same;
    int other;
};

constexpr Weight kIdentifier{60, -20};
constexpr Weight kFamily{20, -10};
constexpr Weight kGiven{15, -10};
constexpr Weight kBirthDate{25, -20};
constexpr int kBirthDatePart = 10;
constexpr Weight kGender{5, -10};
constexpr Weight kTelecom{10, 0};
constexpr Weight kPostalCode{5, 0};
constexpr Weight kCity{5, 0};

void add(Texts& texts, json::Value value) {
    if (texts.size() == kMatchElementsMax) {
        return;
    }
    if (std::string folded = search::fold(value.string()); !folded.empty()) {
        texts.insert(std::move(folded));
    }
}

/// The values of `name` in the elements of `array`, folded.
Texts texts_of(json::Value array, std::string_view name) {
    Texts texts;
    for_each_compared(array, [&](json::Value element) {
        const json::Value value = element[name];
        add(texts, value);
        for_each_compared(value, [&](json::Value one) { add(texts, one); });
    });
    return texts;
}

bool have_common(const Texts& a, const Texts& b) {
    return std::any_of(a.begin(), a.end(),
                       [&b](const std::string& text) { return b.contains(text); });
}

int compare(const Texts& a, const Texts& b, Weight weight) {
    if (a.empty() || b.empty()) {
        return 0;
    }
    return have_common(a, b) ? weight.same : weight.other;
}

int compare_birth_dates(std::string_view a, std::string_view b) {
    if (a.empty() || b.empty()) {
        return 0;
    }
    if (a == b) {
        return kBirthDate.same;
    }
    return a.starts_with(b) || b.starts_with(a) ? kBirthDatePart : kBirthDate.other;
}

}  // namespace

/// What is compared of a patient.
struct PatientMatcher::Compared {
    Texts identifiers;  ///< with their systems
    Texts systems;      ///< of the identifiers
    Texts families;
    Texts given;
    std::string birth_date;
    Texts gender;
    Texts telecoms;
    Texts postal_codes;
    Texts cities;

    explicit Compared(json::Value patient)
        : families(texts_of(patient["name"], "family")),
          given(texts_of(patient["name"], "given")),
          birth_date(patient["birthDate"].string()),
          telecoms(texts_of(patient["telecom"], "value")),
          postal_codes(texts_of(patient["address"], "postalCode")),
          cities(texts_of(patient["address"], "city")) {
        add(gender, patient["gender"]);
        for_each_compared(patient["identifier"], [this](json::Value identifier) {
            const std::string system = identifier["system"].string();
            const std::string value = identifier["value"].string();
            if (value.empty()) {
                return;
            }
            identifiers.insert(system + '\n' + value);
            if (!system.empty()) {
                systems.insert(system);
            }
        });
    }

    int identifier_points(const Compared& other) const {
        if (have_common(identifiers, other.identifiers)) {
            return kIdentifier.same;
        }
        return have_common(systems, other.systems) ? kIdentifier.other : 0;
    }
};

PatientMatcher::PatientMatcher(json::Value patient)
    : patient_(std::make_unique<const Compared>(patient)) {
}

PatientMatcher::~PatientMatcher() = default;

int PatientMatcher::points(json::Value candidate) const {
    const Compared& a = *patient_;
    const Compared b(candidate);
    const int points =
        a.identifier_points(b) + compare(a.families, b.families, kFamily) +
        compare(a.given, b.given, kGiven) + compare_birth_dates(a.birth_date, b.birth_date) +
        compare(a.gender, b.gender, kGender) + compare(a.telecoms, b.telecoms, kTelecom) +
        compare(a.postal_codes, b.postal_codes, kPostalCode) + compare(a.cities, b.cities, kCity);
    return std::clamp(points, 0, 100);
}

std::string_view match_grade(int points) {
    if (points >= kMatchCertain) {
        return "certain";
    }
    if (points >= kMatchProbable) {
        return "probable";
    }
    return points >= kMatchPossible ? "possible" : "certainly-not";
}

}  // namespace annals::core
