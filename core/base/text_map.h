// TextMap, TextMultimap and TextSet: hash tables whose keys are texts that others choose.
//
// Layer:   core/base.
// Threads: as the standard containers.

#pragma once

#include "core/base/digest.h"
#include "core/base/random.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace annals {

/// Hashes with a random seed for each process. The hash of the standard library has a fixed one: texts can be computed that
/// all have the same hash, and a table of them takes time that grows with the square of their number.
struct SeededHash {
    using is_transparent = void;

    // Not noexcept: libstdc++ then keeps the hash of each key, so texts are not hashed again when a table is walked or grows.
    std::size_t operator()(std::string_view text) const { return hash64(text, seed()); }

    /// Of a number that is a hash without a seed.
    std::size_t operator()(std::uint64_t number) const {
        return (*this)({reinterpret_cast<const char*>(&number), sizeof number});
    }

  private:
    static std::uint64_t seed() noexcept {
        static const std::uint64_t kSeed = random_u64();
        return kSeed;
    }
};

template <typename Value, typename Text = std::string>
using TextMap = std::unordered_map<Text, Value, SeededHash, std::equal_to<>>;

template <typename Value, typename Text = std::string>
using TextMultimap = std::unordered_multimap<Text, Value, SeededHash, std::equal_to<>>;

template <typename Text = std::string>
using TextSet = std::unordered_set<Text, SeededHash, std::equal_to<>>;

}  // namespace annals
