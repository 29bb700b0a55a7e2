// Owned: a pointer to what a C library has allocated.
//
// Layer:   core/base.
// Threads: the caller's.

#pragma once

#include <memory>

namespace annals {

/// Frees by `kFree`, a function of the library.
template <auto kFree>
struct Freeing {
    void operator()(auto* object) const noexcept { kFree(object); }
};

template <typename T, auto kFree>
using Owned = std::unique_ptr<T, Freeing<kFree>>;

}  // namespace annals
