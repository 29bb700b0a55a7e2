#include "storage/search_run.h"

#include "tests/storage/search_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace annals::storage {
namespace {

TEST(SearchRun, SaysWhatItsDocumentsSay) {
    ModelMaker maker(1);
    for (const std::size_t count : {1U, 2U, 3U, 10U, 127U, 128U, 129U, 400U, 1500U}) {
        const auto documents = documents_of(maker, count);
        const auto run = SearchRun::build(indexed(pointers(documents)));
        expect_says(*run, pointers(documents));
        ASSERT_FALSE(testing::Test::HasFailure()) << count;
    }
}

TEST(SearchRun, KnowsTheDocumentsOfATermHoweverManyTheyAre) {
    constexpr std::uint32_t kDocuments = 140'000;
    // Terms that differ in their lowest bits only, and terms spread like hashes.
    const std::vector<std::uint32_t> steps{1, 2, 3, 16, 17, 34, 1093, 1103, 70'000, 139'999};
    const auto spread = [](std::uint32_t step) { return step * 0x9e37'79b9'7f4a'7c15; };
    std::deque<SearchEntries> entries;
    std::vector<IndexedDocument> documents;
    for (std::uint32_t i = 0; i < kDocuments; ++i) {
        SearchEntries& one = entries.emplace_back();
        for (const std::uint32_t step : steps) {
            if (i % step == 0) {
                one.terms.insert(one.terms.end(), {spread(step), step, spread(step)});
            }
        }
        documents.push_back({{i + 1}, i, &one});
    }
    const auto run = SearchRun::build(documents);
    for (const std::uint32_t step : steps) {
        std::vector<std::uint32_t> expected;
        for (std::uint32_t i = 0; i < kDocuments; i += step) {
            expected.push_back(i);
        }
        EXPECT_EQ(listed(run->postings(step)), expected) << step;
        EXPECT_EQ(listed(run->postings(spread(step))), expected) << step;
    }
}

TEST(SearchRun, FindsWhatADocumentHasHoweverUnevenlyTheyHaveIt) {
    constexpr std::uint32_t kDocuments = 20'000;
    // Many of some documents near the beginning and the end, none of most, one of others.
    const auto count_of = [](std::uint32_t document) -> std::uint32_t {
        switch (document) {
            case 0:
                return 9000;
            case 70:
                return 300;
            case kDocuments - 2:
                return 2000;
            default:
                return document > 12'000 ? document % 7 / 6 : document % 1000 / 990;
        }
    };
    std::deque<SearchEntries> entries;
    std::vector<IndexedDocument> documents;
    for (std::uint32_t i = 0; i < kDocuments; ++i) {
        SearchEntries& one = entries.emplace_back();
        for (std::uint32_t number = 0; number < count_of(i); ++number) {
            one.links.push_back({1, number * 100'000ULL + i});
            one.intervals.push_back({1, i, i + number});
        }
        documents.push_back({{i + 1}, i, &one});
    }
    const auto run = SearchRun::build(documents);
    const LinkColumn links = run->links(1);
    const IntervalColumn intervals = run->intervals(1);
    for (std::uint32_t i = 0; i < kDocuments; ++i) {
        ASSERT_EQ(links.of(i).size(), count_of(i)) << i;
        for (const std::uint32_t target : links.of(i)) {
            ASSERT_EQ(links.targets[target] % 100'000, i);
        }
        ASSERT_EQ(intervals.of(i).size(), count_of(i)) << i;
        for (const std::uint32_t interval : intervals.of(i)) {
            ASSERT_EQ(intervals.all.low[interval], i);
        }
    }
    EXPECT_TRUE(links.of(kDocuments).empty());
    EXPECT_TRUE(intervals.of(kDocuments).empty());
}

TEST(SearchRun, OfADocumentWithoutEntriesSaysItsPositionAndKey) {
    const SearchEntries nothing;
    const IndexedDocument document{{7}, 8, &nothing};
    const auto run = SearchRun::build({&document, 1});
    ASSERT_EQ(run->size(), 1U);
    EXPECT_EQ(run->position(0).value, 7U);
    EXPECT_EQ(run->key(0), 8U);
    EXPECT_EQ(run->postings(0).size(), 0U);
    EXPECT_EQ(run->texts(0, "a").last, 0U);
}

TEST(SearchRun, LeavesOutIntervalsThatEndBeforeTheyBegin) {
    SearchEntries entries;
    entries.intervals = {{1, 5, 4}, {1, 4, 5}};
    const IndexedDocument document{{7}, 8, &entries};
    const auto run = SearchRun::build({&document, 1});
    ASSERT_EQ(run->intervals(1).all.size(), 1U);
    EXPECT_EQ(run->intervals(1).all.low[0], 4);
}

TEST(SearchRun, TellsShortIntervalsFromLongOnes) {
    std::deque<SearchEntries> entries;
    std::vector<IndexedDocument> documents;
    for (std::int64_t i = 0; i < 1000; ++i) {
        SearchEntries& one = entries.emplace_back();
        one.intervals = {{1, i * 100, i % 10 == 0 ? INT64_MAX : i * 100 + 50}};
        documents.push_back({{static_cast<std::uint64_t>(i) + 1}, 0, &one});
    }
    const auto run = SearchRun::build(documents);
    EXPECT_EQ(run->intervals(1).shorter().size(), 900U);
    EXPECT_EQ(run->intervals(1).longer().size(), 100U);
    EXPECT_EQ(run->intervals(1).short_span, 63U);
}

TEST(SearchRun, HasEqualPointsInTheOrderOfDocuments) {
    std::deque<SearchEntries> entries;
    std::vector<IndexedDocument> documents;
    std::vector<std::pair<std::int64_t, std::uint32_t>> expected;
    for (std::uint32_t i = 0; i < 900; ++i) {
        const std::int64_t point = i * 7 % 3;
        entries.emplace_back().intervals = {{1, point, point}};
        documents.push_back({{i + 1U}, 0, &entries.back()});
        expected.emplace_back(point, i);
    }
    std::ranges::sort(expected);
    std::vector<std::shared_ptr<const SearchRun>> runs;
    for (std::size_t begin = 0; begin < documents.size(); begin += 60) {
        runs.push_back(SearchRun::build(std::span(documents).subspan(begin, 60)));
    }
    // One after the other with the next ones, as the index does, and all at once.
    while (runs.size() > 1) {
        const std::size_t count = std::min<std::size_t>(runs.size(), runs.size() > 8 ? 4 : 8);
        const auto end = runs.begin() + static_cast<std::ptrdiff_t>(count);
        const auto merged = SearchRun::merge(std::vector(runs.begin(), end), {}).run;
        runs.erase(runs.begin() + 1, end);
        runs.front() = merged;
    }
    const IntervalColumn column = runs.front()->intervals(1);
    ASSERT_EQ(column.shorter_count, expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(column.all.low[i], expected[i].first);
        EXPECT_EQ(column.all.document[i], expected[i].second);
    }
}

TEST(SearchRun, RemembersWhoDied) {
    ModelMaker maker(2);
    auto documents = documents_of(maker, 10);
    const auto run = SearchRun::build(indexed(pointers(documents)));
    EXPECT_FALSE(run->any_died());
    run->mark_died(3, {100});
    run->mark_died(3, {101});
    run->mark_died(4, {0});
    run->mark_died(4, {102});
    documents[3].died = {101};
    documents[4].died = {0};
    expect_says(*run, pointers(documents));
}

TEST(SearchRun, CountsTheDeadOfEachBlock) {
    ModelMaker maker(10);
    const auto documents = documents_of(maker, SearchRun::kBlock + 1);
    const auto run = SearchRun::build(indexed(pointers(documents)));
    ASSERT_EQ(run->blocks(), 2U);
    run->mark_died(SearchRun::kBlock - 1, {100'000});
    run->mark_died(SearchRun::kBlock, {100'001});
    run->mark_died(SearchRun::kBlock, {0});
    EXPECT_EQ(run->died_count_in(0), 1U);
    EXPECT_EQ(run->died_count_in(1), 1U);
    run->mark_died(0, {0});
    EXPECT_EQ(run->died_count_in(0), 2U);
    EXPECT_EQ(run->died_count(), 3U);
}

TEST(SearchRun, MergesIntoWhatOneRunOfAllWouldSay) {
    ModelMaker maker(3);
    for (std::uint64_t round = 0; round < 30; ++round) {
        std::deque<ModelDocument> documents = documents_of(maker, 1 + maker.below(1200));
        const auto all = pointers(documents);
        std::vector<std::shared_ptr<const SearchRun>> runs;
        for (std::size_t begin = 0; begin < all.size();) {
            const std::size_t count = std::min<std::size_t>(
                1 + maker.below(round % 3 == 0 ? 3 : 400), all.size() - begin);
            runs.push_back(SearchRun::build(
                indexed({all.begin() + static_cast<std::ptrdiff_t>(begin),
                         all.begin() + static_cast<std::ptrdiff_t>(begin + count)})));
            begin += count;
        }
        const Position horizon{maker.last() - maker.below(2000)};
        const std::uint64_t share = round % 4;
        for (ModelDocument& document : documents) {
            if (maker.below(4) >= share) {
                continue;
            }
            document.died = maker.below(10) == 0
                                ? Position{0}
                                : Position{document.position.value + 1 + maker.below(3000)};
            for (const auto& run : runs) {
                if (const std::uint32_t number = run->find(document.position);
                    number != run->size()) {
                    run->mark_died(number, document.died);
                }
            }
        }
        std::vector<const ModelDocument*> left;
        for (const ModelDocument& document : documents) {
            if (document.died > horizon) {
                left.push_back(&document);
            }
        }
        ASSERT_TRUE(SearchRun::fits_one(runs));
        const auto merged = SearchRun::merge(runs, horizon).run;
        ASSERT_EQ(merged == nullptr, left.empty());
        if (merged != nullptr) {
            expect_says(*merged, left);
            const std::vector again{merged};
            expect_says(*SearchRun::merge(again, {}).run, left);
        }
        ASSERT_FALSE(testing::Test::HasFailure()) << round;
    }
}

TEST(SearchRun, OfNothingButTheDeadIsNone) {
    ModelMaker maker(4);
    const auto documents = documents_of(maker, 20);
    const std::vector runs{SearchRun::build(indexed(pointers(documents)))};
    for (std::uint32_t i = 0; i < 20; ++i) {
        runs[0]->mark_died(i, {i % 2 == 0 ? 0 : 500ULL});
    }
    EXPECT_EQ(runs[0]->erased_count(), 10U);
    EXPECT_EQ(SearchRun::merge(runs, {500}).run, nullptr);
    EXPECT_EQ(SearchRun::merge(runs, {500}).dropped_through.value, 500U);
    const SearchRun::Merged merged = SearchRun::merge(runs, {499});
    ASSERT_NE(merged.run, nullptr);
    EXPECT_EQ(merged.run->size(), 10U);
    EXPECT_EQ(merged.run->erased_count(), 0U);
    EXPECT_EQ(merged.dropped_through.value, 0U);
}

TEST(SearchRun, IsNotMergedWhenItIsToldToStop) {
    ModelMaker maker(9);
    const auto documents = documents_of(maker, 20);
    const std::vector runs{SearchRun::build(indexed(pointers(documents)))};
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(SearchRun::merge(runs, {}, stop.get_token()).run, nullptr);
}

TEST(SearchRun, IsReadAsItWasWritten) {
    ModelMaker maker(5);
    for (const std::size_t count : {1U, 2U, 50U, 300U, 5000U}) {
        const auto documents = documents_of(maker, count);
        const auto run = SearchRun::build(indexed(pointers(documents)));
        run->mark_died(0, {12345});  // isn't written
        const std::string bytes = written(*run);
        const auto read = read_copy(bytes);
        ASSERT_TRUE(read) << read.error().detail;
        expect_says(**read, pointers(documents));
        EXPECT_LE((*read)->bytes(), run->bytes());
        EXPECT_EQ(written(**read), bytes);
    }
}

TEST(SearchRun, StaysInTheMemoryThatItIsReadFrom) {
    ModelMaker maker(6);
    const auto documents = documents_of(maker, 300);
    const std::string bytes = written(*SearchRun::build(indexed(pointers(documents))));
    auto words = std::make_shared<std::uint64_t[]>(bytes.size() / 8 + 1);
    const std::weak_ptr<std::uint64_t[]> alive = words;
    char* const begin = reinterpret_cast<char*>(words.get());
    std::memcpy(begin, bytes.data(), bytes.size());
    auto run = SearchRun::read({begin, bytes.size()}, {words, begin});
    ASSERT_TRUE(run) << run.error().detail;
    words.reset();
    EXPECT_FALSE(alive.expired());
    expect_says(**run, pointers(documents));
    *run = nullptr;
    EXPECT_TRUE(alive.expired());
}

TEST(SearchRun, CutOrOfAnotherFormatIsRefused) {
    ModelMaker maker(6);
    const auto documents = documents_of(maker, 40);
    const std::string bytes = written(*SearchRun::build(indexed(pointers(documents))));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const auto read = read_copy(std::string_view(bytes).substr(0, size));
        ASSERT_FALSE(read);
        ASSERT_EQ(read.error().code, Errc::corrupt);
    }
    for (std::size_t at = 0; at < 12; ++at) {  // the magic number and the version
        std::string other = bytes;
        other[at] = static_cast<char>(other[at] ^ 1);
        const auto read = read_copy(other);
        ASSERT_FALSE(read);
        ASSERT_EQ(read.error().code, at < 8 ? Errc::corrupt : Errc::usage) << at;
    }
    ASSERT_FALSE(read_copy(bytes + "x"));
}

/// Reads everything from the run, whatever it says.
std::uint64_t walk(const SearchRun& run) {
    std::uint64_t sum = 0;
    const auto add = [&](const Postings& postings) {
        for (const std::uint32_t document : postings.list) {
            sum += run.key(document);
        }
        if (postings.bitmap != nullptr) {
            std::vector<std::uint32_t> documents(postings.size());
            roaring_bitmap_to_uint32_array(postings.bitmap, documents.data());
            for (const std::uint32_t document : documents) {
                sum += run.key(document);
            }
        }
    };
    for (std::uint64_t term = 1000; term < 1008; ++term) {
        add(run.postings(ModelMaker::mix(term)));
    }
    for (std::uint64_t number = 0; number < 8; ++number) {
        add(run.postings(number));
        add(run.postings(~number));
    }
    for (std::uint64_t column = 0; column < 30; ++column) {
        const SearchRun::TextRange range = run.texts(column);
        for (std::uint32_t text = range.first; text < range.last; ++text) {
            sum += run.text(text).size() +
                   static_cast<unsigned char>(run.text(text).empty() ? 'x' : run.text(text).back());
            add(run.text_postings(text));
        }
        sum += run.texts(column, "text").last;
        for (std::uint32_t document = 0; document < run.size(); ++document) {
            for (const std::uint32_t text : run.texts_of(column, document)) {
                sum += run.text(text).size();
            }
            for (const std::uint32_t index : run.intervals(column).of(document)) {
                sum += static_cast<std::uint64_t>(run.intervals(column).all.low[index]);
            }
            for (const std::uint32_t target : run.links(column).of(document)) {
                sum += run.links(column).targets[target];
            }
        }
    }
    return sum;
}

TEST(SearchRun, DamagedIsRefusedOrHarmless) {
    ModelMaker maker(7);
    const auto documents = documents_of(maker, 300);
    const std::string bytes = written(*SearchRun::build(indexed(pointers(documents))));
    const auto try_reading = [](const std::string& damaged) {
        const auto read = read_copy(damaged);
        if (!read) {
            return false;
        }
        walk(**read);
        const std::vector runs{*read};
        walk(*SearchRun::merge(runs, {}).run);
        return true;
    };
    ASSERT_TRUE(try_reading(bytes));
    std::size_t refused = 0;
    for (std::size_t at = 0; at < bytes.size(); at += 1 + maker.below(40)) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(maker.below(256));
        refused += try_reading(damaged) ? 0 : 1;
        damaged = bytes;
        damaged[at] = '\xff';
        refused += try_reading(damaged) ? 0 : 1;
    }
    EXPECT_GT(refused, 100U);
}

TEST(SearchRun, CountsItsMemory) {
    ModelMaker maker(8);
    const auto documents = documents_of(maker, 2000);
    const auto run = SearchRun::build(indexed(pointers(documents)));
    const std::string bytes = written(*run);
    EXPECT_GT(run->bytes(), bytes.size());
    EXPECT_LT(run->bytes(), bytes.size() + bytes.size() / 2);
}

}  // namespace
}  // namespace annals::storage
