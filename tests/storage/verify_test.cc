// verify on stores in real files: sound ones, and ones whose bytes were changed.

#include "storage/verify.h"

#include "core/base/bytes.h"
#include "storage/format.h"
#include "storage/segment_footer.h"
#include "storage/store.h"
#include "tests/support/commits.h"
#include "tests/support/search_store.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

namespace annals::storage {
namespace {

using test::CommitBuilder;

constexpr int kVerifiedResources = 200;

void commit_and_wait(Store& store, CommitBuilder& builder) {
    const Submission submission = store.submit(builder.commit());
    ASSERT_EQ(submission.status, Submission::Status::accepted);
    ASSERT_TRUE(store.wait(submission.ticket));
}

/// A store of several segments with everything that occurs: 200
/// resources of two versions, 20 of them deleted, 10 of these erased.
class StoredHistory : public testing::Test {
  protected:
    void SetUp() override {
        StoreOptions options;
        options.segment_bytes = 64 << 10;
        auto store = Store::open(posix_file_system(), directory_.path(), std::move(options));
        ASSERT_TRUE(store) << store.error().detail;
        const std::string text(500, 'x');
        for (int i = 0; i < kVerifiedResources; i += 4) {
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

    /// Expects verify to report `offset` of a segment with this reason after `change`, with the checksums made right again.
    void expect_damage(std::size_t which, std::uint64_t offset, std::string_view reason,
                       const std::function<void(std::string&)>& change) {
        const std::string whole = content(files_[which]);
        const auto header = decode_segment_header(whole, files_[which]);
        ASSERT_TRUE(header);
        std::string bytes = whole;
        change(bytes);
        // If `change` touches the header, it sets its checksum, too.
        restore_checksums(bytes.data(), kSegmentHeaderBytes, bytes.size(), header->salt);
        set_content(files_[which], bytes);
        const VerifyReport report = verified();
        EXPECT_TRUE(std::ranges::any_of(report.damages, [&](const Damage& damage) {
            return damage.segment == segment_name(which + 1) && damage.offset == offset &&
                   damage.reason.find(reason) != std::string::npos;
        })) << reason;
        set_content(files_[which], whole);
    }

    test::TemporaryDirectory directory_;
    std::vector<std::string> files_;
};

TEST_F(StoredHistory, IsFoundSoundAndCounted) {
    const VerifyReport report = verified();
    EXPECT_TRUE(report.damages.empty()) << report.damages.front().reason;
    EXPECT_EQ(report.segments, files_.size());
    EXPECT_GE(report.segments, 3U);
    EXPECT_EQ(report.commits, 2U * kVerifiedResources / 4 + 10);
    EXPECT_EQ(report.versions, 2U * kVerifiedResources);
    EXPECT_EQ(report.deletions, 20U);
    EXPECT_EQ(report.erases, 10U);
    EXPECT_EQ(report.visible_versions, 2U * (kVerifiedResources - 10));
    EXPECT_EQ(report.resources, kVerifiedResources - 10U);
    EXPECT_EQ(report.live, kVerifiedResources - 20U);
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
    EXPECT_EQ(report.versions, 2U * kVerifiedResources - 8);
}

TEST_F(StoredHistory, CountsTheLastFrameBehindDamageOfAStoreThatWasKilled) {
    std::string bytes = content(files_.back());
    // Closing puts a mark after the last frame. A kill doesn't, and that frame ends in zeros.
    const std::size_t mark = padded(bytes.find_last_not_of('\0') + 1) - kFrameHeaderBytes;
    bytes.replace(mark, kFrameHeaderBytes, kFrameHeaderBytes, '\0');
    ASSERT_EQ(bytes[mark - 1], '\0');
    bytes[bytes.find("Patientp") + 3] ^= 1;
    set_content(files_.back(), bytes);
    const VerifyReport report = verified();
    ASSERT_EQ(report.damages.size(), 1U) << report.damages.back().reason;
    EXPECT_NE(report.damages[0].reason.find("damaged record"), std::string::npos);
    EXPECT_EQ(report.versions, 2U * kVerifiedResources - 4);
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
    EXPECT_EQ(report.damages[0].reason, "no complete footer");
    EXPECT_EQ(report.versions, 2U * kVerifiedResources);
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

constexpr std::uint64_t kFrame = kSegmentHeaderBytes;

TEST_F(StoredHistory, IsHeldToWhatItsRecordsSayToo) {
    const auto put_byte = [](std::uint64_t offset, char value) {
        return [=](std::string& bytes) { bytes[offset] = value; };
    };
    const std::string bytes = content(files_[0]);
    const std::uint64_t record = bytes.find("Patientp20") - kRecordHeaderBytes;
    expect_damage(0, record, "names no resource", put_byte(record + kRecordHeaderBytes, 'B'));
    expect_damage(0, record + 13, "unknown method", put_byte(record + 13, 99));
    expect_damage(0, record + 36, "erased version with a body",
                  put_byte(record + kRecordFlagsAt, kFlagBodiless));
    expect_damage(0, record + 36, "deletion with a body", put_byte(record + kRecordFlagsAt, 1));
    expect_damage(0, record + 16, "version number 0", put_byte(record + 16, 0));
    expect_damage(0, record + 16, "version number 72057594037927937", put_byte(record + 16 + 7, 1));

    const std::uint64_t second =
        bytes.find("Patientp20", record + 2 * kRecordHeaderBytes) - kRecordHeaderBytes;
    expect_damage(0, second + 16, "version 1 of Patient/p20 follows version 1",
                  put_byte(second + 16, 1));
    const std::uint64_t deletion =
        bytes.find("Patientp16", bytes.find("Patientp16") + 1) - kRecordHeaderBytes;
    expect_damage(0, deletion + 36, "version without a body",
                  put_byte(deletion + kRecordFlagsAt, 0));
}

TEST_F(StoredHistory, IsHeldToTheOrderOfItsCommits) {
    const auto put = [](std::uint64_t offset, std::uint64_t value) {
        return [=](std::string& bytes) { store_le(bytes.data() + offset, value); };
    };
    expect_damage(0, kFrame + 24, "the first position is 9, expected 1", put(kFrame + 24, 9));
    expect_damage(0, kFrame + 40, "before what it states to be durable",
                  put(kFrame + 40, kFrame + 8));
    const std::string bytes = content(files_[0]);
    const std::uint64_t second_frame = kFrame + load_le<std::uint64_t>(bytes.data() + kFrame + 16);
    expect_damage(0, second_frame + 32, "older than the one before", put(second_frame + 32, 7));
    // One record less: the bytes after the others belong to none.
    expect_damage(0, kFrame + 16, "longer than its records", [](std::string& bytes_of_it) {
        store_le(bytes_of_it.data() + kFrame + 48, std::uint32_t{3});
        const auto header = decode_segment_header(bytes_of_it, "");
        const FrameHeader frame{
            .length = load_le<std::uint64_t>(bytes_of_it.data() + kFrame + 16),
            .first_position = {1},
            .instant = {load_le<std::int64_t>(bytes_of_it.data() + kFrame + 32)},
            .synced_offset = load_le<std::uint64_t>(bytes_of_it.data() + kFrame + 40),
            .record_count = 3};
        finish_frame(frame, header->salt, bytes_of_it.data() + kFrame);
    });
}

TEST_F(StoredHistory, IsHeldToWhatItsErasuresName) {
    const std::size_t last = files_.size() - 1;
    const std::string bytes = content(files_[last]);
    // The newest erasure's record is alone in its frame, and has no body.
    const std::uint64_t name = bytes.rfind("Patientp9");
    ASSERT_NE(name, std::string::npos);
    const std::uint64_t record = name - kRecordHeaderBytes;
    expect_damage(last, record + 13, "erase of an unknown scope",
                  [&](std::string& changed) { changed[record + 13] = 99; });
    expect_damage(last, record, "erase of a resource that has no versions",
                  [&](std::string& changed) { changed[name + 7] = 'q'; });
}

TEST_F(StoredHistory, IsHeldToTheHeadersOfItsSegments) {
    const auto with = [](const std::function<void(SegmentHeader&)>& change) {
        return [=](std::string& bytes) {
            auto header = decode_segment_header(bytes, "");
            change(*header);
            encode_segment_header(*header, bytes.data());
        };
    };
    expect_damage(1, 24, "the header is that of segment 7",
                  with([](SegmentHeader& header) { header.number = 7; }));
    expect_damage(1, 16, "belongs to a different store",
                  with([](SegmentHeader& header) { ++header.store_id; }));
    expect_damage(1, 32, "the first position is 1, expected",
                  with([](SegmentHeader& header) { header.first_position = {1}; }));
    expect_damage(1, 48, "is not that of the last commit",
                  with([](SegmentHeader& header) { ++header.last_instant.us; }));
}

TEST_F(StoredHistory, IsHeldToItsFooters) {
    const std::string bytes = content(files_[0]);
    const auto header = decode_segment_header(bytes, "");
    const auto footer = FooterReader::open(bytes, *header);
    ASSERT_TRUE(footer);
    const std::uint64_t offset = footer->offset();
    std::vector<Hint> hints;
    footer->for_each([&](const Hint& hint) { hints.push_back(hint); });
    const auto with = [&](std::vector<Hint> said, Instant last_instant) {
        return [=](std::string& changed) {
            FooterBuilder builder(header->first_position);
            for (const Hint& hint : said) {
                builder.add(hint);
            }
            changed.replace(offset, std::string::npos,
                            builder.build(offset, last_instant, header->salt));
        };
    };
    std::vector<Hint> fewer = hints;
    fewer.pop_back();
    const Instant last = footer->last_instant();
    expect_damage(0, offset, "hints for", with(fewer, last));
    std::vector<Hint> others = hints;
    others.front().version = {7};
    expect_damage(0, offset, "hint 0 of the footer", with(others, last));
    expect_damage(0, offset, "the footer's counts", with(hints, {last.us + 1}));
}

TEST(Verify, TakesNoWantOfDescriptorsForDamage) {
    test::SimFileSystem fs;
    {
        const auto store = test::open_store(fs);
        test::SearchableCommit commit(*store);
        commit.put("Patient", "p", "x");
        ASSERT_TRUE(store->wait(store->submit(commit.builder.commit()).ticket));
        ASSERT_TRUE(store->close());  // saves a search checkpoint
    }
    const auto sound = verify(fs, "/data");
    ASSERT_TRUE(sound) << sound.error().detail;
    ASSERT_EQ(sound->search_runs, 1U);
    std::uint64_t refused = 0;
    for (std::uint64_t passed = 0; passed < 10; ++passed) {
        fs.fail_next(test::SimFileSystem::Call::open, Errc::no_store, 1, passed);
        const auto found = verify(fs, "/data");
        if (found) {
            EXPECT_TRUE(found->damages.empty()) << passed << ": " << found->damages.front().reason;
        } else {
            EXPECT_EQ(found.error().code, Errc::no_store) << found.error().detail;
            ++refused;
        }
    }
    EXPECT_GE(refused, 3U) << "a segment, the manifest of the search index, a run";
}

TEST(Verify, TakesNothingForDamageThatOnlyRefersToWhatIsDamaged) {
    test::SimFileSystem fs;
    {
        const auto store = *Store::open(fs, "/data", {});
        test::put(*store, "Patient", "erased", "the version");
        CommitBuilder builder;
        builder.erase("Patient", "erased");
        commit_and_wait(*store, builder);
        ASSERT_TRUE(store->wait_erased(store->last_ticket()));
        test::put(*store, "Patient", "last", "x");
        ASSERT_TRUE(store->close());
    }
    const std::string path = "/data/segments/0000000001.seg";
    const std::string whole = fs.content(path);
    const std::size_t version = whole.find("Patienterased");
    const std::size_t erase = whole.find("Patienterased", version + 1);
    ASSERT_NE(erase, std::string::npos);
    // Without the version, the erase refers to nothing; without the erase, nothing explains that the version has no body.
    for (const std::size_t at : {version, erase}) {
        std::string bytes = whole;
        bytes[at] ^= 1;
        fs.set_content(path, bytes);
        const auto report = verify(fs, "/data");
        ASSERT_TRUE(report);
        ASSERT_EQ(report->damages.size(), 1U) << report->damages.back().reason;
        EXPECT_EQ(report->damages[0].offset, at - kRecordHeaderBytes);
    }
}

TEST(Verify, MissesNoMoreThanThePageThatCannotBeRead) {
    test::SimFileSystem fs;
    {
        const auto store = *Store::open(fs, "/data", {});
        for (const char* const id : {"a", "b", "c"}) {
            test::put(*store, "Patient", id, std::string(2 * kPageBytes, 'x'));
        }
        ASSERT_TRUE(store->close());
    }
    fs.set_readable("/data/segments/0000000001.seg", 3 * kPageBytes, false);
    const auto report = verify(fs, "/data");
    ASSERT_TRUE(report) << report.error().detail;
    EXPECT_EQ(report->versions, 2U);
    ASSERT_EQ(report->damages.size(), 2U);
    EXPECT_NE(report->damages[0].reason.find("unreadable"), std::string::npos);
    EXPECT_NE(report->damages[1].reason.find("positions 2 to 2 are lost"), std::string::npos)
        << report->damages[1].reason;
}

TEST(Verify, NeedsAStore) {
    const test::TemporaryDirectory directory;
    const auto report = verify(posix_file_system(), directory.path());
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Errc::usage);
}

}  // namespace
}  // namespace annals::storage
