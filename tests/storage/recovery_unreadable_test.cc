// Opening files of which the device can't give some pages at present.

#include "storage/file_system.h"
#include "storage/format.h"
#include "storage/recovery.h"
#include "tests/storage/recovery_fixture.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace annals::storage {
namespace {

using test::put;
using test::SimFileSystem;
using test::type_of;

/// Expects opening to fail with io and to leave the file unchanged; once the page is readable, everything is there.
void expect_refused_while_unreadable(SimFileSystem& fs, std::uint64_t offset, int last) {
    const std::string before = fs.content(kFirstSegment);
    fs.set_readable(kFirstSegment, offset, false);
    {
        const auto store = Store::open(fs, "/data", small_segments());
        ASSERT_FALSE(store);
        EXPECT_EQ(store.error().code, Errc::io) << store.error().detail;
        EXPECT_NE(store.error().detail.find("0000000001.seg"), std::string::npos);
    }
    EXPECT_EQ(fs.content(kFirstSegment), before);
    fs.set_readable(kFirstSegment, offset, true);
    const auto store = Store::open(fs, "/data", small_segments());
    ASSERT_TRUE(store) << store.error().detail;
    for (int i = 0; i <= last; ++i) {
        const auto info = (*store)->current(type_of("Patient"), "p" + std::to_string(i));
        ASSERT_TRUE(info) << i;
        EXPECT_TRUE((*store)->load(*info)) << i;
    }
}

TEST(Recovery, TakesNoUnreadablePageForATornTail) {
    // For some of these counts, the last commit begins or ends in the third page.
    for (int count = 40; count < 70; ++count) {
        SCOPED_TRACE(count);
        auto fs = store_of_patients(count);
        const std::uint64_t last =
            offset_in_file(*fs, kFirstSegment, "marker-" + std::to_string(count - 1));
        if (last < 2 * kPageBytes) {
            continue;
        }
        if (last > 3 * kPageBytes) {
            EXPECT_GT(count, 50);
            break;
        }
        expect_refused_while_unreadable(*fs, last, count - 1);
    }
}

TEST(Recovery, TakesNoUnreadablePageOfALargeCommitForATornTail) {
    for (const std::uint64_t page : {1U, 2U, 3U, 4U}) {
        SCOPED_TRACE(page);
        SimFileSystem fs;
        {
            auto store = Store::open(fs, "/data", small_segments());
            ASSERT_TRUE(store);
            put(**store, "Patient", "p0", "x");
            put(**store, "Patient", "p1", std::string(10'000, 'x'));
            auto cut = fs.after_power_cut(0);
            const std::string bytes = cut->content(kFirstSegment);
            const std::uint64_t last = bytes.find_last_not_of('\0');
            if (page * kPageBytes <= last) {
                expect_refused_while_unreadable(*cut, page * kPageBytes, 1);
            } else {
                // Nothing was written there, so the page isn't needed.
                cut->set_readable(kFirstSegment, page * kPageBytes,
                                  page * kPageBytes >= bytes.size());
                EXPECT_TRUE(Store::open(*cut, "/data", small_segments()));
            }
        }
    }
}

TEST(Recovery, GoesOnBehindASealedLastSegmentOfWhichAPageCannotBeRead) {
    auto fs = store_of_patients(kTwoSegments);
    ASSERT_TRUE(fs->remove(kSecondSegment));
    const std::string before = fs->content(kFirstSegment);
    constexpr int kThere = 30;
    const std::uint64_t offset =
        offset_in_file(*fs, kFirstSegment, "marker-" + std::to_string(kThere) + ";");
    ASSERT_GT(offset, kPageBytes);
    fs->set_readable(kFirstSegment, offset, false);
    {
        const auto store = Store::open(*fs, "/data", small_segments());
        ASSERT_TRUE(store) << store.error().detail;
        const auto damaged = (*store)->current(type_of("Patient"), "p" + std::to_string(kThere));
        ASSERT_TRUE(damaged);
        EXPECT_EQ((*store)->load(*damaged).error().code, Errc::corrupt);
        EXPECT_TRUE((*store)->load(*(*store)->current(type_of("Patient"), "p0")));
        put(**store, "Patient", "next", "x");
    }
    // The unreadable page was not overwritten with zeros.
    EXPECT_EQ(fs->content(kFirstSegment), before);
    fs->set_readable(kFirstSegment, offset, true);
    const auto store = Store::open(*fs, "/data", small_segments());
    ASSERT_TRUE(store) << store.error().detail;
    EXPECT_TRUE(
        (*store)->load(*(*store)->current(type_of("Patient"), "p" + std::to_string(kThere))));
    EXPECT_TRUE((*store)->load(*(*store)->current(type_of("Patient"), "next")));
}

TEST(Recovery, MakesTheOtherPagesOfSuchASegmentDurable) {
    auto fs = store_of_patients(kTwoSegments);
    ASSERT_TRUE(fs->remove(kSecondSegment));
    ASSERT_TRUE(fs->sync_directory("/data/segments"));
    const std::string whole = fs->content(kFirstSegment);
    const std::string frames = whole.substr(kSegmentHeaderBytes);
    {
        // The frames can be read, but the device has only zeros, and the system takes the pages for synced.
        const auto file = fs->open(kFirstSegment, FileSystem::Mode::read_write);
        ASSERT_TRUE((*file)->write(kSegmentHeaderBytes, std::string(frames.size(), '\0')));
        ASSERT_TRUE((*file)->sync());
        ASSERT_TRUE((*file)->write(kSegmentHeaderBytes, frames));
        fs->lose_on_failed_sync();
        fs->fail_next(SimFileSystem::Call::sync, Errc::io);
        ASSERT_FALSE((*file)->sync());
    }
    fs->set_readable(kFirstSegment, kPageBytes, false);
    ASSERT_TRUE(Store::open(*fs, "/data", small_segments()));
    std::string expected = whole;
    expected.replace(kPageBytes, kPageBytes, kPageBytes, '\0');
    EXPECT_TRUE(fs->after_power_cut(0)->content(kFirstSegment) == expected);
}

}  // namespace
}  // namespace annals::storage
