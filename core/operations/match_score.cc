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
    std::string folded = search::fold(value.string());
    if (!folded.empty() && texts.size() < kMatchElementsMax) {
        texts.insert(std::move(folded));
    }
}

/// The values of `name` in the elements of `array`, folded.
Texts texts_of(json::Value array, std::string_view name) {
    Texts texts;
    std::size_t looked_at = 0;
    for (const json::Value element : array.elements()) {
        if (++looked_at > kMatchElementsMax) {
            break;
        }
        const json::Value value = element[name];
        add(texts, value);
        for (const json::Value one : value.elements()) {
            add(texts, one);
        }
    }
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

int compare_identifiers(json::Value asked, json::Value candidate) {
    Texts a;
    Texts b;
    const auto collect = [](json::Value identifiers, Texts& pairs, Texts& systems) {
        for (const json::Value identifier : identifiers.elements()) {
            const std::string system(identifier["system"].string());
            const std::string value(identifier["value"].string());
            if (value.empty() || pairs.size() >= kMatchElementsMax) {
                continue;
            }
            pairs.insert(system + '\n' + value);
            if (!system.empty()) {
                systems.insert(system);
            }
        }
    };
    Texts systems_a;
    Texts systems_b;
    collect(asked, a, systems_a);
    collect(candidate, b, systems_b);
    if (have_common(a, b)) {
        return kIdentifier.same;
    }
    return have_common(systems_a, systems_b) ? kIdentifier.other : 0;
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

int match_points(json::Value asked, json::Value candidate) {
    const auto both = [&](std::string_view array, std::string_view name, Weight weight) {
        return compare(texts_of(asked[array], name), texts_of(candidate[array], name), weight);
    };
    Texts gender_a;
    Texts gender_b;
    add(gender_a, asked["gender"]);
    add(gender_b, candidate["gender"]);
    const int points =
        compare_identifiers(asked["identifier"], candidate["identifier"]) +
        both("name", "family", kFamily) + both("name", "given", kGiven) +
        compare_birth_dates(asked["birthDate"].string(), candidate["birthDate"].string()) +
        compare(gender_a, gender_b, kGender) + both("telecom", "value", kTelecom) +
        both("address", "postalCode", kPostalCode) + both("address", "city", kCity);
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
