// sort_unique: a list as a sorted set.
//
// Layer:   core/base.
// Threads: plain functions.

#pragma once

#include <algorithm>
#include <vector>

namespace annals {

/// Sorts `values` and leaves one of each.
template <typename Value>
void sort_unique(std::vector<Value>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace annals
