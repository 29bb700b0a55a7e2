// The files of the search index: what is written, what is kept, what is loaded again.

#include "storage/search_checkpoint.h"

#include "tests/storage/search_checkpoint_fixture.h"
#include "tests/support/search_files.h"

#include <chrono>
#include <thread>

namespace annals::storage {
namespace {

using test::checkpoint_files;
using test::mentions;
using test::SimFileSystem;
using Call = SimFileSystem::Call;
using Small = SearchCheckpoint::Small;

const std::string kFolder(test::kSearchFiles);

TEST_F(SearchCheckpointTest, OfTheFirstVersionWaitsUntilTheIndexHasIt) {
    SearchCheckpoint checkpoint = this->checkpoint();
    ASSERT_TRUE(checkpoint.write(search_, now_));
    EXPECT_TRUE(checkpoint_files(fs_).empty()) << "there is nothing";
    SearchEntries entries;
    entries.terms = {1};
    const Hash128 key{1001, salt_};
    const IndexedDocument document{.position = {1}, .key = key.low, .entries = &entries};
    search_.add(kType, std::span(&document, 1));
    search_.wait_until_idle();
    std::thread publishes([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        add_version(index_, 1, key);
        index_.publish({1});
    });
    EXPECT_TRUE(checkpoint.write(search_, now_));
    publishes.join();
    EXPECT_EQ(loaded_documents(), 1U);
}

TEST_F(SearchCheckpointTest, KeepsFilesOfLargeRuns) {
    SearchCheckpoint checkpoint = this->checkpoint();
    add(20);
    add(3);
    ASSERT_TRUE(checkpoint.write(search_, now_));
    EXPECT_EQ(checkpoint.packed_documents(), 3U);
    const auto first = checkpoint_files(fs_);
    ASSERT_EQ(first.size(), 3U);
    EXPECT_EQ(loaded_documents(), 23U);
    add(4);
    ASSERT_TRUE(checkpoint.write(search_, now_));
    EXPECT_EQ(checkpoint.packed_documents(), 7U);
    const auto second = checkpoint_files(fs_);
    ASSERT_EQ(second.size(), 3U);
    std::vector<std::string> same;
    std::ranges::set_intersection(first, second, std::back_inserter(same));
    EXPECT_EQ(same.size(), 2U);  // the large run's file and the manifest
    EXPECT_EQ(loaded_documents(), 27U);
}

TEST_F(SearchCheckpointTest, RewritesFilesOfLargeRunsWithoutWhatWasErased) {
    SearchCheckpoint checkpoint = this->checkpoint();
    add(20);
    ASSERT_TRUE(checkpoint.write(search_, now_));
    EXPECT_TRUE(mentions(fs_, "text-7;"));
    EXPECT_EQ(checkpoint_files(fs_).size(), 2U);
    search_.died(kType, {7}, {0});
    index_.erase({{1007, salt_}, Erase::Scope::everything, {}});
    ASSERT_TRUE(checkpoint.write(search_, now_));
    EXPECT_FALSE(mentions(fs_, "text-7;"));
    EXPECT_TRUE(mentions(fs_, "text-8;"));
    const auto once = checkpoint_files(fs_);
    ASSERT_TRUE(checkpoint.write(search_, now_));
    EXPECT_EQ(loaded_documents(), 19U);
    // The same erasure doesn't cause another rewrite.
    std::vector<std::string> same;
    const auto twice = checkpoint_files(fs_);
    std::ranges::set_intersection(once, twice, std::back_inserter(same));
    EXPECT_EQ(same.size(), 2U);
}

TEST_F(SearchCheckpointTest, WhatIsToOutliveTheProcessAloneWaitsForNothing) {
    SearchCheckpoint checkpoint = this->checkpoint();
    add(20);
    add(3);
    ASSERT_TRUE(checkpoint.write(search_, now_));
    const auto first = checkpoint_files(fs_);
    const std::uint64_t syncs = fs_.file_syncs();
    add(4);
    add(30);
    ASSERT_TRUE(checkpoint.write_recent(search_, now_));
    EXPECT_EQ(fs_.file_syncs(), syncs);
    const auto second = checkpoint_files(fs_);
    EXPECT_TRUE(std::ranges::includes(second, first));
    EXPECT_EQ(second.size(), first.size() + 3);  // the large run, the small ones, the manifest
    EXPECT_EQ(loaded_documents(), 57U);
    add(5);
    ASSERT_TRUE(checkpoint.write_recent(search_, now_));
    EXPECT_EQ(checkpoint_files(fs_).size(), second.size() + 1);
    EXPECT_EQ(loaded_documents(), 62U);
    // Then large files are synced where they are, and small runs are gathered again.
    ASSERT_TRUE(checkpoint.write(search_, now_));
    EXPECT_EQ(checkpoint_files(fs_).size(), first.size() + 1);
    EXPECT_EQ(checkpoint.packed_documents(), 12U);
    EXPECT_EQ(loaded_documents(), 62U);
    const auto dark = fs_.after_power_cut(0);
    EXPECT_EQ(loaded_documents(*dark), 62U);
}

TEST_F(SearchCheckpointTest, OfWhatAPowerCutTookTheOneBeforeIsUsed) {
    add(20);
    add(3);
    for (std::uint64_t n = 1;; ++n) {
        SimFileSystem fs;
        SearchCheckpoint checkpoint = this->checkpoint(fs);
        ASSERT_TRUE(checkpoint.write(search_, now_));
        const std::uint64_t before = index_.last_position().value;
        add(4);
        add(30);
        fs.power_off_at(n);
        const bool first = checkpoint.write_recent(search_, now_).has_value();
        add(2);
        const bool second = checkpoint.write_recent(search_, now_).has_value();
        const bool third = checkpoint.write(search_, now_).has_value();
        for (std::uint64_t seed = 0; seed < 8; ++seed) {
            const auto after = fs.after_power_cut(seed);
            const std::uint64_t loaded = loaded_documents(*after);
            const std::uint64_t now = index_.last_position().value;
            ASSERT_TRUE(loaded == before || loaded == now - 2 || loaded == now)
                << loaded << " of " << now << ", call " << n << ", seed " << seed;
            ASSERT_TRUE(!third || loaded == now);
            // After a kill, everything written is there, synced or not.
            ASSERT_TRUE(seed != 1 || loaded >= (second ? now : first ? now - 2 : before));
        }
        if (third) {
            EXPECT_GT(n, 16U);
            break;
        }
    }
}

TEST_F(SearchCheckpointTest, IsSyncedBetweenWritesThatWaitForNothing) {
    SearchCheckpoint checkpoint = this->checkpoint();
    EXPECT_EQ(*checkpoint.sync_next(), true);
    add(20);
    add(3);
    ASSERT_TRUE(checkpoint.write_recent(search_, now_, Small::gather));
    bool done = false;
    std::uint64_t more = 0;
    for (; !done; ++more) {
        EXPECT_EQ(loaded_documents(*fs_.after_power_cut(0)), 0U);
        add(4);
        ASSERT_TRUE(checkpoint.write_recent(search_, now_));
        const Result<bool> synced = checkpoint.sync_next();
        ASSERT_TRUE(synced);
        done = *synced;
    }
    EXPECT_EQ(more, 3U);  // two files and the manifest
    EXPECT_EQ(loaded_documents(), 23U + 4 * more);
    EXPECT_EQ(loaded_documents(*fs_.after_power_cut(0)), 23U);
    // What is erased from files being synced is gone at once, and stays away.
    ASSERT_TRUE(checkpoint.write_recent(search_, now_, Small::gather));
    search_.died(kType, {22}, {0});
    index_.erase({{1022, salt_}, Erase::Scope::everything, {}});
    const Position erased{22};
    ASSERT_TRUE(checkpoint.forget({&erased, 1}));
    EXPECT_FALSE(mentions(fs_, "text-22;"));
    for (done = false; !done;) {
        const Result<bool> synced = checkpoint.sync_next();
        ASSERT_TRUE(synced) << synced.error().detail;
        done = *synced;
    }
    EXPECT_EQ(loaded_documents(), 0U);
    ASSERT_TRUE(checkpoint.write(search_, now_));
    EXPECT_FALSE(mentions(fs_, "text-22;"));
    EXPECT_EQ(loaded_documents(*fs_.after_power_cut(0)), 22U + 4 * more);
}

TEST_F(SearchCheckpointTest, ATypeWhoseNewestFilesAreDamagedIsTakenFromTheOneBefore) {
    SearchCheckpoint checkpoint = this->checkpoint();
    add(20);
    ASSERT_TRUE(checkpoint.write(search_, now_));
    const auto first = checkpoint_files(fs_);
    add(30);
    ASSERT_TRUE(checkpoint.write_recent(search_, now_));
    for (const std::string& path : checkpoint_files(fs_)) {
        if (std::ranges::find(first, path) == first.end()) {
            const std::string whole = fs_.content(path);
            std::string damaged = whole;
            damaged[whole.size() / 2] ^= 1;
            fs_.set_content(path, damaged);
            EXPECT_EQ(loaded_documents(), 20U) << path;
            fs_.set_content(path, whole);
        }
    }
}

TEST_F(SearchCheckpointTest, FitsOnlyTheLogThatItWasMadeOf) {
    add(5);
    ASSERT_TRUE(checkpoint().write(search_, now_));
    EXPECT_EQ(loaded_documents(), 5U);
    const std::string manifest = fs_.content(kFolder + "/manifest");
    const Index other;
    SearchCheckpoint elsewhere(fs_, other, {.directory = "/data", .store_id = 7});
    for (const auto& type : load(elsewhere)) {
        EXPECT_TRUE(type.runs.runs.empty());
    }
    EXPECT_FALSE(fs_.exists(kFolder + "/manifest"));
    EXPECT_EQ(checkpoint_files(fs_).size(), 0U);
    EXPECT_EQ(checkpoint_files(*fs_.after_power_cut(0)).size(), 0U);
}

TEST_F(SearchCheckpointTest, FitsOnlyTheStoreThatItWasMadeOf) {
    add(5);
    ASSERT_TRUE(checkpoint().write(search_, now_));
    SearchCheckpoint elsewhere(fs_, index_,
                               {.directory = "/data", .store_id = 8, .read_only = true});
    for (const auto& type : load(elsewhere)) {
        EXPECT_TRUE(type.runs.runs.empty());
    }
    EXPECT_EQ(loaded_documents(), 5U);
}

TEST_F(SearchCheckpointTest, RefusesDocumentsThatTheLogDoesNotHave) {
    add(50);
    ASSERT_TRUE(checkpoint().write(search_, now_));
    // The last version is the same, but an earlier one differs.
    Index other;
    for (std::uint64_t p = 1; p <= 50; ++p) {
        add_version(other, p, {p == 20 ? 1 : 1000 + p, salt_});
    }
    other.publish({50});
    SearchCheckpoint elsewhere(fs_, other,
                               {.directory = "/data", .store_id = 7, .read_only = true});
    const CheckpointedType type = load(elsewhere)[kType.value];
    EXPECT_TRUE(type.runs.runs.empty());
    EXPECT_EQ(type.covered, Position{0});
}

TEST_F(SearchCheckpointTest, RefusesRunsThatGoBeyondTheLog) {
    add(20);
    SearchCheckpoint written = checkpoint();
    ASSERT_TRUE(written.write(search_, now_));
    // Its checksum is right, and it names a version that the shorter log has.
    SearchManifest manifest = *read_search_manifest(fs_, "/data", kSearchManifestName);
    manifest.witness = {.position = {5}, .version = {1}, .instant = {5}, .key = 1005};
    manifest.types[kType.value].covered = {5};
    fs_.set_content("/data/search/manifest", encode_manifest(manifest));
    Index shorter;
    for (std::uint64_t p = 1; p <= 5; ++p) {
        add_version(shorter, p, {1000 + p, salt_});
    }
    shorter.publish({5});
    SearchCheckpoint checkpoint(fs_, shorter,
                                {.directory = "/data", .store_id = 7, .read_only = true});
    const std::vector<std::uint32_t> next(6, 0);
    SearchCheckpointReader saved(fs_, "/data");
    const auto types = checkpoint.load(saved, fingerprints_, next);
    EXPECT_TRUE(types[kType.value].runs.runs.empty());
    EXPECT_EQ(types[kType.value].covered, Position{});
}

TEST_F(SearchCheckpointTest, UsesNoFileAgainOfWhichASyncFailed) {
    fs_.lose_on_failed_sync();
    SearchCheckpoint checkpoint = this->checkpoint();
    add(20);
    ASSERT_TRUE(checkpoint.write_recent(search_, now_, SearchCheckpoint::Small::gather));
    fs_.fail_next(test::SimFileSystem::Call::sync, Errc::io);
    EXPECT_FALSE(checkpoint.sync_next());
    ASSERT_TRUE(checkpoint.write(search_, now_));
    EXPECT_EQ(loaded_documents(*fs_.after_power_cut(0)), 20U);
}

TEST_F(SearchCheckpointTest, ReadsMuchBesideTheLog) {
    add(3'000, std::string(500, '.'));
    add(7);
    ASSERT_TRUE(checkpoint().write(search_, now_));
    std::string largest;
    for (const std::string& path : checkpoint_files(fs_)) {
        if (largest.empty() || fs_.content(path).size() > fs_.content(largest).size()) {
            largest = path;
        }
    }
    std::string bytes = fs_.content(largest);
    ASSERT_GT(bytes.size(), 1U << 20);
    EXPECT_EQ(loaded_documents(), 3'007U);
    {
        const SearchCheckpointReader abandoned(fs_, "/data");
    }
    bytes[bytes.size() / 2] ^= 1;
    fs_.set_content(largest, bytes);
    EXPECT_EQ(loaded_documents(), 0U);
}

TEST_F(SearchCheckpointTest, GoesOnWithRunsWhoseFilesWereRemoved) {
    add(30);
    ASSERT_TRUE(checkpoint().write(search_, now_));
    SearchCheckpoint checkpoint = this->checkpoint();
    auto types = load(checkpoint);
    ASSERT_EQ(types[kType.value].runs.runs.size(), 1U);
    index_.erase({{1007, salt_}, Erase::Scope::everything, {}});
    const Position erased{7};
    ASSERT_TRUE(checkpoint.forget({&erased, 1}));
    EXPECT_FALSE(mentions(fs_, "text-7;"));
    SearchIndex restored;
    ASSERT_TRUE(restored.restore(kType, std::move(types[kType.value].runs)));
    restored.died(kType, erased, {0});
    EXPECT_EQ(restored.runs(kType)->runs[0]->texts(1, "text-8;").first, 28U);
    ASSERT_TRUE(checkpoint.write(restored, now_));
    EXPECT_FALSE(mentions(fs_, "text-7;"));
    EXPECT_EQ(loaded_documents(), 29U);
}

TEST_F(SearchCheckpointTest, LeavesOutTypesOfOtherParameters) {
    add(5);
    ASSERT_TRUE(checkpoint().write(search_, now_));
    fingerprints_[kType.value] = 2;
    EXPECT_EQ(loaded_documents(), 0U);
    fingerprints_[kType.value] = 1;
    fingerprints_[kType.value + 1] = 2;
    EXPECT_EQ(loaded_documents(), 5U);
}

TEST_F(SearchCheckpointTest, LeavesOutTypesWhoseParametersChangeWhileItIsWritten) {
    add(5);
    std::uint64_t asked = 0;
    ASSERT_TRUE(checkpoint().write(search_, [&] {
        PerType<std::uint64_t> now = fingerprints_;
        now[kType.value] = ++asked;
        return now;
    }));
    for (const std::uint64_t fingerprint : {1U, 2U}) {
        fingerprints_[kType.value] = fingerprint;
        EXPECT_EQ(loaded_documents(), 0U);
    }
}

TEST_F(SearchCheckpointTest, KeepsWhatWasThereWhenWritingFails) {
    add(20);
    SearchCheckpoint checkpoint = this->checkpoint();
    ASSERT_TRUE(checkpoint.write(search_, now_));
    const auto before = checkpoint_files(fs_);
    add(30);
    for (const Call call : {Call::write, Call::create, Call::rename}) {
        fs_.fail_next(call, Errc::no_store, 1);
        EXPECT_FALSE(checkpoint.write(search_, now_));
        EXPECT_EQ(loaded_documents(), 20U);
        EXPECT_EQ(checkpoint_files(fs_), before);
    }
    for (const Call call : {Call::sync, Call::sync_directory}) {
        fs_.fail_next(call, Errc::no_store, 1);
        EXPECT_FALSE(checkpoint.write(search_, now_));
        EXPECT_EQ(loaded_documents(), 50U);
        EXPECT_EQ(loaded_documents(*fs_.after_power_cut(0)), 20U);
    }
    ASSERT_TRUE(checkpoint.write(search_, now_));
    EXPECT_EQ(loaded_documents(), 50U);
}

}  // namespace
}  // namespace annals::storage
