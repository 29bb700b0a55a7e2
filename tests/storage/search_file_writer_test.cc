#include "storage/search_file_writer.h"

#include "tests/storage/search_model.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annals::storage {
namespace {

constexpr std::uint64_t kNumber = 3;
constexpr std::uint64_t kSeed = 17;

class SearchFileWriterTest : public testing::Test {
  protected:
    SearchFileWriterTest() { EXPECT_TRUE(fs_.make_directory("/d")); }

    static std::shared_ptr<const SearchRun> run_of(std::size_t documents) {
        ModelMaker maker(documents);
        const auto made = documents_of(maker, documents);
        return SearchRun::build(indexed(pointers(made)));
    }

    SearchFileWriter writer() {
        return {*fs_.open("/d/f", FileSystem::Mode::create), kNumber, kSeed};
    }

    test::SimFileSystem fs_;
};

TEST_F(SearchFileWriterTest, WritesRunsOneAfterTheOther) {
    SearchFileWriter file = writer();
    std::uint64_t free = 0;
    std::vector<SearchManifest::Place> places;
    std::vector<std::shared_ptr<const SearchRun>> runs;
    for (const std::size_t documents : {1U, 7U, 6000U, 300U, 2U}) {
        runs.push_back(run_of(documents));
        const auto place = file.add(*runs.back());
        ASSERT_TRUE(place);
        EXPECT_EQ(place->file, kNumber);
        EXPECT_EQ(place->documents, documents);
        EXPECT_EQ(place->offset % kSearchFileAligned, 0U);
        EXPECT_GE(place->offset, free);
        EXPECT_LT(place->offset, free + kSearchFileAligned);
        free = place->offset + place->bytes;
        places.push_back(*place);
    }
    ASSERT_TRUE(file.finish());
    const std::string content = fs_.content("/d/f");
    EXPECT_EQ(content.size(), free);
    EXPECT_GT(content.size(), std::size_t{1} << 20);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::string_view bytes =
            std::string_view(content).substr(places[i].offset, places[i].bytes);
        EXPECT_TRUE(bytes == written(*runs[i])) << i;
        EXPECT_EQ(places[i].checksum, hash64(bytes, kSeed));
    }
}

TEST_F(SearchFileWriterTest, SaysThatTheDeviceIsFull) {
    SearchFileWriter small = writer();
    ASSERT_TRUE(small.add(*run_of(3)));
    fs_.set_space(0);
    EXPECT_EQ(small.finish().error().code, Errc::no_store);
    ASSERT_TRUE(fs_.remove("/d/f"));

    fs_.set_space(100'000);
    SearchFileWriter large = writer();
    const auto place = large.add(*run_of(6000));
    ASSERT_FALSE(place);
    EXPECT_EQ(place.error().code, Errc::no_store);
    EXPECT_FALSE(large.finish());
}

}  // namespace
}  // namespace annals::storage
