// The search index of a store on disk: what fits is used, what doesn't is never trusted, and what was erased is gone.

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "storage/search_checkpoint_reader.h"
#include "storage/search_manifest.h"
#include "storage/store.h"
#include "storage/verify.h"
#include "tests/support/search_files.h"
#include "tests/support/search_store.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/store_files.h"

#include <gtest/gtest.h>

namespace annals::storage {
namespace {

using test::checkpoint_files;
using test::CommitBuilder;
using test::describe_search;
using test::mentions;
using test::on_disk;
using test::open_store;
using test::searchable;
using test::SearchableCommit;
using test::SimFileSystem;
using Call = SimFileSystem::Call;

const std::vector<std::string> kWords = {"red", "green", "blue", "secret"};
const std::string kSearchFolder(test::kSearchFiles);

Submission submit_put(Store& store, std::string_view type, std::string_view id,
                      std::string_view text) {
    SearchableCommit commit(store);
    commit.put(type, id, text);
    const Submission submission = store.submit(commit.builder.commit());
    (void)store.wait(submission.ticket);
    return submission;
}

/// What is found without any checkpoint.
std::string found_anew(FileSystem& fs) {
    StoreOptions options = searchable(4711);
    options.read_only = true;
    const auto store = open_store(fs, options);
    return describe_search(*store, kWords, store->last_position());
}

std::string found(FileSystem& fs, OpenReport* report = nullptr) {
    StoreOptions options = searchable();
    options.read_only = true;
    const auto store = open_store(fs, options, report);
    return describe_search(*store, kWords, store->last_position());
}

TEST(StoreCheckpoint, DamagedAnywhereIsNotTrusted) {
    SimFileSystem fs;
    {
        const auto store = open_store(fs);
        submit_put(*store, "Patient", "a", "red 7 >b");
        submit_put(*store, "Observation", "o", "green >a");
        submit_put(*store, "Patient", "a", "blue");
    }
    const std::string expected = found_anew(fs);
    OpenReport report;
    ASSERT_EQ(found(fs, &report), expected);
    ASSERT_EQ(report.versions_extracted, 0U);
    const auto files = checkpoint_files(fs);
    ASSERT_EQ(files.size(), 3U);
    std::uint64_t noticed = 0;
    std::uint64_t tried = 0;
    for (const std::string& path : files) {
        const std::string whole = fs.content(path);
        for (std::size_t at = 0; at < whole.size(); at += 1 + at / 500) {
            std::string damaged = whole;
            damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
            fs.set_content(path, damaged);
            ASSERT_EQ(found(fs, &report), expected) << path << " at " << at;
            ++tried;
            noticed += report.versions_extracted > 0 ? 1 : 0;
        }
        for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 100) {
            fs.set_content(path, whole.substr(0, size));
            ASSERT_EQ(found(fs, &report), expected) << path << " cut at " << size;
            EXPECT_GT(report.versions_extracted, 0U);
        }
        fs.set_content(path, whole);
    }
    // All but the padding in the packs of the two types.
    EXPECT_GT(noticed + 16, tried);
}

TEST(StoreCheckpoint, PowerCutAtAnyPointOfItsWritingDoesNoHarm) {
    for (std::uint64_t n = 1;; ++n) {
        SimFileSystem fs;
        {
            const auto store = open_store(fs);
            for (int i = 0; i < 5; ++i) {
                submit_put(*store, "Patient", "p" + std::to_string(i), "red");
            }
        }
        std::string last;
        bool reached = false;
        {
            auto store = open_store(fs);
            submit_put(*store, "Patient", "p1", "green");
            EXPECT_TRUE(test::erase(*store, "Patient", "p2"));
            submit_put(*store, "Observation", "o", "blue >p1");
            last = describe_search(*store, kWords, store->last_position());
            const std::uint64_t calls = fs.changing_calls();
            fs.power_off_at(n);
            store.reset();
            reached = fs.changing_calls() >= calls + n;
        }
        if (!reached) {
            EXPECT_GT(n, 8U);
            break;
        }
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            const auto after = fs.after_power_cut(seed);
            auto store = open_store(*after);
            ASSERT_EQ(describe_search(*store, kWords, store->last_position()), last)
                << "call " << n << ", seed " << seed;
            submit_put(*store, "Patient", "p9", "red");
            const std::string now = describe_search(*store, kWords, store->last_position());
            store.reset();
            ASSERT_EQ(found(*after), now);
            ASSERT_EQ(checkpoint_files(*after).size(), 3U);
        }
    }
}

TEST(StoreSearchAfterAPowerCut, FindsWhatTheLogHas) {
    for (std::uint64_t n = 1;; ++n) {
        SimFileSystem fs;
        bool reached = true;
        {
            StoreOptions options = searchable();
            options.segment_bytes = 2 << 10;
            auto store = open_store(fs, options);
            submit_put(*store, "Patient", "a", "red");
            store.reset();
            store = open_store(fs, options);
            fs.power_off_at(n);
            const std::uint64_t calls = fs.changing_calls();
            const std::string text(600, 'x');
            for (const char* id : {"a", "b", "c", "b"}) {
                submit_put(*store, "Patient", id, "green " + text);
            }
            CommitBuilder removal;
            removal.erase("Patient", "c");
            (void)store->wait(store->submit(removal.commit()).ticket);
            submit_put(*store, "Observation", "o", "blue >b");
            reached = fs.changing_calls() >= calls + n;
        }
        if (!reached) {
            EXPECT_GT(n, 8U);
            break;
        }
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            const auto after = fs.after_power_cut(seed);
            const auto store = open_store(*after);
            const std::string expected = found_anew(*after);
            ASSERT_EQ(describe_search(*store, kWords, store->last_position()), expected)
                << "call " << n << ", seed " << seed;
            ASSERT_NE(expected, "");
        }
    }
}

TEST(StoreCheckpoint, OfAnotherVersionOfTheFormatIsNoDamageAndRebuilt) {
    SimFileSystem fs;
    {
        const auto store = open_store(fs);
        submit_put(*store, "Patient", "a", "red 7 >b");
        submit_put(*store, "Observation", "o", "green >a");
    }
    const std::string expected = found_anew(fs);
    auto manifest = read_search_manifest(fs, "/data", kSearchManifestName);
    ASSERT_TRUE(manifest) << manifest.error().detail;
    SearchManifest::Place& place = manifest->types[test::type_of("Patient").value].runs.at(0);
    const std::string file = kSearchFolder + "/" + search_file_name(place.file);
    std::string bytes = fs.content(file);
    ++bytes[place.offset + 8];  // the version
    place.checksum =
        hash64(std::string_view(bytes).substr(place.offset, place.bytes), manifest->store_id);
    fs.set_content(file, bytes);
    fs.set_content(kSearchFolder + "/" + std::string(kSearchManifestName),
                   encode_manifest(*manifest));

    const auto report = verify(fs, "/data");
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->damages.empty()) << report->damages.front().reason;
    EXPECT_TRUE(report->search_other_format);
    EXPECT_EQ(report->search_runs, 1U);
    OpenReport opened;
    EXPECT_EQ(found(fs, &opened), expected);
    EXPECT_EQ(opened.versions_extracted, 1U);
}

TEST(StoreCheckpoint, WhoseManifestIsOfAnotherVersionIsNoDamageAndRebuilt) {
    SimFileSystem fs;
    {
        const auto store = open_store(fs);
        submit_put(*store, "Patient", "a", "red 7 >b");
    }
    const std::string expected = found_anew(fs);
    const auto manifest = read_search_manifest(fs, "/data", kSearchManifestName);
    ASSERT_TRUE(manifest) << manifest.error().detail;
    std::string bytes = encode_manifest(*manifest);
    bytes.resize(bytes.size() - sizeof(std::uint64_t));  // the checksum
    ++bytes[8];                                          // the version
    append_le(bytes, hash64(bytes, manifest->store_id));
    fs.set_content(kSearchFolder + "/" + std::string(kSearchManifestName), bytes);

    const auto report = verify(fs, "/data");
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->damages.empty()) << report->damages.front().reason;
    EXPECT_TRUE(report->search_other_format);
    EXPECT_EQ(found(fs), expected);
}

TEST(StoreCheckpoint, IsVerifiedAsFarAsItIsThere) {
    SimFileSystem fs;
    {
        const auto store = open_store(fs);
        submit_put(*store, "Patient", "a", "red 7 >b");
        submit_put(*store, "Patient", "b", "blue");
        submit_put(*store, "Observation", "o", "green >a");
    }
    const auto sound = verify(fs, "/data");
    ASSERT_TRUE(sound);
    EXPECT_TRUE(sound->damages.empty());
    EXPECT_EQ(sound->search_documents, 3U);
    EXPECT_GE(sound->search_runs, 2U);

    for (const std::string& path : checkpoint_files(fs)) {
        const std::string whole = fs.content(path);
        std::string damaged = whole;
        damaged[8] = static_cast<char>(damaged[8] ^ 1);
        fs.set_content(path, damaged);
        const auto report = verify(fs, "/data");
        ASSERT_TRUE(report);
        ASSERT_EQ(report->damages.size(), 1U) << path;
        EXPECT_EQ("/data/" + report->damages[0].segment, path);
        EXPECT_EQ(report->damages[0].offset, 0U);
        EXPECT_EQ(report->versions, 3U);
        EXPECT_LT(report->search_documents, 3U);
        fs.set_content(path, whole);
    }
    for (const std::string& path : checkpoint_files(fs)) {
        ASSERT_TRUE(fs.remove(path));
        const auto report = verify(fs, "/data");
        ASSERT_TRUE(report);
        EXPECT_TRUE(report->damages.empty()) << report->damages.front().reason;
    }
}

TEST(StoreCheckpoint, ThatWasNotSyncedIsNothingThatVerifyLooksAt) {
    SimFileSystem fs;
    {
        submit_put(*open_store(fs), "Patient", "a", "red");
    }
    fs.set_content(kSearchFolder + "/" + std::string(kSearchRecentName), "half of it");
    const auto report = verify(fs, "/data");
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->damages.empty());
}

TEST(StoreCheckpoint, OfVersionsThatAPowerCutTookIsNotTrusted) {
    SimFileSystem fs;
    StoreOptions options = searchable();
    options.durability = Durability::none;
    options.search_checkpoint_versions = 1;
    auto store = open_store(fs, options);
    submit_put(*store, "Patient", "a", "red");
    for (int i = 0; i < 100 && store->metrics().search_checkpoints == 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    ASSERT_EQ(store->metrics().search_checkpoints, 1U);
    const auto after = fs.after_power_cut(0);
    const auto again = open_store(*after);
    ASSERT_EQ(again->last_position(), Position{0});
    EXPECT_EQ(describe_search(*again, kWords), "");
    submit_put(*again, "Patient", "b", "green");
    EXPECT_EQ(test::find_word(*again, "Patient", "green"), std::set<std::uint64_t>{1});
    EXPECT_EQ(test::find_word(*again, "Patient", "red"), std::set<std::uint64_t>{});
}

TEST(StoreCheckpoint, AfterAKillOnlyWhatCameSinceAShareOfItsVersionsIsExtracted) {
    SimFileSystem fs;
    StoreOptions options = searchable();
    options.search_checkpoint_versions = 400;
    const auto store = open_store(fs, options);
    const auto stored = [&](int versions) {
        for (int i = 0; i < versions; ++i) {
            submit_put(*store, i % 3 == 0 ? "Observation" : "Patient", "p" + std::to_string(i),
                       "red");
        }
    };
    stored(20);
    ASSERT_FALSE(fs.exists(kSearchFolder + "/manifest.recent"));
    stored(90);
    while (!fs.exists(kSearchFolder + "/manifest.recent")) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(store->metrics().search_checkpoints, 0U);
    const auto killed = fs.after_power_cut(1);
    OpenReport report;
    EXPECT_EQ(found(*killed, &report), found_anew(*killed));
    EXPECT_LE(report.versions_extracted, 10U);
    // The power cut takes what was not synced.
    const auto dark = fs.after_power_cut(0);
    EXPECT_EQ(found(*dark, &report), found_anew(*dark));
    EXPECT_EQ(report.versions_extracted, 110U);
    // The next opening for writing makes it a lasting checkpoint.
    open_store(*killed, options).reset();
    EXPECT_FALSE(killed->exists(kSearchFolder + "/manifest.recent"));
    const auto later = killed->after_power_cut(0);
    EXPECT_EQ(found(*later, &report), found_anew(*later));
    EXPECT_EQ(report.versions_extracted, 0U);
}

TEST(StoreCheckpoint, IsNotWrittenAgainWithinHalfASecond) {
    SimFileSystem fs;
    StoreOptions options = searchable();
    options.search_checkpoint_versions = 400;
    const auto store = open_store(fs, options);
    const auto manifest = [&fs]() -> std::string {
        const auto file = fs.open(kSearchFolder + "/manifest.recent", FileSystem::Mode::read);
        if (!file) {
            return {};
        }
        const std::uint64_t bytes = *(*file)->size();
        return {(*(*file)->map(bytes)).get(), bytes};
    };
    const auto change = [&](std::string_view prefix) {
        const std::string before = manifest();
        for (int i = 0; i < 110; ++i) {
            submit_put(*store, "Patient", std::string(prefix) + std::to_string(i), "red");
        }
        while (manifest() == before) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    };
    const auto start = std::chrono::steady_clock::now();
    change("a");
    change("b");
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500));
    EXPECT_EQ(store->metrics().search_checkpoints, 0U);
}

TEST(StoreCheckpoint, IsLeftOutWhereTheDeviceIsFull) {
    SimFileSystem fs;
    {
        const auto store = open_store(fs);
        submit_put(*store, "Patient", "a", "red");
    }
    const auto before = checkpoint_files(fs);
    std::string last;
    {
        const auto store = open_store(fs);
        submit_put(*store, "Patient", "a", "green");
        last = describe_search(*store, kWords);
        fs.fail_next(Call::write, Errc::no_store, 100);
    }
    fs.fail_next(Call::write, Errc::no_store, 0);
    EXPECT_EQ(checkpoint_files(fs), before);
    EXPECT_EQ(describe_search(*open_store(fs), kWords), last);
}

TEST(StoreCheckpoint, SaysNothingOfWhatWasErased) {
    SimFileSystem fs;
    {
        const auto store = open_store(fs);
        submit_put(*store, "Patient", "a", "secret");
        submit_put(*store, "Patient", "b", "red");
    }
    EXPECT_TRUE(mentions(fs, "secret"));
    {
        const auto store = open_store(fs);
        EXPECT_TRUE(test::erase(*store, "Patient", "a"));
        EXPECT_FALSE(on_disk(fs, "secret"));
    }
    EXPECT_FALSE(mentions(fs, "secret"));
    EXPECT_TRUE(mentions(fs, "red"));
    EXPECT_EQ(found(fs), found_anew(fs));
}

TEST(StoreCheckpoint, GivesNoFileANumberThatTheSyncedManifestStillNames) {
    SimFileSystem fs;
    {
        submit_put(*open_store(fs), "Patient", "a", "red");
    }
    const auto store = open_store(fs);
    EXPECT_TRUE(test::erase(*store, "Patient", "a"));  // its file is removed, the manifest stays
    bool reached = true;
    for (std::uint64_t n = 1; reached; ++n) {
        const auto killed = fs.after_power_cut(1);
        killed->power_off_at(n);
        if (const auto again = Store::open(*killed, "/data", searchable())) {
            submit_put(**again, "Patient", "b", "blue");
        }
        reached = killed->changing_calls() >= n;
        const auto report = verify(*killed->after_power_cut(1), "/data");
        ASSERT_TRUE(report);
        EXPECT_TRUE(report->damages.empty()) << n << ": " << report->damages.front().reason;
    }
}

TEST(StoreCheckpoint, LeavesOutNothingWhoseErasureAPowerCutTakes) {
    SimFileSystem fs;
    {
        submit_put(*open_store(fs), "Patient", "a", "red");
    }
    StoreOptions options = searchable();
    options.durability = Durability::none;
    options.search_checkpoint_versions = 1;
    options.prepare_segments = false;
    const auto store = open_store(fs, options);
    const auto await = [](const auto& condition) {
        for (int i = 0; i < 500 && !condition(); ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        EXPECT_TRUE(condition());
    };
    submit_put(*store, "Patient", "b", "green");
    await([&] { return store->metrics().search_checkpoints == 1; });
    // The next checkpoint waits for half a second, and is written after the erasure.
    submit_put(*store, "Patient", "c", "blue");
    const std::string segment = "/data/segments/0000000001.seg";
    const std::string before = fs.content(segment);
    fs.hold_syncs();
    CommitBuilder builder;
    builder.erase("Patient", "a");
    (void)store->submit(builder.commit());
    store->flush();
    fs.await_held_sync();
    await([&] { return fs.exists(kSearchFolder + "/" + std::string(kSearchRecentName)); });
    // Everything that was written, except the erasure's record.
    const auto after = fs.after_power_cut(1);
    after->set_content(segment, before);
    const std::string anew = found_anew(*after);
    const auto again = open_store(*after);
    EXPECT_EQ(describe_search(*again, kWords, again->last_position()), anew);
    fs.release_syncs();
}

TEST(StoreCheckpoint, LeavesNoLitter) {
    SimFileSystem fs;
    {
        submit_put(*open_store(fs), "Patient", "a", "red");
    }
    const auto before = checkpoint_files(fs);
    for (const char* name : {"/manifest.tmp", "/0000000077.run", "/0000000078.run"}) {
        auto file = fs.open(kSearchFolder + name, FileSystem::Mode::create);
        ASSERT_TRUE(file);
    }
    open_store(fs);
    EXPECT_EQ(checkpoint_files(fs), before);
}

}  // namespace
}  // namespace annals::storage
