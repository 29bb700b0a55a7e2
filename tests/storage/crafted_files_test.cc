// Files of a store that somebody has edited and given the right checksums: what they claim is checked before it is used.

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/base/limits.h"
#include "storage/format.h"
#include "storage/search_manifest.h"
#include "storage/segment.h"
#include "storage/segment_footer.h"
#include "storage/store.h"
#include "storage/verify.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

namespace annals::storage {
namespace {

using test::kDirectory;
using test::SimFileSystem;

/// A store of two segments, of which the second is open. Every body is large enough for any field of a record.
class CraftedFiles : public testing::Test {
  protected:
    using Edit = std::function<void(std::string& file)>;

    // The first record of each segment, and its fields.
    static constexpr std::uint64_t kFirstFrame = kSegmentHeaderBytes;
    static constexpr std::uint64_t kFirstRecord = kFirstFrame + kFrameHeaderBytes;
    static constexpr std::uint64_t kTypeBytes = kFirstRecord + 15;
    static constexpr std::uint64_t kVersion = kFirstRecord + 16;
    static constexpr std::uint64_t kIdBytes = kFirstRecord + 32;
    static constexpr std::uint64_t kTerms = kFirstRecord + 34;
    static constexpr std::uint64_t kBodyBytes = kFirstRecord + 36;

    CraftedFiles() {
        const auto store = Store::open(fs_, kDirectory, options());
        EXPECT_TRUE(store);
        for (int i = 0; (*store)->metrics().segments < 2; ++i) {
            test::put(**store, "Patient", fmt::format("p{}", i), std::string(9000, 'x'));
        }
    }

    static StoreOptions options() {
        StoreOptions options;
        options.segment_bytes = 64 << 10;
        options.prepare_segments = false;
        return options;
    }

    static StoreOptions tolerant_options() {
        StoreOptions tolerant = options();
        tolerant.read_only = true;
        tolerant.allow_damaged = true;
        return tolerant;
    }

    static std::string path_of(std::uint64_t number) {
        return fmt::format("{}/segments/{}", kDirectory, segment_name(number));
    }

    /// Adds `change` to a number in `file`.
    template <typename T>
    static void add_to(std::string& file, std::uint64_t at, std::int64_t change) {
        store_le(file.data() + at,
                 static_cast<T>(static_cast<std::int64_t>(load_le<T>(file.data() + at)) + change));
    }

    /// 0 in the open segment.
    static std::uint64_t footer_of(const std::string& file) {
        return load_le<std::uint64_t>(file.data() + file.size() - kTrailerBytes);
    }

    /// The end of the footer's type table, where its hints begin.
    static std::uint64_t hints_of(const std::string& file) {
        const std::uint64_t footer = footer_of(file);
        return footer + kFooterHeaderBytes + load_le<std::uint32_t>(file.data() + footer + 68);
    }

    /// Edits a segment, and corrects the checksums of its frames and its footer.
    void edit(std::uint64_t number, const Edit& change) {
        std::string file = fs_.content(path_of(number));
        change(file);
        const auto salt = load_le<std::uint64_t>(file.data() + 40);
        restore_checksums(file.data(), kSegmentHeaderBytes, file.size(), salt);
        if (const std::uint64_t footer = footer_of(file); footer != 0) {
            const std::size_t end = file.size() - 8;
            store_le(file.data() + end,
                     hash64(std::string_view(file).substr(footer, end - footer), salt));
        }
        fs_.set_content(path_of(number), file);
    }

    void expect_damaged(std::string_view why) {
        const auto store = Store::open(fs_, kDirectory, options());
        ASSERT_FALSE(store);
        EXPECT_EQ(store.error().code, Errc::corrupt) << store.error().detail;
        EXPECT_NE(store.error().detail.find(why), std::string::npos) << store.error().detail;
        EXPECT_TRUE(Store::open(fs_, kDirectory, tolerant_options()));
        const auto verified = verify(fs_, kDirectory);
        ASSERT_TRUE(verified) << verified.error().detail;
        ASSERT_FALSE(verified->damages.empty());
        EXPECT_EQ(verified->damages.front().reason.find("offset"), std::string::npos);
    }

    SimFileSystem fs_;
};

TEST_F(CraftedFiles, HaveNoVersionBeyondTheHighestNumber) {
    edit(2, [](std::string& file) { store_le(file.data() + kVersion, kVersionNumberMax + 1); });
    expect_damaged("offset 120: no version can have this number");
}

TEST_F(CraftedFiles, HaveNoRecordBeyondTheLimitsOfTheFormat) {
    edit(2, [](std::string& file) {
        add_to<std::uint16_t>(file, kIdBytes, 200);
        add_to<std::uint32_t>(file, kBodyBytes, -200);
    });
    expect_damaged("offset 120: damaged record");
}

TEST_F(CraftedFiles, ArePackedWithoutSuchARecord) {
    const Edit typeless = [](std::string& file) {
        add_to<std::uint32_t>(file, kBodyBytes, file[kTypeBytes]);
        file[kTypeBytes] = 0;
    };
    const Edit many_terms = [](std::string& file) {
        add_to<std::uint16_t>(file, kTerms, kTermsPerVersionMax + 1);
        add_to<std::uint32_t>(file, kBodyBytes, -8 * static_cast<int>(kTermsPerVersionMax + 1));
    };
    const std::string whole = fs_.content(path_of(1));
    for (const Edit& change : {typeless, many_terms}) {
        fs_.set_content(path_of(1), whole);
        edit(1, [&](std::string& file) {
            change(file);
            // A record without a body is written anew.
            file[kFirstRecord + kRecordFlagsAt] = kFlagBodiless;
        });
        StoreOptions packing = options();
        packing.pack_segments = true;
        const auto store = Store::open(fs_, kDirectory, packing);
        ASSERT_TRUE(store) << store.error().detail;
        (*store)->compact(true);
        const auto packed = (*store)->wait_compacted();
        ASSERT_FALSE(packed);
        EXPECT_EQ(packed.error().code, Errc::corrupt);
        EXPECT_TRUE(packed.error().detail.starts_with("segments/0000000001.seg: offset 120: "))
            << packed.error().detail;
    }
}

TEST_F(CraftedFiles, TakeNoMemoryForRecordsThatTheyLack) {
    edit(2, [](std::string& file) {
        const auto salt = load_le<std::uint64_t>(file.data() + 40);
        FrameHeader header = *peek_frame(std::string_view(file).substr(kFirstFrame), salt);
        header.record_count = 3'000'000;
        finish_frame(header, salt, file.data() + kFirstFrame);
    });
    const auto store = Store::open(fs_, kDirectory, tolerant_options());
    ASSERT_TRUE(store) << store.error().detail;
    EXPECT_LT((*store)->metrics().index_bytes, 8U << 20);
}

TEST_F(CraftedFiles, HaveNoFooterThatCountsMoreThanItLists) {
    edit(1, [](std::string& file) {
        store_le(file.data() + footer_of(file) + 32, std::uint64_t{1} << 60);
    });
    expect_damaged("no complete footer");
}

TEST_F(CraftedFiles, HaveNoFooterThatPointsOutsideTheFrames) {
    const std::string whole = fs_.content(path_of(1));
    for (const std::uint32_t offset : {0U, 14U, 1U << 20, 1U << 30}) {
        fs_.set_content(path_of(1), whole);
        edit(1, [&](std::string& file) { store_le(file.data() + hints_of(file) + 28, offset); });
        expect_damaged("no complete footer");
    }
    for (const std::uint32_t size : {0U, 39U, 1U << 20, ~0U}) {
        fs_.set_content(path_of(1), whole);
        edit(1, [&](std::string& file) { store_le(file.data() + hints_of(file) + 36, size); });
        expect_damaged("no complete footer");
    }
}

TEST_F(CraftedFiles, HaveNoFooterWhoseNumbersAreMisaligned) {
    edit(1, [](std::string& file) {
        file.insert(hints_of(file), 1, '\0');
        add_to<std::uint32_t>(file, footer_of(file) + 68, 1);
    });
    expect_damaged("no complete footer");
}

TEST_F(CraftedFiles, HaveNoSegmentBeyondTheHighestNumber) {
    constexpr std::uint64_t kNumber = 9'999'999'999;
    std::string file = fs_.content(path_of(2));
    auto header = decode_segment_header(file, "");
    ASSERT_TRUE(header);
    header->number = kNumber;
    header->first_position.value += 1;
    encode_segment_header(*header, file.data());
    fs_.set_content(path_of(kNumber), file.substr(0, kSegmentHeaderBytes));
    OpenReport report;
    const auto store = Store::open(fs_, kDirectory, tolerant_options(), &report);
    ASSERT_TRUE(store) << store.error().detail;
    ASSERT_EQ(report.damages.size(), 2U);
    EXPECT_EQ(report.damages[1].segment, segment_name(kNumber));
    EXPECT_EQ((*store)->last_position().value + 1, header->first_position.value);
}

TEST(CraftedManifest, HasNoMoreTypesAndRunsThanItHolds) {
    constexpr std::size_t kTypes = 12;
    constexpr std::size_t kRunsOfTheFirst = 56 + 24;
    SearchManifest manifest;
    manifest.store_id = 7;
    manifest.witness.position = {5};
    const std::string sound = encode_manifest(manifest);
    ASSERT_TRUE(decode_manifest(sound));
    for (const std::size_t at : {kTypes, kRunsOfTheFirst}) {
        std::string crafted = sound;
        store_le(crafted.data() + at, std::uint32_t{0x7fff'ffff});
        const std::size_t end = crafted.size() - sizeof(std::uint64_t);
        store_le(crafted.data() + end, hash64(crafted.substr(0, end), manifest.store_id));
        const auto decoded = decode_manifest(crafted);
        ASSERT_FALSE(decoded) << at;
        EXPECT_EQ(decoded.error().code, Errc::corrupt) << at;
    }
}

TEST(CraftedManifest, CoversNothingBeyondTheVersionThatItNames) {
    SearchManifest manifest;
    manifest.witness.position = {5};
    manifest.types[0].covered = {5};
    EXPECT_TRUE(decode_manifest(encode_manifest(manifest)));
    manifest.types[0].covered = {6};
    EXPECT_FALSE(decode_manifest(encode_manifest(manifest)));
}

}  // namespace
}  // namespace annals::storage
