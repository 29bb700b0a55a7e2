// How alike two patients are, in points.
//
// Layer:   core/operations.
// Spec:    FHIR R4 patient-operation-match.html; docs/api/match.md, The score.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"

#include <string_view>

namespace annals::core {

/// Elements of one kind that are compared; what is behind them counts for nothing.
inline constexpr std::size_t kMatchElementsMax = 20;

/// From 0 (nothing in common) to 100. What one of the two doesn't say counts neither way.
int match_points(json::Value asked, json::Value candidate);

/// The code of match-grade for so many points.
std::string_view match_grade(int points);

/// Fewer points are no match.
inline constexpr int kMatchPossible = 35;
inline constexpr int kMatchProbable = 65;
inline constexpr int kMatchCertain = 90;

}  // namespace annals::core
