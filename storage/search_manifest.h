// SearchManifest: what a checkpoint of the search index contains, and of which log it is.
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

/// One T for each resource type.
template <typename T>
using PerType = std::array<T, kResourceTypeCount>;

struct SearchManifest {
    /// Where a run is, in a file.
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

    /// A version in the log that the checkpoint has seen; no other log has it.
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

/// Calls `see` with the place of each run.
template <typename See>
void for_each_place(const PerType<SearchManifest::Type>& types, const See& see) {
    for (const SearchManifest::Type& type : types) {
        for (const SearchManifest::Place& place : type.runs) {
            see(place);
        }
    }
}

/// Parts of a manifest, and runs in files, begin at multiples of this.
inline constexpr std::size_t kSearchFileAligned = 8;

/// The error for a checkpoint that has to be ignored.
inline Error unfit(std::string_view why) {
    return {Errc::corrupt, std::string(why)};
}

std::string encode_manifest(const SearchManifest& manifest);

/// Errors: corrupt; usage: another version of the format.
Result<SearchManifest> decode_manifest(std::string_view bytes);

}  // namespace annals::storage
