// Logs that end earlier than what was derived from them.

#include "storage/backup.h"
#include "storage/store.h"
#include "storage/verify.h"
#include "tests/support/search_store.h"
#include "tests/support/sim_file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace annals::storage {
namespace {

using test::searchable;
using test::SearchableCommit;
using test::SimFileSystem;
using testing::HasSubstr;

const std::string kSegments = "/data/segments/";

void put_patient(Store& store, const std::string& id, const std::string& text = "red") {
    SearchableCommit commit(store);
    commit.put("Patient", id, text);
    ASSERT_TRUE(store.wait(store.submit(commit.builder.commit()).ticket));
}

std::vector<std::string> segments(const SimFileSystem& fs) {
    std::vector<std::string> found;
    for (const std::string& path : fs.paths()) {
        if (path.starts_with(kSegments)) {
            found.push_back(path);
        }
    }
    return found;
}

void remove_below(SimFileSystem& fs, const std::string& folder) {
    for (const std::string& path : fs.paths()) {
        if (path.starts_with(folder)) {
            ASSERT_TRUE(fs.remove(path));
        }
    }
}

/// Expects opening to fail for writing, and for reading unless damage
/// is allowed, naming `segment` and `why`, and that no file changes.
void expect_refused(SimFileSystem& fs, const std::string& segment, const std::string& why) {
    const auto paths = fs.paths();
    StoreOptions options = searchable();
    for (const bool read_only : {false, true}) {
        options.read_only = read_only;
        const auto store = Store::open(fs, "/data", options);
        ASSERT_FALSE(store);
        EXPECT_EQ(store.error().code, Errc::corrupt);
        EXPECT_THAT(store.error().detail, HasSubstr("segments/" + segment + ": offset 0: "));
        EXPECT_THAT(store.error().detail, HasSubstr(why));
    }
    options.allow_damaged = true;
    OpenReport report;
    ASSERT_NE(test::open_store(fs, options, &report), nullptr);
    ASSERT_EQ(report.damages.size(), 1U);
    EXPECT_EQ(report.damages[0].segment, segment);
    const auto verified = verify(fs, "/data");
    ASSERT_TRUE(verified);
    ASSERT_EQ(verified->damages.size(), 1U);
    EXPECT_EQ(verified->damages[0].segment, segment);
    EXPECT_THAT(verified->damages[0].reason, HasSubstr(why));
    const auto end = find_log_end(fs, "/data");
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().code, Errc::corrupt);
    EXPECT_THAT(end.error().detail, HasSubstr(segment + ": offset 0: "));
    EXPECT_EQ(fs.paths(), paths);
}

class LostSegments : public testing::Test {
  protected:
    /// Fills `count` segments, and begins the next.
    void fill(std::size_t count) {
        const auto store = test::open_store(fs_);
        for (int i = 0; i == 0 || segments(fs_).size() <= count; ++i) {
            put_patient(*store, "p" + std::to_string(i), "red " + std::string(500, 'x'));
        }
    }

    SimFileSystem fs_;
};

TEST_F(LostSegments, AreNotTakenForANewStore) {
    fill(0);
    remove_below(fs_, kSegments);
    expect_refused(fs_, "0000000001.seg", "search/manifest");
    remove_below(fs_, "/data/search/");
    EXPECT_EQ(test::open_store(fs_)->last_position(), Position{0});
}

TEST_F(LostSegments, AreMissedByWhateverIsLeft) {
    for (const char* const left :
         {"search/manifest", "search/manifest.recent", "erase/0.journal", "erase/1.journal"}) {
        SimFileSystem fs;
        ASSERT_TRUE(fs.make_directory("/data/segments"));
        fs.set_content("/data/segments/new.tmp", "left over");
        fs.set_content(std::string("/data/") + left, "whatever is in it");
        StoreOptions options = searchable();
        options.search = nullptr;
        const auto store = Store::open(fs, "/data", options);
        ASSERT_FALSE(store);
        EXPECT_THAT(store.error().detail, HasSubstr(left));
        EXPECT_TRUE(fs.exists("/data/segments/new.tmp"));
    }
}

TEST_F(LostSegments, AreMissedWithTheirFolderToo) {
    fs_.set_content("/data/search/manifest", "of a store whose segments were on another device");
    for (const bool read_only : {false, true}) {
        StoreOptions options = searchable();
        options.read_only = read_only;
        const auto store = Store::open(fs_, "/data", options);
        ASSERT_FALSE(store);
        EXPECT_EQ(store.error().code, Errc::corrupt);
        EXPECT_FALSE(fs_.exists("/data/segments"));
    }
}

TEST_F(LostSegments, AtTheEndAreMissedByTheSearchIndex) {
    fill(2);
    ASSERT_TRUE(fs_.remove(segments(fs_).back()));
    const std::string next = "000000000" + std::to_string(segments(fs_).size() + 1) + ".seg";
    expect_refused(fs_, next, "was made from a log with position");
    remove_below(fs_, "/data/search/");
    const auto store = test::open_store(fs_);
    EXPECT_GT(store->last_position(), Position{0});
    put_patient(*store, "next");
}

TEST_F(LostSegments, BetweenOthersAreMissedBeforeABackupBegins) {
    fill(2);
    const std::string next = "000000000" + std::to_string(segments(fs_).size() + 1) + ".seg";
    fs_.set_content(kSegments + "9999999999.seg", fs_.content(segments(fs_).front()));
    const auto end = find_log_end(fs_, "/data");
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().code, Errc::corrupt);
    EXPECT_THAT(end.error().detail, HasSubstr(next + ": offset 0: the segment is missing"));
}

TEST_F(LostSegments, AreNotMissedByAReaderBesideAProcessThatMakesThem) {
    fill(2);
    const std::string newest = segments(fs_).back();
    const std::string content = fs_.content(newest);
    ASSERT_TRUE(fs_.remove(newest));
    int lists = 0;
    fs_.after_list([&] {
        if (++lists == 2) {  // the first list is the format's
            fs_.set_content(newest, content);
        }
    });
    StoreOptions options = searchable();
    options.read_only = true;
    OpenReport report;
    const auto store = test::open_store(fs_, options, &report);
    ASSERT_NE(store, nullptr);
    EXPECT_TRUE(fs_.exists(newest));
    EXPECT_EQ(report.segments + 1, segments(fs_).size());
}

TEST_F(LostSegments, AreNotMissedByTheSearchIndexOfAnotherStore) {
    fill(2);
    ASSERT_TRUE(fs_.remove(segments(fs_).back()));
    SimFileSystem other;
    {
        const auto store = test::open_store(other);
        for (int i = 0; i < 200; ++i) {
            put_patient(*store, "p" + std::to_string(i));
        }
    }
    fs_.set_content("/data/search/manifest", other.content("/data/search/manifest"));
    put_patient(*test::open_store(fs_), "next");
}

/// As after a power cut if the device had reported more as written than it kept.
TEST_F(LostSegments, AreNotMissedWhereTheEndOfTheOpenOneWasLost) {
    {
        const auto store = test::open_store(fs_);
        put_patient(*store, "a");
    }
    const std::string path = segments(fs_).back();
    const std::string before = fs_.content(path);
    {
        const auto store = test::open_store(fs_);
        put_patient(*store, "b");
        put_patient(*store, "c");
    }
    fs_.set_content(path, before);
    const auto store = test::open_store(fs_);
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->last_position(), Position{1});
    put_patient(*store, "d", "blue");
    EXPECT_EQ(test::find_word(*store, "Patient", "blue"), std::set<std::uint64_t>{2});
}

}  // namespace
}  // namespace annals::storage
