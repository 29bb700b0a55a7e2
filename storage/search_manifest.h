// SearchManifest: what a checkpoint of the search index says that it is.
//
// Layer:   storage.
// Format:  docs/format.md, "Search checkpoint".
// Threads: plain functions.

#pragma once

#include "core/base/ids.h"
#include "core/base/instant.h"
#include "core/base/resource_types.h"
#include "core/base/result.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::storage {

/// One of each resource type.
template <typename T>
using PerType = std::array<T, kResourceTypeCount>;

struct SearchManifest {
    /// A run in a file.
    struct Place {
        std::uint64_t file = 0;
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
        std::uint64_t checksum = 0;
        std::uint32_t documents = 0;
    };

    struct Type {
        std::uint64_t fingerprint = 0;
        Position covered;
        Position vacuumed_through;
        std::vector<Place> runs;
    };

    /// A version of the log that a checkpoint has seen: another log doesn't have it.
    struct Witness {
        Position position;
        VersionNumber version;
        Instant instant;
        std::uint64_t key = 0;

        bool operator==(const Witness&) const = default;
    };

    std::uint64_t store_id = 0;
    Witness witness;
    PerType<Type> types;
};

/// Bytes of a manifest, and of files, begin at multiples of this.
inline constexpr std::size_t kSearchFileAligned = 8;

/// Why a checkpoint is passed over.
inline Error unfit(std::string_view why) {
    return {Errc::corrupt, std::string(why), {}};
}

std::string encode_manifest(const SearchManifest& manifest);

/// Errors: corrupt.
Result<SearchManifest> decode_manifest(std::string_view bytes);

}  // namespace annals::storage
