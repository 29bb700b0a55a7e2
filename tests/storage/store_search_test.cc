// A store that is searched: what is found, and when.

#include "storage/file_system.h"
#include "storage/store.h"
#include "tests/support/search_store.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::describe_search;
using test::find_term;
using test::find_word;
using test::open_store;
using test::searchable;
using test::SearchableCommit;
using test::SimFileSystem;
using test::type_of;
using test::word_setup;
using test::word_term;
using Found = std::set<std::uint64_t>;
using Status = Submission::Status;

Submission submit(Store& store, CommitBuilder& builder) {
    const Submission submission = store.submit(builder.commit());
    EXPECT_EQ(submission.status, Status::accepted);
    return submission;
}

void done(Store& store, CommitBuilder& builder) {
    EXPECT_TRUE(store.wait(submit(store, builder).ticket));
}

void put_searchable(Store& store, std::string_view type, std::string_view id,
                    std::string_view text) {
    SearchableCommit commit(store);
    commit.put(type, id, text);
    done(store, commit.builder);
}

TEST(StoreSearch, FindsWhatWasAcknowledged) {
    SimFileSystem fs;
    const auto store = open_store(fs);
    put_searchable(*store, "Patient", "a", "red green");
    EXPECT_EQ(find_word(*store, "Patient", "red"), Found{1});
    EXPECT_EQ(find_word(*store, "Patient", "blue"), Found{});
    EXPECT_EQ(find_word(*store, "Observation", "red"), Found{});
    put_searchable(*store, "Patient", "a", "blue");
    EXPECT_EQ(find_word(*store, "Patient", "red"), Found{});
    EXPECT_EQ(find_word(*store, "Patient", "blue"), Found{2});
    EXPECT_EQ(find_term(*store, type_of("Patient"), word_term("red"), {1}), Found{1});
    CommitBuilder removal;
    removal.remove("Patient", "a");
    done(*store, removal);
    EXPECT_EQ(find_word(*store, "Patient", "blue"), Found{});
    EXPECT_EQ(find_term(*store, type_of("Patient"), word_term("blue"), {2}), Found{2});
}

TEST(StoreSearch, OfAReaderPassesOverWhatTheWriterErasesMeanwhile) {
    const test::TemporaryDirectory directory;
    const auto writer = *Store::open(posix_file_system(), directory.path(), searchable());
    put_searchable(*writer, "Patient", "a", "red");
    put_searchable(*writer, "Patient", "b", "blue");
    StoreOptions options = searchable();
    options.read_only = true;
    options.search = [&writer, setup = options.search](const Store& reader) {
        // The reader has read the log, but not the versions' bodies.
        CommitBuilder removal;
        removal.erase("Patient", "a");
        const Submission erased = submit(*writer, removal);
        EXPECT_TRUE(writer->wait(erased.ticket));
        EXPECT_TRUE(writer->wait_erased(erased.ticket));
        return setup(reader);
    };
    testing::internal::CaptureStderr();
    const auto reader = Store::open(posix_file_system(), directory.path(), options);
    const std::string told = testing::internal::GetCapturedStderr();
    ASSERT_TRUE(reader) << reader.error().detail;
    EXPECT_EQ(find_word(**reader, "Patient", "red"), Found{});
    EXPECT_EQ(find_word(**reader, "Patient", "blue"), Found{2});
    EXPECT_EQ(told.find("cannot be found"), std::string::npos) << told;
}

TEST(StoreSearch, AddsTheInstantAndTheResource) {
    SimFileSystem fs;
    const auto store = open_store(fs);
    put_searchable(*store, "Patient", "a", "red");
    const TypeId patient = type_of("Patient");
    const std::uint64_t key = store->search_key(patient, "a");
    EXPECT_EQ(find_term(*store, patient, ~key, {1}), Found{1});
    const auto runs = store->search(patient);
    ASSERT_EQ(runs->runs.size(), 1U);
    EXPECT_EQ(runs->runs[0]->key(0), key);
    const auto instants = runs->runs[0]->intervals(test::kLastUpdatedColumn);
    ASSERT_EQ(instants.all.size(), 1U);
    EXPECT_EQ(instants.all.low[0], store->current(patient, "a")->instant.us);
    EXPECT_EQ(instants.all.high[0], instants.all.low[0]);
}

TEST(StoreSearch, FindsNothingWithoutASetup) {
    SimFileSystem fs;
    StoreOptions options = searchable();
    options.search = {};
    const auto store = open_store(fs, options);
    put_searchable(*store, "Patient", "a", "red");
    EXPECT_TRUE(store->search(type_of("Patient"))->runs.empty());
    EXPECT_EQ(store->metrics().search.documents, 0U);
    EXPECT_FALSE(fs.exists("/data/search"));
}

TEST(StoreSearch, FindsOnlyTheNewerOfTwoVersionsWithWhichABatchBegins) {
    SimFileSystem fs;
    const auto store = open_store(fs);
    SearchableCommit older(*store);
    older.put("Patient", "a", "older");
    submit(*store, older.builder);
    SearchableCommit newer(*store);
    newer.put("Patient", "a", "newer");
    done(*store, newer.builder);
    EXPECT_EQ(find_word(*store, "Patient", "older"), Found{});
    EXPECT_EQ(find_word(*store, "Patient", "newer"), Found{2});
}

TEST(StoreSearch, FindsEachOfSeveralVersionsInOneBatchWhereItIsTheNewest) {
    SimFileSystem fs;
    const auto store = open_store(fs);
    put_searchable(*store, "Patient", "a", "first");
    fs.hold_syncs();
    SearchableCommit plug(*store);
    plug.put("Patient", "z", "plug");
    submit(*store, plug.builder);
    store->flush();
    fs.await_held_sync();
    for (const char* word : {"second", "third", "fourth"}) {
        SearchableCommit commit(*store);
        commit.put("Patient", "a", word);
        submit(*store, commit.builder);
    }
    SearchableCommit made(*store);
    made.put("Patient", "b", "gone");
    submit(*store, made.builder);
    CommitBuilder removal;
    removal.remove("Patient", "b");
    const Submission last = submit(*store, removal);
    EXPECT_EQ(find_word(*store, "Patient", "first"), Found{1});
    EXPECT_EQ(find_word(*store, "Patient", "fourth"), Found{});
    fs.release_syncs();
    ASSERT_TRUE(store->wait(last.ticket));
    EXPECT_EQ(find_word(*store, "Patient", "first"), Found{});
    EXPECT_EQ(find_word(*store, "Patient", "third"), Found{});
    EXPECT_EQ(find_word(*store, "Patient", "fourth"), Found{5});
    EXPECT_EQ(find_word(*store, "Patient", "gone"), Found{});
    EXPECT_EQ(find_term(*store, type_of("Patient"), word_term("first"), {4}), Found{});
    EXPECT_EQ(find_term(*store, type_of("Patient"), word_term("first"), {2}), Found{1});
    const TypeId patient = type_of("Patient");
    EXPECT_EQ(find_term(*store, patient, word_term("second"), {3}), Found{3});
    EXPECT_EQ(find_term(*store, patient, word_term("second"), {4}), Found{});
    EXPECT_EQ(find_term(*store, patient, word_term("third"), {4}), Found{4});
    EXPECT_EQ(find_term(*store, patient, word_term("third"), {5}), Found{});
    EXPECT_EQ(find_term(*store, patient, word_term("gone"), {6}), Found{6});
    EXPECT_EQ(find_term(*store, patient, word_term("gone"), {7}), Found{});
}

TEST(StoreSearch, TakesWhatComesLateForTheNewest) {
    SimFileSystem fs;
    const auto store = open_store(fs);
    put_searchable(*store, "Patient", "a", "now");
    SearchableCommit late(*store);
    VersionWrite& write = late.put("Patient", "a", "then");
    write.expect = Expect::older;
    write.version = VersionNumber{7};
    write.instant = Instant{1'000'000};
    write.method = Method::history;
    done(*store, late.builder);
    EXPECT_EQ(find_word(*store, "Patient", "now"), Found{});
    EXPECT_EQ(find_word(*store, "Patient", "then"), Found{2});
}

TEST(StoreSearch, ForgetsWhatIsErasedInEverySnapshot) {
    SimFileSystem fs;
    const auto store = open_store(fs);
    put_searchable(*store, "Patient", "a", "one");
    put_searchable(*store, "Patient", "a", "two");
    put_searchable(*store, "Patient", "a", "three");
    CommitBuilder old;
    old.erase("Patient", "a", Erase::Scope::version, {1});
    done(*store, old);
    const TypeId patient = type_of("Patient");
    EXPECT_EQ(find_term(*store, patient, word_term("one"), {1}), Found{});
    EXPECT_EQ(find_term(*store, patient, word_term("two"), {2}), Found{2});
    EXPECT_EQ(find_word(*store, "Patient", "three"), Found{3});
    CommitBuilder all;
    all.erase("Patient", "a");
    done(*store, all);
    EXPECT_EQ(find_term(*store, patient, word_term("two"), {2}), Found{});
    EXPECT_EQ(find_word(*store, "Patient", "three"), Found{});
    put_searchable(*store, "Patient", "a", "four");
    EXPECT_EQ(find_word(*store, "Patient", "four"), Found{4});
}

TEST(StoreSearch, FindsTheSameAfterReopening) {
    SimFileSystem fs;
    const std::vector<std::string> words = {"red", "green", "7", ">b"};
    std::string before;
    for (const bool with_checkpoint : {true, false}) {
        {
            const auto store = open_store(fs);
            put_searchable(*store, "Patient", "a", "red 7 >b");
            put_searchable(*store, "Patient", "b", "green red");
            put_searchable(*store, "Observation", "o", "red >a");
            put_searchable(*store, "Patient", "a", "red 8");
            before = describe_search(*store, words);
        }
        EXPECT_TRUE(fs.exists("/data/search/manifest"));
        if (!with_checkpoint) {
            ASSERT_TRUE(fs.remove("/data/search/manifest"));
        }
        OpenReport report;
        const auto store = open_store(fs, searchable(), &report);
        EXPECT_EQ(describe_search(*store, words), before);
        EXPECT_EQ(report.versions_extracted > 0, !with_checkpoint);
        EXPECT_EQ(store->metrics().search.documents, with_checkpoint ? 4U : 8U);
    }
}

TEST(StoreSearch, ExtractsAnewWhenParametersHaveChanged) {
    SimFileSystem fs;
    {
        put_searchable(*open_store(fs), "Patient", "a", "red");
    }
    OpenReport report;
    open_store(fs, searchable(1), &report);
    EXPECT_EQ(report.versions_extracted, 0U);
    open_store(fs, searchable(2), &report);
    EXPECT_EQ(report.versions_extracted, 1U);
    open_store(fs, searchable(2), &report);
    EXPECT_EQ(report.versions_extracted, 0U);
}

/// Nor is anything lost that was being extracted when the store closed.
TEST(StoreSearch, ThatWasClosedInARebuildByTheSameSetupIsNotExtractedAnew) {
    for (int round = 0; round < 10; ++round) {
        SimFileSystem fs;
        {
            std::atomic<bool> closing = false;
            const auto store = open_store(fs);
            for (int i = 0; i < 20; ++i) {
                put_searchable(*store, "Patient", "a" + std::to_string(i), "red");
            }
            SearchSetup setup = word_setup(*store);
            setup.extractor = [&closing, words = setup.extractor()]() -> SearchExtract {
                return [&closing, words](TypeId type, std::string_view id, std::string_view body,
                                         SearchEntries& entries) {
                    closing.wait(false);
                    return words(type, id, body, entries);
                };
            };
            store->rebuild_search(type_of("Patient"), setup, [] {});
            closing = true;
            closing.notify_all();
        }
        OpenReport report;
        const auto store = open_store(fs, searchable(), &report);
        EXPECT_EQ(report.versions_extracted, 0U);
        EXPECT_EQ(find_word(*store, "Patient", "red").size(), 20U);
    }
}

TEST(StoreSearch, OfTwoSetupsIsExtractedAnewWhenItWasClosedBeforeItsRebuild) {
    SimFileSystem fs;
    {
        const auto store = open_store(fs);
        put_searchable(*store, "Patient", "a", "red");
        store->mix_search(type_of("Patient"));
    }
    OpenReport report;
    open_store(fs, searchable(), &report);
    EXPECT_EQ(report.versions_extracted, 1U);
}

TEST(StoreSearch, ThatWasMixedWhileItWasRebuiltIsExtractedAnew) {
    SimFileSystem fs;
    {
        std::atomic<bool> mixed = false;
        std::atomic<bool> done = false;
        const auto store = open_store(fs);
        put_searchable(*store, "Patient", "a", "red");
        SearchSetup setup = word_setup(*store);
        setup.extractor = [&mixed, words = setup.extractor()]() -> SearchExtract {
            return [&mixed, words](TypeId type, std::string_view id, std::string_view body,
                                   SearchEntries& entries) {
                mixed.wait(false);
                return words(type, id, body, entries);
            };
        };
        store->rebuild_search(type_of("Patient"), setup, [&done] {
            done = true;
            done.notify_all();
        });
        store->mix_search(type_of("Patient"));
        mixed = true;
        mixed.notify_all();
        done.wait(false);
    }
    OpenReport report;
    open_store(fs, searchable(), &report);
    EXPECT_EQ(report.versions_extracted, 1U);
}

TEST(StoreSearch, LeavesOutWhatCannotBeExtracted) {
    SimFileSystem fs;
    {
        const auto store = open_store(fs);
        const BodyPiece piece{BodyPiece::Kind::text, "headless"};
        CommitBuilder builder;
        builder.put("Patient", "a", "x").body = {&piece, 1};
        done(*store, builder);
        put_searchable(*store, "Patient", "b", "red");
    }
    ASSERT_TRUE(fs.remove("/data/search/manifest"));
    const auto store = open_store(fs);
    EXPECT_EQ(find_word(*store, "Patient", "red"), Found{2});
    const TypeId patient = type_of("Patient");
    EXPECT_EQ(find_term(*store, patient, ~store->search_key(patient, "a"), {2}), Found{1});
}

TEST(StoreSearch, VacuumsWhatWasSupersededLongAgoWhenItExtractsAnew) {
    SimFileSystem fs;
    StoreOptions options = searchable();
    options.search_index.positions_retained = 10;
    {
        const auto store = open_store(fs, options);
        for (int i = 0; i < 50; ++i) {
            put_searchable(*store, "Patient", "a", "v" + std::to_string(i));
        }
    }
    ASSERT_TRUE(fs.remove("/data/search/manifest"));
    const auto store = open_store(fs, options);
    const TypeId patient = type_of("Patient");
    EXPECT_EQ(store->metrics().search.documents, 11U);
    EXPECT_EQ(store->search(patient)->vacuumed_through, Position{40});
    for (std::uint64_t snapshot = 41; snapshot <= 50; ++snapshot) {
        EXPECT_EQ(
            find_term(*store, patient, word_term("v" + std::to_string(snapshot - 1)), {snapshot}),
            Found{snapshot});
    }
}

TEST(StoreSearch, MakesOneRunOfWhatNobodyAskedFor) {
    SimFileSystem fs;
    const auto store = open_store(fs);
    for (int i = 0; i < 50; ++i) {
        SearchableCommit commit(*store);
        commit.put("Patient", "p" + std::to_string(i % 20), "red v" + std::to_string(i));
        done(*store, commit.builder);
    }
    SearchIndexStats stats = store->metrics().search;
    EXPECT_EQ(stats.documents, 50U);
    EXPECT_EQ(stats.documents_pending, 50U);
    EXPECT_EQ(stats.runs, 0U);
    EXPECT_GT(stats.bytes, 50 * sizeof(std::uint64_t));
    EXPECT_EQ(find_word(*store, "Observation", "red"), Found{});
    EXPECT_EQ(store->metrics().search.documents_pending, 50U);
    EXPECT_EQ(find_word(*store, "Patient", "red").size(), 20U);
    EXPECT_EQ(find_word(*store, "Patient", "v49"), Found{50});
    EXPECT_EQ(find_word(*store, "Patient", "v29"), Found{});
    stats = store->metrics().search;
    EXPECT_EQ(stats.documents_pending, 0U);
    EXPECT_EQ(stats.runs, 1U);
    EXPECT_EQ(stats.documents, 50U);
    EXPECT_EQ(stats.documents_died, 30U);
}

TEST(StoreSearch, FindsWhatDiedBeforeARunWasMadeOfItAtThePositionsBetween) {
    SimFileSystem fs;
    const auto store = open_store(fs);
    const std::vector<std::string> words = {"one", "two", "three", "four", "five"};
    for (const std::string& word : words) {
        put_searchable(*store, "Patient", "a", word);
    }
    EXPECT_EQ(store->metrics().search.documents_pending, 5U);
    const TypeId patient = type_of("Patient");
    for (std::uint64_t position = 1; position <= 5; ++position) {
        for (std::uint64_t written = 1; written <= 5; ++written) {
            EXPECT_EQ(find_term(*store, patient, word_term(words[written - 1]), {position}),
                      written == position ? Found{position} : Found{});
        }
    }
}

TEST(StoreSearch, ForgetsWhatIsErasedBeforeARunIsMadeOfIt) {
    SimFileSystem fs;
    {
        const auto store = open_store(fs);
        for (const char* id : {"a", "b"}) {
            SearchableCommit commit(*store);
            commit.put("Patient", id, std::string("secret ") + id);
            done(*store, commit.builder);
        }
        CommitBuilder all;
        all.erase("Patient", "a");
        done(*store, all);
        EXPECT_EQ(find_term(*store, type_of("Patient"), word_term("secret"), {2}), Found{2});
        EXPECT_EQ(store->metrics().search.documents, 1U);
    }
    EXPECT_EQ(find_word(*open_store(fs), "Patient", "secret"), Found{2});
}

TEST(StoreSearch, FindsWhatWasPendingWhenThePowerWent) {
    auto fs = std::make_unique<SimFileSystem>();
    auto store = open_store(*fs);
    for (int i = 0; i < 30; ++i) {
        SearchableCommit commit(*store);
        commit.put("Patient", "p" + std::to_string(i), "red");
        done(*store, commit.builder);
    }
    EXPECT_EQ(store->metrics().search.documents_pending, 30U);
    auto after = fs->after_power_cut(1);
    const auto again = open_store(*after);
    EXPECT_EQ(find_word(*again, "Patient", "red").size(), 30U);
}

TEST(StoreSearch, HoldsNoMoreBackThanItsBounds) {
    SimFileSystem fs;
    StoreOptions options = searchable();
    options.search_index.pending_documents = 10;
    const auto store = open_store(fs, options);
    for (int i = 0; i < 300; ++i) {
        SearchableCommit commit(*store);
        commit.put("Patient", "p" + std::to_string(i), "red");
        done(*store, commit.builder);
        ASSERT_LT(store->metrics().search.documents_pending, 20U);
    }
    const std::string long_text(400, 'x');
    options.search_index = {.pending_bytes = 10'000};
    SimFileSystem other;
    const auto heavy = open_store(other, options);
    for (int i = 0; i < 100; ++i) {
        for (const std::string_view type : {"Patient", "Observation"}) {
            SearchableCommit commit(*heavy);
            commit.put(type, "r" + std::to_string(i), long_text);
            done(*heavy, commit.builder);
        }
        // At the latest, a type's buffer is emptied when the type's next document is added.
        ASSERT_LT(heavy->metrics().search.documents_pending, 80U);
    }
    EXPECT_EQ(find_word(*heavy, "Patient", long_text).size(), 100U);
}

TEST(StoreSearch, FindsAtOnceWhatWasAcknowledgedToAnyThread) {
    SimFileSystem fs;
    StoreOptions options = searchable();
    options.search_index.pending_documents = 16;
    const auto store = open_store(fs, options);
    std::vector<std::thread> writers;
    for (int t = 0; t < 3; ++t) {
        writers.emplace_back([&store, t] {
            for (int i = 0; i < 60; ++i) {
                const std::string word = "t" + std::to_string(t) + "i" + std::to_string(i);
                SearchableCommit commit(*store);
                commit.put("Patient", "p" + std::to_string(t), word);
                done(*store, commit.builder);
                ASSERT_EQ(find_word(*store, "Patient", word).size(), 1U) << word;
                if (i > 0) {
                    const std::string old = "t" + std::to_string(t) + "i" + std::to_string(i - 1);
                    ASSERT_EQ(find_word(*store, "Patient", old), Found{}) << old;
                }
            }
        });
    }
    for (std::thread& writer : writers) {
        writer.join();
    }
}

}  // namespace
}  // namespace annals::storage
