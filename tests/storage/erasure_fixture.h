// Shared by tests of erasures: a store's options, and a hard delete of one patient.

#pragma once

#include "storage/store.h"
#include "tests/support/commits.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace annals::storage {

/// Segments are created only when needed.
inline StoreOptions segments_on_demand(std::uint64_t segment_bytes = 64 << 10) {
    StoreOptions options;
    options.segment_bytes = segment_bytes;
    options.prepare_segments = false;
    return options;
}

inline Submission submit_erase(Store& store, std::string_view id) {
    test::CommitBuilder builder;
    builder.erase("Patient", std::string(id));
    return store.submit(builder.commit());
}

}  // namespace annals::storage
