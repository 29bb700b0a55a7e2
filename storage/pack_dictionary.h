// PackDictionary: what the blocks of a packed segment are compressed against, chosen from the segment's own bodies.
//
// Every byte of its text comes from one known body: once that body is erased the dictionary has to go, and until then it
// contains nothing that the log does not.
//
// Layer:   storage.
// Format:  docs/format.md, "Packed segment".
// Threads: one.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::storage {

/// A body that the dictionary may take pieces of. `record` identifies its version.
struct PackSample {
    std::uint64_t record = 0;
    std::string_view body;
};

struct PackDictionary {
    std::string bytes;  ///< in zstd's format; empty: not worth it
    /// PackSample::record of all that it has pieces of, ascending.
    std::vector<std::uint64_t> sources;
};

/// Chooses what most `samples` have in common, `bytes_max` bytes at most. `blocks`: some of what will be compressed.
/// Cost: 50 ns per byte of the samples.
PackDictionary choose_dictionary(std::span<const PackSample> samples,
                                 std::span<const std::string> blocks, std::size_t bytes_max,
                                 int level);

}  // namespace annals::storage
