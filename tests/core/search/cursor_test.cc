// The cursors of searches: what they say, and that made-up ones are refused.

#include "core/search/cursor.h"

#include "core/base/base64.h"
#include "core/base/digest.h"

#include <gtest/gtest.h>

#include <string>

namespace annals::core::search {
namespace {

using namespace std::string_literals;

/// A cursor of these bytes with the right check, which is no secret.
Result<Cursor> read_made_up(std::string bytes) {
    const std::uint64_t hash = hash64(bytes);
    for (int i = 0; i < 4; ++i) {
        bytes += static_cast<char>(hash >> (8 * i));
    }
    return read_cursor(encode_base64url(bytes));
}

TEST(SearchCursor, ReadsBackWhatItWroteOfAnySize) {
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x7f},
                                       std::uint64_t{0x80}, std::uint64_t{0x4000}, UINT64_MAX}) {
        Cursor cursor;
        cursor.backwards = number == 0x80;
        cursor.snapshot.value = number;
        cursor.edge.value = number;
        cursor.query = static_cast<std::uint32_t>(number);
        cursor.now.us = static_cast<std::int64_t>(number >> 2);  // what is later is no moment
        cursor.carried = number;
        cursor.by_instant = number != 0x7f;
        if (number != 1) {
            cursor.total = number;
        }
        const auto read = read_cursor(write_cursor(cursor));
        ASSERT_TRUE(read.has_value()) << number;
        EXPECT_EQ(read->backwards, cursor.backwards);
        EXPECT_EQ(read->snapshot, cursor.snapshot);
        EXPECT_EQ(read->edge, cursor.edge);
        EXPECT_EQ(read->query, cursor.query);
        EXPECT_EQ(read->now, cursor.now);
        EXPECT_EQ(read->total, cursor.total);
        EXPECT_EQ(read->carried, cursor.carried);
        EXPECT_EQ(read->by_instant, cursor.by_instant);
    }
}

TEST(SearchCursor, IsNotReadWhenItIsMalformedUnderTheRightCheck) {
    ASSERT_TRUE(read_made_up("\1\0\5\4\3\2"s).has_value());
    ASSERT_TRUE(read_made_up("\1\6\5\4\3\2\1\1"s).has_value());
    const std::string overlong = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"s;
    for (const std::string& bytes : {
             ""s,
             "\1"s,
             "\1\0"s,
             "\2\0\5\4\3\2"s,                    // no such version
             "\1\0\5\4\3"s,                      // one number too few
             "\1\2\5\4\3\2"s,                    // without the total it should have
             "\1\4\5\4\3\2"s,                    // without what is carried
             "\1\0\5\4\3\2\1"s,                  // more after the end
             "\1\0\5\4\x80\x80\x80\x80\x10\2"s,  // a query of 33 bits
             "\1\0"s + overlong + "\4\3\2",
             "\1\0\5"s + overlong + "\3\2",
             "\1\0\5\4"s + overlong + "\2",
             "\1\0\5\4\3"s + overlong,
             "\1\0\5\4\3"s + overlong + "\1",
         }) {
        EXPECT_FALSE(read_made_up(bytes).has_value()) << encode_base64url(bytes);
    }
}

TEST(SearchCursor, IsNotReadWithAnyOfItsCharactersDamaged) {
    Cursor cursor;
    cursor.snapshot.value = 12345;
    cursor.edge.value = 77;
    cursor.total = 300;
    const std::string text = write_cursor(cursor);
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string broken = text;
        broken[i] = broken[i] == 'A' ? 'B' : 'A';
        EXPECT_FALSE(read_cursor(broken).has_value()) << broken;
        EXPECT_FALSE(read_cursor(text.substr(0, i)).has_value());
    }
    EXPECT_FALSE(read_cursor(text + "AAAA").has_value());
}

}  // namespace
}  // namespace annals::core::search
