#include "storage/search_bitmap.h"

#include <gtest/gtest.h>

#include <roaring/roaring.h>

#include <random>
#include <string>
#include <vector>

namespace annals::storage {
namespace {

using Documents = std::vector<std::uint32_t>;

std::string bytes_of(const roaring_bitmap_t* bitmap) {
    std::string bytes(roaring_bitmap_portable_size_in_bytes(bitmap), '\0');
    roaring_bitmap_portable_serialize(bitmap, bytes.data());
    return bytes;
}

/// The documents whose bits set_bits_of() sets, in words that are no longer than they must be.
Documents set_by(const roaring_bitmap_t& bitmap) {
    std::vector<std::uint64_t> words(roaring_bitmap_maximum(&bitmap) / 64 + 1);
    set_bits_of(bitmap, words);
    Documents documents;
    for (std::uint32_t document = 0; document < words.size() * 64; ++document) {
        if ((words[document / 64] >> (document % 64) & 1) != 0) {
            documents.push_back(document);
        }
    }
    return documents;
}

/// Compares the bitmap with what Roaring itself makes of the same documents.
void expect_as_roaring_has_it(const Documents& documents) {
    const SearchBitmap bitmap = bitmap_of(documents);
    const SearchBitmap expected(roaring_bitmap_of_ptr(documents.size(), documents.data()));
    roaring_bitmap_run_optimize(expected.get());
    EXPECT_TRUE(roaring_bitmap_equals(bitmap.get(), expected.get()));
    EXPECT_EQ(bytes_of(bitmap.get()), bytes_of(expected.get()));
    if (documents.back() < 1 << 24) {
        EXPECT_EQ(set_by(*bitmap), documents);
    }
}

Documents stretch(std::uint32_t begin, std::uint32_t end, std::uint32_t step = 1) {
    Documents documents;
    for (std::uint32_t document = begin; document < end; document += step) {
        documents.push_back(document);
    }
    return documents;
}

Documents joined(Documents first, const Documents& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

TEST(SearchBitmap, HasRunsWhereTheyAreSmaller) {
    expect_as_roaring_has_it({7});
    expect_as_roaring_has_it(stretch(0, 2));
    expect_as_roaring_has_it(stretch(0, 3));
    expect_as_roaring_has_it(stretch(100, 1000));
    expect_as_roaring_has_it(stretch(0, 65'536));
    expect_as_roaring_has_it(joined(stretch(3, 90), stretch(91, 400)));
}

TEST(SearchBitmap, HasArraysAndBitsWhereTheyAreSmaller) {
    expect_as_roaring_has_it(stretch(0, 2 * 4095, 2));
    expect_as_roaring_has_it(stretch(0, 2 * 4096, 2));
    expect_as_roaring_has_it(stretch(0, 2 * 4097, 2));
    expect_as_roaring_has_it(stretch(1, 65'536, 3));
    expect_as_roaring_has_it(joined(stretch(0, 2 * 2047, 2), stretch(6000, 60'000)));
}

TEST(SearchBitmap, HasContainersOfAnyKindsSideBySide) {
    const Documents run = stretch(65'536 + 10, 65'536 + 900);
    const Documents array = stretch(5, 900, 7);
    const Documents bits = stretch(3 * 65'536, 4 * 65'536, 3);
    expect_as_roaring_has_it(joined(array, run));
    expect_as_roaring_has_it(joined(joined(array, run), bits));
    expect_as_roaring_has_it(joined(joined(joined(array, run), bits), {9 * 65'536 + 1}));
    expect_as_roaring_has_it(joined(array, bits));
    expect_as_roaring_has_it(stretch(30'000, 10 * 65'536 + 5));
    expect_as_roaring_has_it({0x7fff'fffe, 0x7fff'ffff});
}

TEST(SearchBitmap, IsAsRoaringHasItForRandomDocuments) {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        const std::uint32_t gap = 1 + random() % 40;
        const std::uint32_t stay = 1 + random() % 30;
        Documents documents;
        std::uint32_t document = random() % 100'000;
        for (std::uint32_t i = 1 + random() % 9000; i > 0; --i) {
            documents.push_back(document);
            document += random() % stay == 0 ? 1 + random() % gap : 1;
        }
        expect_as_roaring_has_it(documents);
    }
}

TEST(SearchBitmap, LeavesBitsThatWereSetBefore) {
    std::vector<std::uint64_t> words(1025, 1);
    set_bits_of(*bitmap_of({{3, 65'536 + 2}}), words);
    EXPECT_EQ(words[0], 9U);
    EXPECT_EQ(words[1023], 1U);
    EXPECT_EQ(words[1024], 5U);
}

}  // namespace
}  // namespace annals::storage
