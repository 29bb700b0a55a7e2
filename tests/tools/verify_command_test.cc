// annals verify by the real binary.

#include "storage/backup.h"
#include "storage/format.h"
#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/annals_command.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

namespace annals {
namespace {

using test::Finished;
using test::TemporaryDirectory;
using testing::EndsWith;
using testing::HasSubstr;

TEST(VerifyCommand, TellsTracesOfACrashFromDamage) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    import_history(data);
    std::filesystem::create_directory(data + "/erase");
    test::write_whole_file(data + "/erase/0.journal", "torn");
    const auto end = storage::find_log_end(storage::posix_file_system(), data);
    ASSERT_TRUE(end) << end.error().detail;
    const std::string segment =
        fmt::format("{}/segments/{}", data, storage::segment_name(end->segment));
    std::string bytes = test::read_whole_file(segment);
    test::write_whole_file(segment, bytes.replace(end->offset, 4, "torn"));
    const Finished done = annals({"verify", "--data", data});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_THAT(done.output, HasSubstr("\ntorn tail of 4 bytes, never acknowledged"));
    EXPECT_THAT(done.output, HasSubstr("\nerasure journal: one file is not whole"));
    EXPECT_THAT(done.output, EndsWith("\nsound\n"));
}

}  // namespace
}  // namespace annals
