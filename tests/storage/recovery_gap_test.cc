// A frame is missing from a segment, though those around it are whole and adjacent.

#include "storage/format.h"
#include "storage/segment.h"
#include "storage/store.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <string>

namespace annals::storage {
namespace {

using test::kDirectory;
using test::SimFileSystem;

TEST(Recovery, RefusesASegmentFromWhichACommitIsMissing) {
    SimFileSystem fs;
    const std::string path = kDirectory + "/segments/" + segment_name(1);
    {
        const auto store = *Store::open(fs, kDirectory, {});
        for (const char* id : {"a", "b", "c"}) {
            test::put(*store, "Patient", id, "text");
        }
    }
    std::string bytes = fs.content(path);
    const auto header = decode_segment_header(bytes, path);
    ASSERT_TRUE(header);
    const SegmentScan scan = scan_segment(bytes, *header);
    ASSERT_GE(scan.frames.size(), 3U);
    const FrameAt& second = scan.frames[1];
    const FrameAt& third = scan.frames[2];
    ASSERT_EQ(second.header.length, third.header.length);
    bytes.replace(second.offset, second.header.length, bytes, third.offset, third.header.length);
    bytes.replace(third.offset, scan.end - third.offset, scan.end - third.offset, '\0');
    fs.set_content(path, bytes);

    const auto refused = Store::open(fs, kDirectory, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::corrupt);
    EXPECT_NE(refused.error().detail.find("positions from 2 on are missing"), std::string::npos)
        << refused.error().detail;

    StoreOptions options;
    options.read_only = true;
    options.allow_damaged = true;
    OpenReport report;
    const auto store = Store::open(fs, kDirectory, options, &report);
    ASSERT_TRUE(store) << store.error().detail;
    EXPECT_EQ(report.damages.size(), 1U);
    EXPECT_TRUE((*store)->current(test::type_of("Patient"), "a"));
    EXPECT_FALSE((*store)->current(test::type_of("Patient"), "b"));
    const auto third_info = (*store)->current(test::type_of("Patient"), "c");
    ASSERT_TRUE(third_info);
    EXPECT_EQ(third_info->position, Position{3});
}

}  // namespace
}  // namespace annals::storage
