// The store on the operating system's files.

#include "storage/store.h"

#include "storage/file_system.h"
#include "tests/support/commits.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::expected_body;
using test::put;
using test::type_of;

constexpr std::uint64_t kSmallSegment = 64 << 10;

std::unique_ptr<Store> open_store(const std::string& directory, StoreOptions options = {}) {
    options.segment_bytes = kSmallSegment;
    auto store = Store::open(posix_file_system(), directory, std::move(options));
    EXPECT_TRUE(store) << store.error().detail;
    return store ? *std::move(store) : nullptr;
}

std::string body_of(const Store& store, const VersionInfo& info) {
    auto loaded = store.load(info);
    EXPECT_TRUE(loaded) << loaded.error().detail;
    return loaded ? std::string(loaded->body) : std::string();
}

TEST(Store, GivesBackWhatItTookAlsoAfterReopening) {
    const test::TemporaryDirectory directory;
    const TypeId patient = type_of("Patient");
    Instant instant;
    {
        auto store = open_store(directory.path());
        ASSERT_NE(store, nullptr);
        instant = put(*store, "Patient", "a", "one").instant;
        put(*store, "Patient", "a", "two");
        CommitBuilder removal;
        removal.remove("Patient", "a");
        const Submission removed = store->submit(removal.commit());
        ASSERT_EQ(removed.status, Submission::Status::accepted);
        ASSERT_TRUE(store->wait(removed.ticket));
        EXPECT_EQ(removal.writes()[0].outcome.version, VersionNumber{3});
    }
    for (int round = 0; round < 3; ++round) {
        auto store = open_store(directory.path());
        ASSERT_NE(store, nullptr);
        EXPECT_EQ(store->last_position(), Position{3});
        const auto current = store->current(patient, "a");
        ASSERT_TRUE(current);
        EXPECT_TRUE(current->deletion);
        EXPECT_EQ(current->version, VersionNumber{3});
        const auto first = store->version(patient, "a", {1});
        ASSERT_TRUE(first);
        EXPECT_EQ(body_of(*store, *first), expected_body("Patient", "a", "one", {1}, instant));
    }
}

std::string segment_file(const test::TemporaryDirectory& directory) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory / "segments")) {
        names.push_back(entry.path().string());
    }
    return *std::ranges::min_element(names);
}

std::string bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Store, SaysThatAVersionIsDamagedWhereTheDeviceCannotReadIt) {
    const test::TemporaryDirectory directory;
    auto store = open_store(directory.path());
    ASSERT_NE(store, nullptr);
    put(*store, "Patient", "a", "first");
    put(*store, "Patient", "b", std::string(3 * kPageBytes, 'x'));
    std::filesystem::resize_file(segment_file(directory), kPageBytes);
    EXPECT_TRUE(store->load(*store->at({1})));
    const auto damaged = store->load(*store->at({2}));
    ASSERT_FALSE(damaged);
    EXPECT_EQ(damaged.error().code, Errc::corrupt);
}

TEST(Store, ErasesTheOthersWhereARecordIsDamaged) {
    const test::TemporaryDirectory directory;
    const auto erase = [](Store& store, const char* id) {
        CommitBuilder builder;
        builder.erase("Patient", id);
        const Submission submission = store.submit(builder.commit());
        ASSERT_EQ(submission.status, Submission::Status::accepted);
        EXPECT_TRUE(store.wait(submission.ticket));
        EXPECT_TRUE(store.wait_erased(submission.ticket));
    };
    {
        auto store = open_store(directory.path());
        ASSERT_NE(store, nullptr);
        put(*store, "Patient", "a", "secret-one");
        put(*store, "Patient", "b", "secret-two");
        put(*store, "Patient", "c", "secret-three");
        for (std::size_t bytes = 0; bytes < 2 * kSmallSegment; bytes += 4096) {
            put(*store, "Patient", "d", std::string(4096, 'x'));  // until the first is sealed
        }
    }
    const std::string path = segment_file(directory);
    {
        std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(static_cast<std::streamoff>(bytes_of(path).find("secret-one")));
        file.put('S');
    }
    for (const std::string id : {"a", "b"}) {
        auto store = open_store(directory.path());
        ASSERT_NE(store, nullptr);
        testing::internal::CaptureStderr();
        erase(*store, id.c_str());
        const std::string told = testing::internal::GetCapturedStderr();
        EXPECT_EQ(told.find("erased data here cannot be told from other data") == std::string::npos,
                  id != "a")
            << told;
        EXPECT_FALSE(store->current(type_of("Patient"), id));
    }
    auto store = open_store(directory.path());
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(bytes_of(path).find("secret-two"), std::string::npos);
    EXPECT_NE(bytes_of(path).find("secret-three"), std::string::npos);
    EXPECT_TRUE(store->load(*store->at({3})));
}

TEST(Store, KnowsWhereACommitEndsAlsoAfterReopening) {
    const test::TemporaryDirectory directory;
    const auto ends = [](const Store& store) {
        std::string text;
        for (std::uint64_t i = 1; i <= store.last_position().value; ++i) {
            text += std::to_string(store.commit_end({i}).value) + " ";
        }
        return text;
    };
    const auto commit = [](Store& store, std::vector<std::string> ids, const char* erased) {
        CommitBuilder builder;
        for (const std::string& id : ids) {
            builder.put("Patient", id, std::string(500, 'x'));
        }
        if (erased != nullptr) {
            builder.erase("Patient", erased);
        }
        const Submission done = store.submit(builder.commit());
        ASSERT_EQ(done.status, Submission::Status::accepted);
        ASSERT_TRUE(store.wait(done.ticket));
    };
    std::string expected;
    {
        auto store = open_store(directory.path());
        ASSERT_NE(store, nullptr);
        commit(*store, {"a"}, nullptr);
        commit(*store, {"b", "c", "d"}, nullptr);
        commit(*store, {}, "d");          // an erasure alone
        commit(*store, {"e"}, "c");       // an erasure beside a version
        commit(*store, {"f", "g"}, "b");  // and beside two: nothing of b, c, d is left
        EXPECT_EQ(ends(*store), "1 4 4 4 5 7 7 ");
        EXPECT_EQ(store->commit_end({99}), Position{99});
        for (int i = 0; i < 100; ++i) {
            commit(*store, {"p" + std::to_string(i), "q" + std::to_string(i)}, nullptr);
        }
        EXPECT_GT(store->metrics().segments, 1U);
        expected = ends(*store);
        EXPECT_TRUE(expected.ends_with("205 205 207 207 "));
        const auto end = store->log_end();
        ASSERT_TRUE(end);
        EXPECT_EQ(end->position, Position{207});
        EXPECT_EQ(end->segment, store->metrics().segments);
    }
    for (int round = 0; round < 2; ++round) {
        auto store = open_store(directory.path());
        ASSERT_NE(store, nullptr);
        EXPECT_EQ(ends(*store), expected);
    }
}

TEST(Store, RollsOverSegmentsAndReadsThemAll) {
    const test::TemporaryDirectory directory;
    constexpr int kResources = 300;
    const std::string text(1500, 'x');
    std::vector<Instant> instants;
    {
        auto store = open_store(directory.path());
        ASSERT_NE(store, nullptr);
        for (int i = 0; i < kResources; ++i) {
            instants.push_back(put(*store, "Observation", "o" + std::to_string(i), text).instant);
        }
        EXPECT_GT(store->metrics().segments, 5U);
    }
    OpenReport report;
    StoreOptions options;
    options.segment_bytes = kSmallSegment;
    auto opened = Store::open(posix_file_system(), directory.path(), options, &report);
    ASSERT_TRUE(opened) << opened.error().detail;
    EXPECT_EQ(report.versions, kResources);
    EXPECT_EQ(report.resources, kResources);
    EXPECT_EQ(report.torn_bytes_cut, 0U);
    Store& store = **opened;
    for (int i = 0; i < kResources; ++i) {
        const std::string id = "o" + std::to_string(i);
        const auto info = store.current(type_of("Observation"), id);
        ASSERT_TRUE(info) << id;
        EXPECT_EQ(info->position.value, static_cast<std::uint64_t>(i) + 1);
        EXPECT_EQ(body_of(store, *info), expected_body("Observation", id, text, {1},
                                                       instants[static_cast<std::size_t>(i)]));
    }
}

TEST(Store, TakesACommitLargerThanASegment) {
    const test::TemporaryDirectory directory;
    const std::string text(4 * kSmallSegment, 'y');
    Instant instant;
    {
        auto store = open_store(directory.path());
        ASSERT_NE(store, nullptr);
        put(*store, "Patient", "a", "small");
        instant = put(*store, "Patient", "b", text).instant;
        put(*store, "Patient", "c", "small");
    }
    auto store = open_store(directory.path());
    ASSERT_NE(store, nullptr);
    const auto info = store->current(type_of("Patient"), "b");
    ASSERT_TRUE(info);
    EXPECT_EQ(body_of(*store, *info), expected_body("Patient", "b", text, {1}, instant));
    EXPECT_TRUE(store->current(type_of("Patient"), "c"));
}

// Opening indexes 4,096 versions at a time, and what is erased between two of them in its turn. For 100,000 and more, another
// thread touches the index's memory meanwhile.
TEST(Store, FindsManyVersionsAfterReopening) {
    const test::TemporaryDirectory directory;
    constexpr int kResources = 5500;
    {
        const auto store = open_store(directory.path());
        const auto commit = [&store](CommitBuilder& builder) {
            ASSERT_TRUE(store->wait(store->submit(builder.commit()).ticket));
        };
        for (int round = 1; round <= 20; ++round) {
            CommitBuilder builder;
            for (int i = 0; i < kResources; ++i) {
                builder.put("Patient", std::to_string(i), "text");
            }
            commit(builder);
            if (round == 12) {
                CommitBuilder erasing;
                erasing.erase("Patient", "7");
                commit(erasing);
            }
        }
    }
    const auto store = open_store(directory.path());
    EXPECT_EQ(store->totals().versions, 20U * kResources - 12);
    for (int i = 0; i < kResources; ++i) {
        const auto info = store->current(type_of("Patient"), std::to_string(i));
        ASSERT_TRUE(info) << i;
        EXPECT_EQ(info->version, VersionNumber{i == 7 ? 8U : 20U}) << i;
        EXPECT_EQ(info->position.value, 19U * kResources + static_cast<unsigned>(i) + 1) << i;
    }
}

TEST(Store, TakesNothingAfterItsClose) {
    const test::TemporaryDirectory directory;
    const auto store = open_store(directory.path());
    ASSERT_TRUE(store->close());
    CommitBuilder builder;
    builder.put("Patient", "a", "text");
    EXPECT_EQ(store->submit(builder.commit()).status, Submission::Status::failed);
}

TEST(Store, IsLockedToOneHandle) {
    const test::TemporaryDirectory directory;
    auto store = open_store(directory.path());
    ASSERT_NE(store, nullptr);
    auto second = Store::open(posix_file_system(), directory.path(), {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::usage);
    EXPECT_NE(second.error().detail.find(directory.path()), std::string::npos);
}

TEST(Store, IsNotUsableWhereItsLockCannotBeOpened) {
    const test::TemporaryDirectory directory;
    std::filesystem::create_directory(directory / "LOCK");
    auto store = Store::open(posix_file_system(), directory.path(), {});
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::usage);
    EXPECT_NE(store.error().detail.find("LOCK"), std::string::npos);
}

TEST(Store, OpensReadOnlyBesideTheWriterAndWritesNothing) {
    const test::TemporaryDirectory directory;
    auto store = open_store(directory.path());
    ASSERT_NE(store, nullptr);
    put(*store, "Patient", "a", "one");
    StoreOptions options;
    options.read_only = true;
    auto reader = open_store(directory.path(), options);
    ASSERT_NE(reader, nullptr);
    EXPECT_EQ(reader->write_state(), WriteState::read_only);
    EXPECT_TRUE(reader->current(type_of("Patient"), "a"));
    CommitBuilder builder;
    builder.put("Patient", "b", "x");
    EXPECT_EQ(reader->submit(builder.commit()).status, Submission::Status::read_only);
}

TEST(Store, ThatReadsOnlyTakesWhatTheWriterHasErasedSinceForErased) {
    const test::TemporaryDirectory directory;
    auto writer = open_store(directory.path());
    ASSERT_NE(writer, nullptr);
    put(*writer, "Patient", "a", "first");
    put(*writer, "Patient", "b", "stays");
    StoreOptions options;
    options.read_only = true;
    auto reader = open_store(directory.path(), std::move(options));
    ASSERT_NE(reader, nullptr);
    ASSERT_TRUE(test::erase(*writer, "Patient", "a"));
    const VersionInfo info = reader->at({1}).value();
    for (const auto& loaded : {reader->load(info), reader->load_resident(info)}) {
        ASSERT_FALSE(loaded);
        EXPECT_EQ(loaded.error().code, Errc::not_found);
    }
    EXPECT_TRUE(reader->load(reader->at({2}).value()));
}

TEST(Store, ThatReadsOnlyKeepsWhatItHasReadWhateverTheWriterErases) {
    const test::TemporaryDirectory directory;
    auto writer = open_store(directory.path());
    ASSERT_NE(writer, nullptr);
    put(*writer, "Patient", "a", "first");
    StoreOptions options;
    options.read_only = true;
    auto reader = open_store(directory.path(), std::move(options));
    ASSERT_NE(reader, nullptr);
    const auto read = reader->load(reader->at({1}).value());
    ASSERT_TRUE(read);
    const std::string before(read->body);
    ASSERT_TRUE(test::erase(*writer, "Patient", "a"));
    EXPECT_EQ(read->body, before);
    EXPECT_EQ(read->id, "a");
}

TEST(Store, SaysWhereThereIsNoStoreToRead) {
    const test::TemporaryDirectory directory;
    StoreOptions options;
    options.read_only = true;
    auto store = Store::open(posix_file_system(), directory / "none", options);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::usage);
    EXPECT_FALSE(posix_file_system().exists(directory / "none"));
}

}  // namespace
}  // namespace annals::storage
