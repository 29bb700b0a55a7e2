// Shared by tests of opening: a store of patients with small segments, in a simulated file system.

#pragma once

#include "storage/store.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace annals::storage {

inline constexpr std::uint64_t kSmallSegmentBytes = 16 << 10;

/// That many store_of_patients() take more than one segment.
inline constexpr int kTwoSegments = 80;

inline const std::string kFirstSegment = "/data/segments/0000000001.seg";
inline const std::string kSecondSegment = "/data/segments/0000000002.seg";

inline StoreOptions small_segments(bool read_only = false, bool allow_damaged = false) {
    StoreOptions options;
    options.segment_bytes = kSmallSegmentBytes;
    options.prepare_segments = false;
    options.read_only = read_only;
    options.allow_damaged = allow_damaged;
    return options;
}

/// A store of `count` patients p0, p1, ..., each a commit of its own; closed in order, or as after a power cut that lost nothing.
inline std::unique_ptr<test::SimFileSystem> store_of_patients(int count, bool orderly = false) {
    auto fs = std::make_unique<test::SimFileSystem>();
    auto store = Store::open(*fs, "/data", small_segments());
    EXPECT_TRUE(store);
    for (int i = 0; i < count; ++i) {
        test::put(**store, "Patient", "p" + std::to_string(i), "marker-" + std::to_string(i) + ";");
    }
    if (!orderly) {
        return fs->after_power_cut(1);
    }
    store->reset();
    return fs;
}

inline std::uint64_t offset_in_file(const test::SimFileSystem& fs, const std::string& path,
                                    const std::string& text) {
    const std::size_t at = fs.content(path).find(text);
    EXPECT_NE(at, std::string::npos);
    return at;
}

}  // namespace annals::storage
