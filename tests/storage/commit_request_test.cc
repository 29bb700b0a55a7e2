// The request that made a commit: kept with the commit wherever it goes, and erased with its versions.

#include "storage/backup.h"
#include "storage/file_system.h"
#include "storage/restore.h"
#include "storage/store.h"
#include "tests/support/commits.h"
#include "tests/support/store_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::expect_sound;
using test::kDirectory;
using test::on_disk;
using test::SimFileSystem;

constexpr int kCommits = 200;

StoreOptions requested_options(bool packed) {
    StoreOptions options;
    options.segment_bytes = 64 << 10;
    options.prepare_segments = false;
    options.pack_segments = packed;
    options.pack_after = std::chrono::hours(24);
    return options;
}

std::unique_ptr<Store> open(FileSystem& fs, bool packed = false,
                            const std::string& directory = kDirectory) {
    auto store = Store::open(fs, directory, requested_options(packed));
    EXPECT_TRUE(store) << store.error().detail;
    return store ? *std::move(store) : nullptr;
}

std::string request_of(int i) {
    return fmt::format("request-{}-{}.", i, i * 7919);
}

void submit(Store& store, CommitBuilder& builder, std::string_view request) {
    builder.request(request);
    const Submission submission = store.submit(builder.commit());
    ASSERT_EQ(submission.status, Submission::Status::accepted);
    ASSERT_TRUE(store.wait(submission.ticket));
    const auto done = store.wait_erased(submission.ticket);
    ASSERT_TRUE(done) << done.error().detail;
}

void erase_on_request(Store& store, const std::string& type, const std::string& id) {
    CommitBuilder builder;
    builder.erase(type, id);
    submit(store, builder, "away-with-it");
}

/// Commits of two versions each; every second commit names its request.
void fill(Store& store) {
    for (int i = 0; i < kCommits; ++i) {
        CommitBuilder builder;
        builder.put("Patient", fmt::format("p{}", i), std::string(300, 'p'));
        builder.put("Observation", fmt::format("o{}", i), std::string(300, 'o'));
        submit(store, builder, i % 2 == 0 ? request_of(i) : "");
    }
}

/// Position of the last version of a commit made by fill().
Position end_of(int i) {
    return {static_cast<std::uint64_t>(i) * 2 + 2};
}

void expect_all(const Store& store, int gone = -1) {
    for (int i = 0; i < kCommits; ++i) {
        EXPECT_EQ(store.request_of(end_of(i)), i % 2 == 0 && i != gone ? request_of(i) : "") << i;
        EXPECT_EQ(store.commit_end({end_of(i).value - 1}), end_of(i));
        EXPECT_EQ(store.commit_begin(end_of(i)), Position{end_of(i).value - 1});
    }
}

void compact(Store& store) {
    store.compact(true);
    const auto done = store.wait_compacted();
    ASSERT_TRUE(done) << done.error().detail;
}

TEST(CommitRequest, IsKeptOverRestartsSealingAndPacking) {
    SimFileSystem fs;
    {
        const auto store = open(fs);
        fill(*store);
        expect_all(*store);
    }
    EXPECT_GT(open(fs)->metrics().segments, 2U);
    for (const bool packed : {false, true}) {
        const auto store = open(fs, packed);
        expect_all(*store);
        compact(*store);
        EXPECT_EQ(store->metrics().segments_packed > 0, packed);
        expect_all(*store);
        expect_sound(fs, kDirectory);
    }
    expect_all(*open(fs, true));
}

TEST(CommitRequest, IsInABackup) {
    SimFileSystem fs;
    const auto store = open(fs);
    fill(*store);
    const auto end = [&]() -> Result<LogEnd> { return *store->log_end(); };
    ASSERT_TRUE(back_up(fs, kDirectory, "/backup", end, {}));
    ASSERT_TRUE(restore(fs, "/backup", "/restored", {}));
    expect_all(*open(fs, false, "/restored"));
    RestoreOptions until;
    until.to_position = end_of(20);
    ASSERT_TRUE(restore(fs, "/backup", "/earlier", until));
    const auto earlier = open(fs, false, "/earlier");
    EXPECT_EQ(earlier->last_position(), end_of(20));
    EXPECT_EQ(earlier->request_of(end_of(20)), request_of(20));
    expect_sound(fs, "/earlier");
}

class ErasedRequest : public testing::TestWithParam<bool> {};

TEST_P(ErasedRequest, IsGoneWithTheFirstVersionThatIsErased) {
    const bool packed = GetParam();
    SimFileSystem fs;
    {
        const auto store = open(fs, packed);
        fill(*store);
        if (packed) {
            compact(*store);
        }
        ASSERT_TRUE(on_disk(fs, request_of(10)));
        erase_on_request(*store, "Patient", "p10");
        EXPECT_FALSE(on_disk(fs, request_of(10)));
        EXPECT_TRUE(on_disk(fs, request_of(12)));
        expect_all(*store, 10);
        // The rest of the commit can be erased, too.
        erase_on_request(*store, "Observation", "o10");
        expect_all(*store, 10);
        expect_sound(fs, kDirectory);
        compact(*store);
        expect_all(*store, 10);
        expect_sound(fs, kDirectory);
    }
    expect_all(*open(fs, packed), 10);
    EXPECT_FALSE(on_disk(fs, request_of(10)));
}

INSTANTIATE_TEST_SUITE_P(Segments, ErasedRequest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Packed" : "Plain"; });

TEST(CommitRequest, OfADeletionGoesWithIt) {
    SimFileSystem fs;
    const auto store = open(fs);
    test::put(*store, "Patient", "a", "1");
    CommitBuilder builder;
    builder.remove("Patient", "a");
    submit(*store, builder, "end-of-story");
    EXPECT_EQ(store->request_of({2}), "end-of-story");
    erase_on_request(*store, "Patient", "a");
    EXPECT_EQ(store->request_of({2}), "");
    EXPECT_FALSE(on_disk(fs, "end-of-story"));
}

TEST(CommitRequest, IsNotKeptOfWhatOnlyErases) {
    SimFileSystem fs;
    const auto store = open(fs);
    test::put(*store, "Patient", "a", "1");
    erase_on_request(*store, "Patient", "a");
    EXPECT_FALSE(on_disk(fs, "away-with-it"));
    expect_sound(fs, kDirectory);
}

TEST(CommitRequest, IsOfBoundedLength) {
    SimFileSystem fs;
    const auto store = open(fs);
    for (const std::size_t size : {128U, 129U}) {
        CommitBuilder builder;
        builder.put("Patient", "a", "1");
        builder.request(std::string(size, 'r'));
        const Submission submission = store->submit(builder.commit());
        EXPECT_EQ(submission.status == Submission::Status::accepted, size == 128);
        ASSERT_TRUE(store->wait(submission.ticket));
    }
    EXPECT_EQ(store->request_of({1}), std::string(128, 'r'));
}

}  // namespace
}  // namespace annals::storage
