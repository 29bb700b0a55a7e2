// The similarity of two patients, in points.
//
// Layer:   core/operations.
// Spec:    FHIR R4 patient-operation-match.html; docs/api/match.md, The score.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"

#include <string_view>

namespace annals::core {

/// The most elements of one kind that are compared; the rest are ignored.
inline constexpr std::size_t kMatchElementsMax = 20;

/// From 0 (nothing in common) to 100. An element that one of them lacks counts neither way.
int match_points(json::Value asked, json::Value candidate);

/// The code of match-grade for `points`.
std::string_view match_grade(int points);

/// Patients with fewer points do not match.
inline constexpr int kMatchPossible = 35;
inline constexpr int kMatchProbable = 65;
inline constexpr int kMatchCertain = 90;

}  // namespace annals::core
