// A store with a clock that stands still, and submissions to it.

#pragma once

#include "storage/store.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace annals::storage {

/// A store with a clock that stands still until it is set.
class SequencerTest : public testing::Test {
  protected:
    SequencerTest() { reopen(); }

    void reopen() {
        store_.reset();
        StoreOptions options;
        options.segment_bytes = 64 << 10;
        options.prepare_segments = false;
        options.clock = [this] { return clock_; };
        store_ = *Store::open(fs_, "/data", options);
    }

    template <typename Fill>
    Submission submit(const Fill& fill) {
        builder_ = test::CommitBuilder();
        fill(builder_);
        return store_->submit(builder_.commit());
    }

    Submission put(std::string_view id, Expect expect = Expect::anything,
                   VersionNumber expected = {}) {
        return submit([&](test::CommitBuilder& b) {
            VersionWrite& write = b.put("Patient", id, "x");
            write.expect = expect;
            write.expected_version = expected;
        });
    }

    Submission keep(std::string_view id, std::uint64_t version) {
        return submit([&](test::CommitBuilder& b) {
            VersionWrite& write = b.put("Patient", id, "x");
            write.expect = Expect::older;
            write.version = VersionNumber{version};
            write.instant = Instant{1'000'000};
        });
    }

    Submission remove(std::string_view id) {
        return submit([&](test::CommitBuilder& b) { b.remove("Patient", id); });
    }

    Submission erase(std::string_view id, Erase::Scope scope = Erase::Scope::everything,
                     std::uint64_t version = 0) {
        return submit([&](test::CommitBuilder& b) { b.erase("Patient", id, scope, {version}); });
    }

    /// Waits for `submission`, which must be accepted.
    void done(const Submission& submission) {
        ASSERT_EQ(submission.status, Submission::Status::accepted);
        ASSERT_TRUE(store_->wait(submission.ticket));
    }

    const VersionWrite::Outcome& outcome() const { return builder_.writes().at(0).outcome; }

    test::SimFileSystem fs_;
    Instant clock_{1'700'000'000'123'456};
    std::unique_ptr<Store> store_;
    test::CommitBuilder builder_;
};

}  // namespace annals::storage
