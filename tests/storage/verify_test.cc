// verify on stores that real files hold: sound ones, and ones with bytes changed behind their back.

#include "storage/verify.h"

#include "storage/format.h"
#include "storage/store.h"
#include "tests/support/commits.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

namespace annals::storage {
namespace {

using test::CommitBuilder;

constexpr int kResources = 200;

void commit_and_wait(Store& store, CommitBuilder& builder) {
    const Submission submission = store.submit(builder.commit());
    ASSERT_EQ(submission.status, Submission::Status::accepted);
    ASSERT_TRUE(store.wait(submission.ticket));
}

/// A store of several segments in which everything occurs: 200 resources of two versions, 20 of them
/// deleted, of these 10 erased.
class StoredHistory : public testing::Test {
  protected:
    void SetUp() override {
        StoreOptions options;
        options.segment_bytes = 64 << 10;
        auto store = Store::open(posix_file_system(), directory_.path(), std::move(options));
        ASSERT_TRUE(store) << store.error().detail;
        const std::string text(500, 'x');
        for (int i = 0; i < kResources; i += 4) {
            for (int version = 0; version < 2; ++version) {
                CommitBuilder commit;
                for (int j = 0; j < 4; ++j) {
                    const std::string id = "p" + std::to_string(i + j);
                    if (version == 1 && i < 20) {
                        commit.remove("Patient", id);
                    } else {
                        commit.put("Patient", id, text, {std::uint64_t(i) + 1, 7});
                    }
                }
                commit_and_wait(**store, commit);
            }
        }
        for (int i = 0; i < 10; ++i) {
            CommitBuilder commit;
            commit.erase("Patient", "p" + std::to_string(i));
            commit_and_wait(**store, commit);
        }
        for (const auto& entry :
             std::filesystem::directory_iterator(directory_.path() + std::string("/segments"))) {
            if (entry.path().extension() == ".seg") {
                files_.push_back(entry.path().string());
            }
        }
        std::sort(files_.begin(), files_.end());
    }

    VerifyReport verified() const {
        auto report = verify(posix_file_system(), directory_.path());
        EXPECT_TRUE(report) << report.error().detail;
        return report ? *report : VerifyReport();
    }

    static std::string content(const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    static void set_content(const std::string& path, const std::string& bytes) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    }

    test::TemporaryDirectory directory_;
    std::vector<std::string> files_;
};

TEST_F(StoredHistory, IsFoundSoundAndCounted) {
    const VerifyReport report = verified();
    EXPECT_TRUE(report.damages.empty()) << report.damages.front().reason;
    EXPECT_EQ(report.segments, files_.size());
    EXPECT_GE(report.segments, 3U);
    EXPECT_EQ(report.commits, 2U * kResources / 4 + 10);
    EXPECT_EQ(report.versions, 2U * kResources);
    EXPECT_EQ(report.deletions, 20U);
    EXPECT_EQ(report.erases, 10U);
    EXPECT_EQ(report.visible_versions, 2U * (kResources - 10));
    EXPECT_EQ(report.resources, kResources - 10U);
    EXPECT_EQ(report.live, kResources - 20U);
    EXPECT_EQ(report.torn_bytes, 0U);
}

TEST_F(StoredHistory, NamesEveryDamagedPlaceBySegmentAndOffset) {
    for (const std::size_t which : {0U, 1U}) {
        std::string bytes = content(files_[which]);
        bytes[bytes.find("Patientp") + 20] ^= 1;
        set_content(files_[which], bytes);
    }
    const VerifyReport report = verified();
    ASSERT_EQ(report.damages.size(), 2U);
    EXPECT_EQ(report.damages[0].segment, "0000000001.seg");
    EXPECT_EQ(report.damages[1].segment, "0000000002.seg");
    EXPECT_EQ(report.damages[0].offset, 64U + 56U);
    EXPECT_NE(report.damages[0].reason.find("damaged record"), std::string::npos);
    EXPECT_NE(report.damages[0].reason.find("positions 1 to 4 are lost"), std::string::npos);
    EXPECT_EQ(report.versions, 2U * kResources - 8);
}

TEST_F(StoredHistory, CountsTheLastFrameBehindDamageOfAStoreThatWasKilled) {
    std::string bytes = content(files_.back());
    // Closing puts a mark behind the last frame. A kill doesn't, and that frame ends in zeros.
    const std::size_t mark = padded(bytes.find_last_not_of('\0') + 1) - kFrameHeaderBytes;
    bytes.replace(mark, kFrameHeaderBytes, kFrameHeaderBytes, '\0');
    ASSERT_EQ(bytes[mark - 1], '\0');
    bytes[bytes.find("Patientp") + 3] ^= 1;
    set_content(files_.back(), bytes);
    const VerifyReport report = verified();
    ASSERT_EQ(report.damages.size(), 1U) << report.damages.back().reason;
    EXPECT_NE(report.damages[0].reason.find("damaged record"), std::string::npos);
    EXPECT_EQ(report.versions, 2U * kResources - 4);
    EXPECT_EQ(report.erases, 10U);
}

TEST_F(StoredHistory, MissesNoSegment) {
    std::filesystem::remove(files_[1]);
    const VerifyReport report = verified();
    ASSERT_EQ(report.damages.size(), 1U);
    EXPECT_EQ(report.damages[0].segment, "0000000002.seg");
    EXPECT_EQ(report.damages[0].reason, "the segment is missing");
}

TEST_F(StoredHistory, SaysOfVeryManyMissingSegmentsWhereTheyEnd) {
    set_content(directory_.path() + "/segments/9999999999.seg", "");
    const VerifyReport report = verified();
    EXPECT_GT(report.damages.size(), 10U);
    EXPECT_LT(report.damages.size(), 200U);
    EXPECT_TRUE(std::ranges::any_of(report.damages, [](const Damage& damage) {
        return damage.reason == "the segment is missing, and so are all up to 9999999998.seg";
    }));
}

TEST_F(StoredHistory, ReadsTheDataOfASegmentWithoutFooter) {
    std::string bytes = content(files_[0]);
    bytes[bytes.size() - 30] ^= 1;
    set_content(files_[0], bytes);
    const VerifyReport report = verified();
    ASSERT_EQ(report.damages.size(), 1U);
    EXPECT_EQ(report.damages[0].reason, "no whole footer");
    EXPECT_EQ(report.versions, 2U * kResources);
}

TEST_F(StoredHistory, NoticesAnyBitThatChanges) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 150; ++round) {
        const std::string& path = files_[random() % files_.size()];
        const std::string whole = content(path);
        std::string bytes = whole;
        const std::size_t at = random() % bytes.size();
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        set_content(path, bytes);
        const VerifyReport report = verified();
        EXPECT_TRUE(!report.damages.empty() || report.torn_bytes > 0) << path << " at " << at;
        for (const Damage& damage : report.damages) {
            EXPECT_EQ(damage.segment, std::filesystem::path(path).filename()) << damage.reason;
        }
        set_content(path, whole);
    }
}

TEST(Verify, NeedsAStore) {
    const test::TemporaryDirectory directory;
    const auto report = verify(posix_file_system(), directory.path());
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Errc::usage);
}

}  // namespace
}  // namespace annals::storage
