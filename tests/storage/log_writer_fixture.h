// Shared by tests of the log writer: a store on a simulated disk, and commits of one version.

#pragma once

#include "storage/store.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

namespace annals::storage {

inline std::unique_ptr<Store> open_store(test::SimFileSystem& fs,
                                         std::uint64_t segment_bytes = 64 << 10,
                                         Durability durability = Durability::commit) {
    StoreOptions options;
    options.segment_bytes = segment_bytes;
    options.prepare_segments = false;
    options.durability = durability;
    options.sync_interval_ms = 5;
    auto store = Store::open(fs, "/data", options);
    EXPECT_TRUE(store) << store.error().detail;
    return store ? *std::move(store) : nullptr;
}

inline Submission submit(Store& store, const std::string& id, const std::string& text = "x") {
    test::CommitBuilder builder;
    builder.put("Patient", id, text);
    return store.submit(builder.commit());
}

}  // namespace annals::storage
