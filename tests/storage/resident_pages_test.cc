#include "storage/resident_pages.h"

#include "tests/support/sim_file_system.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <string>

namespace annals::storage {
namespace {

constexpr std::size_t kPages = 8;

class ResidentPagesTest : public testing::Test {
  protected:
    ResidentPagesTest() {
        EXPECT_TRUE(fs_.make_directory("d"));
        auto file = fs_.open("d/f", FileSystem::Mode::create);
        EXPECT_TRUE((*file)->write(0, std::string(kPages * kPageBytes, 'x')));
        map_ = *(*file)->map(kPages * kPageBytes);
        // The simulated disk's memory is not page-aligned.
        const auto at = reinterpret_cast<std::uintptr_t>(map_.get());
        first_ = map_.get() + (kPageBytes - at % kPageBytes) % kPageBytes;
    }

    std::string_view page(std::size_t number, std::size_t count = 1) const {
        return {first_ + number * kPageBytes, count * kPageBytes};
    }

    test::SimFileSystem fs_;
    std::shared_ptr<const char> map_;
    const char* first_ = nullptr;
    ResidentPages pages_{fs_};
    const ResidentPages::Time now_ = ResidentPages::time();
};

TEST_F(ResidentPagesTest, AsksOfEachPageOnce) {
    EXPECT_TRUE(pages_.have(page(0), now_));
    EXPECT_EQ(fs_.memory_looks(), 1U);
    EXPECT_TRUE(pages_.have(page(0).substr(17, 5), now_));
    EXPECT_EQ(fs_.memory_looks(), 1U);
    EXPECT_TRUE(pages_.have(page(0, 3), now_));
    EXPECT_EQ(fs_.memory_looks(), 2U);
    EXPECT_TRUE(pages_.have(page(2), now_));
    EXPECT_EQ(fs_.memory_looks(), 2U);
}

TEST_F(ResidentPagesTest, AsksAgainLater) {
    EXPECT_TRUE(pages_.have(page(0), now_));
    fs_.forget_all();
    EXPECT_TRUE(pages_.have(page(0), now_));
    EXPECT_FALSE(pages_.have(page(0), now_ ^ 1));
}

TEST_F(ResidentPagesTest, AsksAgainForWhatWasNotThere) {
    fs_.forget_all();
    EXPECT_FALSE(pages_.have(page(0), now_));
    EXPECT_FALSE(pages_.have(page(0), now_));
    EXPECT_EQ(fs_.memory_looks(), 2U);
}

TEST_F(ResidentPagesTest, HaveWhatWasBroughtIn) {
    fs_.forget_all();
    const ResidentPages::Time before = ResidentPages::time();
    pages_.bring_in(page(1, 2).substr(100, kPageBytes));
    const ResidentPages::Time after = ResidentPages::time();
    EXPECT_TRUE(pages_.have(page(1, 2), before) || pages_.have(page(1, 2), after));
    EXPECT_FALSE(pages_.have(page(3), after));
    EXPECT_FALSE(pages_.have(page(0), after));
}

TEST_F(ResidentPagesTest, HaveNothingMissingOfNoBytes) {
    fs_.forget_all();
    EXPECT_TRUE(pages_.have({}, now_));
    pages_.bring_in({});
}

TEST(ResidentPagesOnDisk, TellWhatTheSystemHas) {
    const test::TemporaryDirectory directory;
    FileSystem& fs = posix_file_system();
    const std::string path = directory.path() + "/f";
    auto file = fs.open(path, FileSystem::Mode::create);
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->write(0, std::string(1 << 20, 'x')));
    ASSERT_TRUE((*file)->sync());
    const auto map = (*file)->map(1 << 20);
    ASSERT_TRUE(map);
    const std::string_view bytes(map->get(), 1 << 20);
    EXPECT_TRUE(fs.in_memory(bytes));
    (*file)->forget(0, 1 << 20);
    if (fs.in_memory(bytes)) {
        GTEST_SKIP() << "this file system is in memory";
    }
    // Only the page that is needed, not those around it.
    ResidentPages pages(fs);
    const std::string_view wanted = bytes.substr(100 * kPageBytes + 5, 10);
    EXPECT_FALSE(pages.have(wanted, ResidentPages::time()));
    pages.bring_in(wanted);
    EXPECT_TRUE(fs.in_memory(wanted));
    EXPECT_FALSE(fs.in_memory(bytes));
    EXPECT_FALSE(fs.in_memory(bytes.substr(200 * kPageBytes, kPageBytes)));
}

}  // namespace
}  // namespace annals::storage
