// The search index on disk: what fits is used, what doesn't is never trusted, and what was erased goes.

#include "storage/search_checkpoint.h"

#include "storage/verify.h"
#include "tests/support/search_store.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::describe_search;
using test::SearchableCommit;
using test::SimFileSystem;
using test::type_of;
using Call = SimFileSystem::Call;

const std::vector<std::string> kWords = {"red", "green", "blue", "secret"};
const std::string kFolder = "/data/search";

StoreOptions searchable(std::uint64_t fingerprint = 1) {
    StoreOptions options;
    options.segment_bytes = 16 << 10;
    options.prepare_segments = false;
    options.search = [fingerprint](const Store& store) {
        return test::word_setup(store, fingerprint);
    };
    return options;
}

std::unique_ptr<Store> open_store(FileSystem& fs, StoreOptions options = searchable(),
                                  OpenReport* report = nullptr) {
    auto store = Store::open(fs, "/data", std::move(options), report);
    EXPECT_TRUE(store) << store.error().detail;
    return store ? *std::move(store) : nullptr;
}

Submission put(Store& store, std::string_view type, std::string_view id, std::string_view text) {
    SearchableCommit commit(store);
    commit.put(type, id, text);
    const Submission submission = store.submit(commit.builder.commit());
    (void)store.wait(submission.ticket);
    return submission;
}

void erase(Store& store, std::string_view type, std::string_view id) {
    CommitBuilder builder;
    builder.erase(type, id);
    EXPECT_TRUE(store.wait(store.submit(builder.commit()).ticket));
}

/// What is found, without any checkpoint.
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

std::vector<std::string> checkpoint_files(const SimFileSystem& fs) {
    std::vector<std::string> files;
    for (const std::string& path : fs.paths()) {
        if (path.starts_with(kFolder)) {
            files.push_back(path);
        }
    }
    return files;
}

bool mentions(const SimFileSystem& fs, std::string_view text) {
    return std::ranges::any_of(checkpoint_files(fs), [&](const std::string& path) {
        return fs.content(path).find(text) != std::string::npos;
    });
}

TEST(StoreCheckpoint, DamagedAnywhereIsNotTrusted) {
    SimFileSystem fs;
    {
        const auto store = open_store(fs);
        put(*store, "Patient", "a", "red 7 >b");
        put(*store, "Observation", "o", "green >a");
        put(*store, "Patient", "a", "blue");
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
    // All but what pads the packs of the two types.
    EXPECT_GT(noticed + 16, tried);
}

TEST(StoreCheckpoint, PowerCutAtAnyPointOfItsWritingDoesNoHarm) {
    for (std::uint64_t n = 1;; ++n) {
        SimFileSystem fs;
        {
            const auto store = open_store(fs);
            for (int i = 0; i < 5; ++i) {
                put(*store, "Patient", "p" + std::to_string(i), "red");
            }
        }
        std::string last;
        bool reached = false;
        {
            auto store = open_store(fs);
            put(*store, "Patient", "p1", "green");
            erase(*store, "Patient", "p2");
            put(*store, "Observation", "o", "blue >p1");
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
            put(*store, "Patient", "p9", "red");
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
            put(*store, "Patient", "a", "red");
            store.reset();
            store = open_store(fs, options);
            fs.power_off_at(n);
            const std::uint64_t calls = fs.changing_calls();
            const std::string text(600, 'x');
            for (const char* id : {"a", "b", "c", "b"}) {
                put(*store, "Patient", id, "green " + text);
            }
            CommitBuilder removal;
            removal.erase("Patient", "c");
            (void)store->wait(store->submit(removal.commit()).ticket);
            put(*store, "Observation", "o", "blue >b");
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

TEST(StoreCheckpoint, IsNothingThatVerifyLooksAt) {
    SimFileSystem fs;
    {
        put(*open_store(fs), "Patient", "a", "red");
    }
    for (const std::string& path : checkpoint_files(fs)) {
        fs.set_content(path, "damaged");
    }
    const auto report = verify(fs, "/data");
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->damages.empty());
    EXPECT_EQ(report->versions, 1U);
}

TEST(StoreCheckpoint, OfVersionsThatAPowerCutTookIsNotTrusted) {
    SimFileSystem fs;
    StoreOptions options = searchable();
    options.durability = Durability::none;
    options.search_checkpoint_versions = 1;
    auto store = open_store(fs, options);
    put(*store, "Patient", "a", "red");
    for (int i = 0; i < 100 && store->metrics().search_checkpoints == 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    ASSERT_EQ(store->metrics().search_checkpoints, 1U);
    const auto after = fs.after_power_cut(0);
    const auto again = open_store(*after);
    ASSERT_EQ(again->last_position(), Position{0});
    EXPECT_EQ(describe_search(*again, kWords), "");
    put(*again, "Patient", "b", "green");
    EXPECT_EQ(test::find_word(*again, "Patient", "green"), std::set<std::uint64_t>{1});
    EXPECT_EQ(test::find_word(*again, "Patient", "red"), std::set<std::uint64_t>{});
}

TEST(StoreCheckpoint, IsLeftOutWhereTheDeviceIsFull) {
    SimFileSystem fs;
    {
        const auto store = open_store(fs);
        put(*store, "Patient", "a", "red");
    }
    const auto before = checkpoint_files(fs);
    std::string last;
    {
        const auto store = open_store(fs);
        put(*store, "Patient", "a", "green");
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
        put(*store, "Patient", "a", "secret");
        put(*store, "Patient", "b", "red");
    }
    EXPECT_TRUE(mentions(fs, "secret"));
    {
        const auto store = open_store(fs);
        erase(*store, "Patient", "a");
    }
    EXPECT_FALSE(mentions(fs, "secret"));
    EXPECT_TRUE(mentions(fs, "red"));
    EXPECT_EQ(found(fs), found_anew(fs));
}

TEST(StoreCheckpoint, LeavesNoLitter) {
    SimFileSystem fs;
    {
        put(*open_store(fs), "Patient", "a", "red");
    }
    const auto before = checkpoint_files(fs);
    for (const char* name : {"/manifest.tmp", "/0000000077.run", "/0000000078.run"}) {
        auto file = fs.open(kFolder + name, FileSystem::Mode::create);
        ASSERT_TRUE(file);
    }
    open_store(fs);
    EXPECT_EQ(checkpoint_files(fs), before);
}

/// An index and a search index of the same versions, without a store.
class SearchCheckpointTest : public testing::Test {
  protected:
    SearchCheckpointTest() { fingerprints_.fill(1); }

    static void add_version(Index& index, std::uint64_t position, const Hash128& key) {
        index.add({.key = key,
                   .type = kType,
                   .position = {position},
                   .version = {1},
                   .instant = {static_cast<std::int64_t>(position)},
                   .deletion = false,
                   .location = {}});
    }

    void add(std::uint64_t count) {
        std::vector<SearchEntries> entries(count);
        std::vector<IndexedDocument> documents;
        for (SearchEntries& entry : entries) {
            const std::uint64_t p = index_.last_position().value + 1;
            const Hash128 key{1000 + p, salt_};
            add_version(index_, p, key);
            index_.publish({p});
            entry.terms = {p};
            entry.add_text(1, "text-" + std::to_string(p) + ";");
            documents.push_back({.position = {p}, .key = key.low, .entries = &entry});
        }
        search_.add(kType, documents);
        search_.wait_until_idle();
    }

    SearchCheckpoint checkpoint() {
        return SearchCheckpoint(
            fs_, index_,
            {.directory = "/data", .store_id = 7, .read_only = false, .own_file_documents = 10});
    }

    /// Where every resource has one version.
    PerType<CheckpointedType> load(SearchCheckpoint& checkpoint) {
        const std::vector<std::uint32_t> next(index_.last_position().value + 1, 0);
        return checkpoint.load(SearchCheckpointReader(fs_, "/data").take(), fingerprints_, next);
    }

    std::uint64_t loaded_documents() {
        std::uint64_t count = 0;
        SearchCheckpoint checkpoint = this->checkpoint();
        for (const auto& type : load(checkpoint)) {
            for (const auto& run : type.runs.runs) {
                count += run->size();
            }
        }
        return count;
    }

    static constexpr TypeId kType{5};

    SimFileSystem fs_;
    Index index_;
    SearchIndex search_{{.fan_in = 1000, .pending_documents = 0}};
    PerType<std::uint64_t> fingerprints_;
    const std::function<PerType<std::uint64_t>()> now_ = [this] { return fingerprints_; };
    std::uint64_t salt_ = 0;
};

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
    EXPECT_EQ(same.size(), 2U);  // the large run's and the manifest
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
    // Not again for the same.
    std::vector<std::string> same;
    const auto twice = checkpoint_files(fs_);
    std::ranges::set_intersection(once, twice, std::back_inserter(same));
    EXPECT_EQ(same.size(), 2U);
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
    // The same last version, but another one before it.
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

TEST_F(SearchCheckpointTest, ReadsMuchBesideTheLog) {
    add(30'000);
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
    EXPECT_EQ(loaded_documents(), 30'007U);
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
    for (const Call call : {Call::write, Call::sync, Call::create, Call::rename}) {
        fs_.fail_next(call, Errc::no_store, 1);
        EXPECT_FALSE(checkpoint.write(search_, now_));
        EXPECT_EQ(loaded_documents(), 20U);
        EXPECT_EQ(checkpoint_files(fs_), before);
    }
    ASSERT_TRUE(checkpoint.write(search_, now_));
    EXPECT_EQ(loaded_documents(), 50U);
}

}  // namespace
}  // namespace annals::storage
