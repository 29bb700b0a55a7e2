// The similarity of two patients, in points.
//
// Layer:   core/operations.
// Spec:    FHIR R4 patient-operation-match.html; docs/api/match.md, The score.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"

#include <cstddef>
#include <memory>
#include <string_view>

namespace annals::core {

/// The most elements of one kind that are compared; the rest are ignored.
inline constexpr std::size_t kMatchElementsMax = 20;

/// Calls `take` for the elements of `array` that are compared.
template <typename Take>
void for_each_compared(json::Value array, const Take& take) {
    std::size_t count = 0;
    for (const json::Value element : array.elements()) {
        if (++count > kMatchElementsMax) {
            break;
        }
        take(element);
    }
}

/// Compares patients with one of them, which is read only once.
class PatientMatcher {
  public:
    explicit PatientMatcher(json::Value patient);
    ~PatientMatcher();

    /// From 0 (nothing in common) to 100. An element that one of them lacks counts neither way.
    int points(json::Value candidate) const;

  private:
    struct Compared;

    std::unique_ptr<const Compared> patient_;
};

/// The code of match-grade for `points`.
std::string_view match_grade(int points);

/// Patients with fewer points do not match.
inline constexpr int kMatchPossible = 35;
inline constexpr int kMatchProbable = 65;
inline constexpr int kMatchCertain = 90;

}  // namespace annals::core
