// What a written run may not say: each of its arrays is held to the others before anybody reads it.

#include "core/base/bytes.h"
#include "storage/search_run.h"
#include "tests/storage/search_model.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace annals::storage {
namespace {

/// The bytes of a run, by array.
class WrittenRun : public testing::Test {
  protected:
    /// In the order of SearchRunParts::arrays().
    enum Array : std::size_t {
        keys,
        terms,
        text_columns,
        interval_columns,
        interval_lows,
        interval_highs,
        link_columns,
        targets,
        positions,
        term_postings,
        lists,
        text_ends,
        text_postings,
        text_documents,
        text_indexes,
        interval_documents,
        intervals_by_document,
        link_documents,
        link_targets,
        characters,
        kArrays
    };

    static constexpr std::size_t kSizesAt = 16;

    WrittenRun() {
        ModelMaker maker(9);
        const auto documents = documents_of(maker, 300);
        bytes_ = written(*SearchRun::build(indexed(pointers(documents))));
    }

    static std::size_t width(Array array) {
        const bool columns =
            array == text_columns || array == interval_columns || array == link_columns;
        return columns              ? sizeof(SearchRunColumn)
               : array < positions  ? 8
               : array < characters ? 4
                                    : 1;
    }

    std::uint64_t size(std::size_t array) const {
        return load_le<std::uint64_t>(bytes_.data() + kSizesAt + array * 8);
    }

    std::size_t place(Array array, std::size_t index = 0) const {
        std::size_t at = kSizesAt + kArrays * 8;
        for (std::size_t before = 0; before < array; ++before) {
            at += size(before) * width(static_cast<Array>(before));
        }
        return at + index * width(array);
    }

    template <typename T>
    void expect_refused(std::size_t at, T value) const {
        std::string changed = bytes_;
        store_le(changed.data() + at, value);
        if (changed != bytes_) {
            EXPECT_FALSE(read_copy(changed)) << at << ": " << value;
        }
    }

    std::string bytes_;
};

TEST_F(WrittenRun, RefersToNothingBeyondAnArray) {
    constexpr std::uint32_t kTooLarge = 0x7fff'ffff;
    ASSERT_TRUE(read_copy(bytes_));
    for (const Array array :
         {term_postings, lists, text_ends, text_postings, text_documents, text_indexes,
          interval_documents, intervals_by_document, link_documents, link_targets}) {
        ASSERT_GT(size(array), 1U) << array;
        for (std::size_t i = 0; i < size(array); ++i) {
            expect_refused(place(array, i), kTooLarge);
        }
    }
    for (const Array array : {term_postings, text_postings}) {
        expect_refused(place(array), 0xbfff'ffffU);  // a list
        expect_refused(place(array), 0xffff'ffffU);  // a bitmap
    }
}

TEST_F(WrittenRun, HasItsValuesInOrder) {
    for (std::size_t i = 1; i < size(terms); ++i) {
        expect_refused(place(terms, i), std::uint64_t{0});
    }
    for (std::size_t i = 1; i < size(targets); ++i) {
        expect_refused(place(targets, i), std::uint64_t{0});
    }
    for (std::size_t i = 0; i < size(positions); ++i) {
        expect_refused(place(positions, i), 0U);
        expect_refused(place(positions, i), 0xffff'ffffU);
    }
    for (std::size_t i = 0; i < size(interval_lows); ++i) {
        const auto high = load_le<std::int64_t>(bytes_.data() + place(interval_highs, i));
        if (high != INT64_MAX) {
            expect_refused(place(interval_lows, i), INT64_MAX);
        }
    }
}

TEST_F(WrittenRun, HasColumnsOfWhatThereIs) {
    for (const Array array : {text_columns, interval_columns, link_columns}) {
        ASSERT_GT(size(array), 1U) << array;
        for (std::size_t i = 0; i < size(array); ++i) {
            const std::size_t at = place(array, i);
            expect_refused(at + offsetof(SearchRunColumn, end), 0U);
            expect_refused(at + offsetof(SearchRunColumn, end), 0x7fff'ffffU);
            if (i > 0) {
                expect_refused(at + offsetof(SearchRunColumn, column), std::uint64_t{0});
            }
        }
    }
    for (std::size_t i = 0; i < size(text_columns); ++i) {
        const std::size_t at = place(text_columns, i) + offsetof(SearchRunColumn, by_document_end);
        expect_refused(at, 0U);
        expect_refused(at, load_le<std::uint32_t>(bytes_.data() + at) - 1);
        expect_refused(at, 0x7fff'ffffU);
    }
    for (std::size_t i = 0; i < size(interval_columns); ++i) {
        expect_refused(place(interval_columns, i) + offsetof(SearchRunColumn, shorter_count),
                       0x7fff'ffffU);
    }
}

TEST_F(WrittenRun, HasAllElementsOfEachArray) {
    for (std::size_t array = keys; array < kArrays; ++array) {
        const Array shorter = static_cast<Array>(array);
        ASSERT_GT(size(array), 0U) << array;
        std::string changed = bytes_;
        changed.erase(place(shorter, size(array) - 1), width(shorter));
        store_le(changed.data() + kSizesAt + array * 8, size(array) - 1);
        if (shorter != targets) {  // the last one may have been referred to by nobody else
            EXPECT_FALSE(read_copy(changed)) << array;
        }
    }
}

TEST_F(WrittenRun, HasEachDocumentOnceAndInOrder) {
    const auto number = [this](Array array, std::size_t index) {
        return load_le<std::uint32_t>(bytes_.data() + place(array, index));
    };
    ASSERT_GE(number(lists, 0), 2U);
    expect_refused(place(lists, 2), number(lists, 1));
    const std::size_t column = place(text_columns) + offsetof(SearchRunColumn, by_document_end);
    const auto end = load_le<std::uint32_t>(bytes_.data() + column);
    ASSERT_GT(number(text_documents, end - 2), 0U);
    expect_refused(place(text_documents, end - 1), 0U);
    expect_refused(place(text_indexes, end), 0U);  // a text of another column
    ASSERT_GT(number(link_documents, size(link_documents) - 2), 0U);
    expect_refused(place(link_documents, size(link_documents) - 1), 0U);
}

}  // namespace
}  // namespace annals::storage
