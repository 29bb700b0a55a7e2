#include "storage/search_index.h"

#include "tests/storage/search_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

namespace annals::storage {
namespace {

constexpr TypeId kType{7};
constexpr TypeId kOtherType{8};

SearchIndexOptions small_options() {
    return {.positions_retained = 60,
            .fan_in = 3,
            .run_documents_max = 400,
            .runs_wanted = 6,
            .runs_max = 9,
            .pending_documents = 0};
}

/// One type's documents and what became of them; makes the same changes to an index.
class Model {
  public:
    Model(std::uint64_t seed, SearchIndex& driven) : index(driven), maker(seed) {}

    void add(std::size_t count) {
        std::vector<const ModelDocument*> batch;
        for (std::size_t i = 0; i < count; ++i) {
            documents.push_back(maker.next());
            batch.push_back(&documents.back());
        }
        index.add(kType, indexed(batch));
    }

    void die(std::size_t number, Position at) {
        ModelDocument& document = documents[number];
        if (document.died != Position{0}) {
            document.died = at;
        }
        index.died(kType, document.position, at);
    }

    Position last() const { return {maker.last()}; }

    /// Expects the runs to be right about each document, and to have all that can still be asked for.
    void expect_true(const SearchRuns& runs) const {
        std::map<Position, const ModelDocument*> there;
        for (const ModelDocument& document : documents) {
            there[document.position] = &document;
        }
        Position before;
        std::size_t missing = documents.size();
        for (const auto& run : runs.runs) {
            std::vector<const ModelDocument*> of;
            for (std::uint32_t i = 0; i < run->size(); ++i) {
                ASSERT_LT(before, run->position(i));
                before = run->position(i);
                ASSERT_TRUE(there.contains(before));
                of.push_back(there.extract(before).mapped());
                --missing;
            }
            expect_says(*run, of);
        }
        ASSERT_EQ(there.size(), missing);
        Position dropped;
        for (const auto& [position, document] : there) {
            dropped = std::max(dropped, document->died);
        }
        ASSERT_LE(dropped, runs.vacuumed_through);
    }

    SearchIndex& index;
    ModelMaker maker;
    std::deque<ModelDocument> documents;
};

/// Turns every batch into a run at once.
SearchIndexOptions impatient() {
    return {.pending_documents = 0};
}

TEST(SearchIndex, OfNothingHasNoRuns) {
    SearchIndex index;
    ASSERT_NE(index.runs(kType), nullptr);
    EXPECT_TRUE(index.runs(kType)->runs.empty());
    index.died(kType, {5}, {6});
    index.add(kType, {});
    EXPECT_TRUE(index.runs(kType)->runs.empty());
    EXPECT_EQ(index.bytes(), 0U);
    index.wait_until_idle();
}

TEST(SearchIndex, FindsADocumentAtOnceAndOnlyInItsType) {
    SearchIndex index;
    Model model(1, index);
    model.add(3);
    ASSERT_EQ(index.runs(kType)->runs.size(), 1U);
    model.expect_true(*index.runs(kType));
    EXPECT_TRUE(index.runs(kOtherType)->runs.empty());
    EXPECT_EQ(index.bytes(), index.runs(kType)->runs[0]->bytes());
}

TEST(SearchIndex, MakesSeveralRunsOfAVeryLargeBatch) {
    SearchIndex index;
    std::deque<ModelDocument> documents;
    ModelMaker maker(9);
    for (int i = 0; i < 40; ++i) {
        documents.push_back(maker.next());
        documents.back().entries.add_text(
            5, std::string(1 << 20, static_cast<char>('a' + maker.below(5))));
    }
    index.add(kType, indexed(pointers(documents)));
    const auto runs = index.runs(kType);
    ASSERT_EQ(runs->runs.size(), 3U);
    EXPECT_EQ(runs->runs[0]->size(), 16U);
    EXPECT_EQ(runs->runs[2]->find(documents.back().position), 7U);
}

TEST(SearchIndex, SaysWhatIsTrueWhateverIsMergedMeanwhile) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        SearchIndex index(small_options());
        Model model(seed, index);

        struct Held {
            std::shared_ptr<const SearchRuns> runs;
            Position at;
            std::vector<Position> visible;
        };

        std::vector<Held> held;
        for (int step = 0; step < 400; ++step) {
            switch (model.maker.below(8)) {
                case 0:
                    model.add(1 + model.maker.below(30));
                    break;
                case 1:
                    model.add(1);
                    break;
                default:
                    if (!model.documents.empty()) {
                        const std::size_t number = model.maker.below(model.documents.size());
                        const bool erase = model.maker.below(6) == 0;
                        if (erase || model.documents[number].died == kNotDied) {
                            model.add(1);
                            model.die(number, erase ? Position{0} : model.last());
                        }
                    }
            }
            if (step % 40 == 0) {
                model.expect_true(*index.runs(kType));
                Held& hold = held.emplace_back(Held{index.runs(kType), model.last(), {}});
                for (const ModelDocument& document : model.documents) {
                    if (document.died > hold.at) {
                        hold.visible.push_back(document.position);
                    }
                }
            }
            if (step % 100 == 99) {
                index.wait_until_idle();
            }
        }
        index.wait_until_idle();
        model.expect_true(*index.runs(kType));
        EXPECT_LE(index.runs(kType)->runs.size(), 20U);
        EXPECT_EQ(index.bytes(), index.stats().bytes);
        EXPECT_GT(index.stats().merges, 0U);
        // A snapshot still shows what it did, except what was erased since.
        for (const Held& hold : held) {
            std::set<Position> visible;
            for (const auto& run : hold.runs->runs) {
                for (std::uint32_t i = 0; i < run->size_at(hold.at); ++i) {
                    if (run->died_at(i) > hold.at) {
                        visible.insert(run->position(i));
                    }
                }
            }
            for (const Position position : hold.visible) {
                const auto document =
                    std::ranges::find(model.documents, position, &ModelDocument::position);
                ASSERT_TRUE(visible.erase(position) == 1 || document->died == Position{0});
            }
            ASSERT_TRUE(visible.empty());
        }
        ASSERT_FALSE(testing::Test::HasFailure()) << seed;
    }
}

TEST(SearchIndex, KeepsFewRunsHoweverSmallTheBatches) {
    SearchIndex index(impatient());
    Model model(2, index);
    for (int i = 0; i < 3000; ++i) {
        model.add(1);
        ASSERT_LE(index.runs(kType)->runs.size(), 80U);
    }
    index.wait_until_idle();
    EXPECT_LE(index.runs(kType)->runs.size(), 40U);
    model.expect_true(*index.runs(kType));
    const SearchIndexStats stats = index.stats();
    EXPECT_EQ(stats.documents, 3000U);
    EXPECT_EQ(stats.runs, index.runs(kType)->runs.size());
    std::uint64_t bytes = 0;
    const auto runs = index.runs(kType);
    for (const auto& run : runs->runs) {
        bytes += run->bytes();
    }
    EXPECT_EQ(stats.bytes, bytes);
}

TEST(SearchIndex, RewritesARunWhenHalfOfItDiedLongAgo) {
    SearchIndex index({.positions_retained = 1000, .pending_documents = 0});
    Model model(3, index);
    model.add(100);
    for (std::size_t i = 0; i < 60; ++i) {
        model.die(i, {model.last().value + i});
    }
    index.wait_until_idle();
    EXPECT_EQ(index.runs(kType)->runs[0]->size(), 100U);
    // The positions of the whole store count.
    index.died(kOtherType, {5}, {model.last().value + 1020});
    index.wait_until_idle();
    EXPECT_EQ(index.runs(kType)->runs[0]->size(), 100U);
    index.died(kOtherType, {6}, {model.last().value + 1050});
    index.wait_until_idle();
    // More than half have been dead long enough: 51 of 100.
    EXPECT_EQ(index.runs(kType)->runs[0]->size(), 49U);
    EXPECT_EQ(index.runs(kType)->vacuumed_through.value, model.last().value + 50);
    model.expect_true(*index.runs(kType));
    for (std::size_t i = 51; i < 100; ++i) {
        model.die(i, {model.last().value + 1051});
    }
    index.died(kOtherType, {6}, {model.last().value + 3000});
    index.wait_until_idle();
    EXPECT_TRUE(index.runs(kType)->runs.empty());
    EXPECT_EQ(index.bytes(), 0U);
}

TEST(SearchIndex, ErasedIsInvisibleAtOnceAndGoneWhenAskedFor) {
    SearchIndex index(impatient());
    Model model(4, index);
    model.add(25);
    model.add(25);
    model.die(30, {0});
    EXPECT_EQ(index.runs(kType)->runs[1]->died_at(5).value, 0U);
    index.wait_until_idle();
    ASSERT_EQ(index.runs(kType)->runs.size(), 2U);
    EXPECT_EQ(index.runs(kType)->runs[1]->size(), 25U);
    const auto untouched = index.runs(kType)->runs[0];
    index.drop_erased();
    index.wait_until_idle();
    EXPECT_EQ(index.runs(kType)->runs[0], untouched);
    EXPECT_EQ(index.runs(kType)->runs[1]->size(), 24U);
    EXPECT_EQ(index.runs(kType)->vacuumed_through.value, 0U);
    model.expect_true(*index.runs(kType));
}

TEST(SearchIndex, GoesOnFromRestoredRuns) {
    SearchIndex first(impatient());
    Model model(5, first);
    model.add(20);
    model.add(30);
    SearchRuns runs{.runs = {}, .vacuumed_through = {3}};
    for (const auto& run : first.runs(kType)->runs) {
        runs.runs.push_back(*read_copy(written(*run)));
    }
    runs.runs[1]->mark_died(0, {1000});
    SearchIndex second;
    ASSERT_TRUE(second.restore(kType, runs));
    EXPECT_EQ(second.runs(kType)->vacuumed_through.value, 3U);
    EXPECT_EQ(second.runs(kType)->runs[1]->died_at(0).value, 1000U);
    EXPECT_EQ(second.stats().documents, 50U);
    EXPECT_EQ(second.bytes(), first.bytes());
    const ModelDocument next = model.maker.next();
    second.add(kType, indexed({&next}));
    EXPECT_EQ(second.runs(kType)->runs.size(), 3U);

    SearchIndex third;
    std::swap(runs.runs[0], runs.runs[1]);
    EXPECT_FALSE(third.restore(kType, runs));
    runs.runs[0] = runs.runs[1];
    EXPECT_FALSE(third.restore(kType, runs));
    EXPECT_TRUE(third.runs(kType)->runs.empty());
}

TEST(SearchIndex, IsRebuiltWhileItGoesOn) {
    SearchIndex index(small_options());
    Model model(6, index);
    for (int i = 0; i < 60; ++i) {
        model.add(1 + model.maker.below(20));
    }
    // From now on, a version's only term is twice its position; every fifth version has none.
    std::atomic<int> rebuilt = 0;
    const std::size_t old = model.documents.size();
    for (std::size_t i = 0; i < old; ++i) {
        SearchEntries& entries = model.documents[i].entries;
        entries.clear();
        if (model.documents[i].position.value % 5 != 0) {
            entries.terms = {model.documents[i].position.value * 2};
        }
    }
    const Position through = model.last();
    index.rebuild(
        kType,
        [through](Position position, SearchEntries& entries) {
            if (position > through) {
                // One of those added in the meantime, whose entries are the same again.
                ModelMaker::mix(position.value);
            }
            entries.terms.push_back(position.value * 2);
            return position.value % 5 != 0;
        },
        [&rebuilt] { ++rebuilt; });
    index.rebuild(
        kOtherType, [](Position, SearchEntries&) { return true; }, [&rebuilt] { ++rebuilt; });
    for (int i = 0; i < 100; ++i) {
        model.documents.push_back(model.maker.next());
        ModelDocument& document = model.documents.back();
        document.entries.clear();
        if (document.position.value % 5 != 0) {
            document.entries.terms = {document.position.value * 2};
        }
        index.add(kType, indexed({&document}));
        if (const std::size_t number = model.maker.below(old);
            model.documents[number].died == kNotDied) {
            model.die(number, model.last());
        }
        if (const auto progress = index.rebuilding(kType)) {
            EXPECT_LE(progress->documents_done, progress->documents);
        }
    }
    index.wait_until_idle();
    EXPECT_EQ(rebuilt, 2);
    EXPECT_FALSE(index.rebuilding(kType));
    // A merge may have dropped a document before its entries changed here; then it is gone in either form.
    model.expect_true(*index.runs(kType));
}

TEST(SearchIndex, SaysHowFarBackItReachesWhenARunWasWrittenAnew) {
    SearchIndex index({.positions_retained = 60, .pending_documents = 0});
    Model model(9, index);
    model.add(25);
    const Position last = model.last();
    model.die(3, {last.value + 9});
    model.die(7, {last.value + 2});  // the later document died earlier
    index.died(kOtherType, {6}, {last.value + 500});
    const auto written_again = [&](Position position, SearchEntries& entries) {
        for (const ModelDocument& document : model.documents) {
            if (document.position == position) {
                entries = document.entries;
            }
        }
        return true;
    };
    index.rebuild(kType, written_again, {});
    index.wait_until_idle();
    EXPECT_EQ(index.runs(kType)->runs[0]->size(), 23U);
    EXPECT_EQ(index.runs(kType)->vacuumed_through.value, last.value + 9);
    model.expect_true(*index.runs(kType));
}

TEST(SearchIndex, KnowsWhoDiedWhileHisRunWasWrittenAnew) {
    SearchIndex index(impatient());
    Model model(8, index);
    model.add(25);
    const Position at{1000};
    index.rebuild(kType,
                  [&](Position position, SearchEntries&) {
                      index.died(kType, position, at);
                      return true;
                  },
                  {});
    index.wait_until_idle();
    const auto runs = index.runs(kType);
    ASSERT_EQ(runs->runs.size(), 1U);
    EXPECT_EQ(runs->runs[0]->died_count(), 25U);
    for (std::uint32_t document = 0; document < runs->runs[0]->size(); ++document) {
        EXPECT_EQ(runs->runs[0]->died_at(document), at) << document;
    }
}

TEST(SearchIndex, StopsInTheMiddleOfAnything) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        std::shared_ptr<const SearchRuns> held;
        {
            SearchIndex index(small_options());
            Model model(seed, index);
            for (std::uint64_t i = 0; i < 5 + seed; ++i) {
                model.add(20);
            }
            index.rebuild(kType, [](Position, SearchEntries&) { return true; });
            index.drop_erased();
            held = index.runs(kType);
        }
        EXPECT_FALSE(held->runs.empty());
        EXPECT_GT(held->runs[0]->size(), 0U);
    }
}

TEST(SearchIndex, ShowsEveryResourceOnceToReadersWhileItIsWritten) {
    constexpr std::uint64_t kResources = 50;
    constexpr std::uint64_t kVersions = 6000;
    SearchIndex index({.positions_retained = 500,
                       .fan_in = 3,
                       .runs_wanted = 8,
                       .runs_max = 12,
                       .pending_documents = 16});
    std::atomic<std::uint64_t> published = 0;
    std::atomic<bool> stop = false;
    std::atomic<std::uint64_t> looks = 0;

    const auto read = [&] {
        while (!stop) {
            const Position at{published.load(std::memory_order_acquire)};
            const auto runs = index.runs(kType);
            if (runs->vacuumed_through > at) {
                continue;  // this thread slept too long
            }
            for (std::uint64_t resource = 0; resource < kResources; ++resource) {
                std::size_t seen = 0;
                for (const auto& run : runs->runs) {
                    const Postings postings = run->postings(ModelMaker::mix(resource + 100));
                    std::vector<std::uint32_t> documents(postings.list.begin(),
                                                         postings.list.end());
                    if (postings.bitmap != nullptr) {
                        documents.resize(postings.size());
                        roaring_bitmap_to_uint32_array(postings.bitmap, documents.data());
                    }
                    for (const std::uint32_t document : documents) {
                        seen +=
                            run->position(document) <= at && run->died_at(document) > at ? 1 : 0;
                    }
                }
                ASSERT_EQ(seen, resource < at.value ? 1U : 0U) << resource << " at " << at.value;
            }
            ++looks;
        }
    };
    std::vector<std::thread> readers;
    readers.emplace_back(read);
    readers.emplace_back(read);

    std::mt19937_64 random(1);
    std::vector<Position> current(kResources);
    SearchEntries entries;
    for (std::uint64_t position = 1; position <= kVersions; ++position) {
        const std::uint64_t resource =
            position <= kResources ? position - 1 : random() % kResources;
        entries.clear();
        entries.terms = {ModelMaker::mix(resource + 100), random() % 3};
        const IndexedDocument document{{position}, resource, &entries};
        index.add(kType, {&document, 1});
        if (current[resource] != Position{}) {
            index.died(kType, current[resource], {position});
        }
        current[resource] = {position};
        published.store(position, std::memory_order_release);
        if (position == 3000) {
            index.rebuild(kType, [&](Position of, SearchEntries& rewritten) {
                const auto runs = index.runs(kType);
                for (const auto& run : runs->runs) {
                    if (const std::uint32_t number = run->find(of); number != run->size()) {
                        rewritten.terms.push_back(ModelMaker::mix(run->key(number) + 100));
                    }
                }
                return true;
            });
        }
        if (position % 512 == 0) {
            index.wait_until_idle();
            (void)index.stats();
        }
    }
    index.wait_until_idle();
    stop = true;
    for (std::thread& reader : readers) {
        reader.join();
    }
    EXPECT_GT(looks, 0U);
    EXPECT_LT(index.stats().documents, kVersions / 2);
}

}  // namespace
}  // namespace annals::storage
