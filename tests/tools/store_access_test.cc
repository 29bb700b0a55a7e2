#include "tools/commands/store_access.h"

#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <chrono>

namespace annals::tools {
namespace {

TEST(StoreOptions, AreThoseOfTheSettings) {
    core::Config config;
    EXPECT_EQ(store_options(config).durability, storage::Durability::commit);
    config.durability = "interval";
    config.sync_interval = std::chrono::milliseconds(1234);
    EXPECT_EQ(store_options(config).durability, storage::Durability::interval);
    EXPECT_EQ(store_options(config).sync_interval_ms, 1234U);
    config.durability = "none";
    EXPECT_EQ(store_options(config).durability, storage::Durability::none);

    config.limits.max_body = 12345;
    config.storage_compression = !config.storage_compression;
    config.storage_compression_after += std::chrono::seconds(1);
    config.storage_written_memory += 1;
    config.read_only = true;
    config.allow_damaged = true;
    const storage::StoreOptions options = store_options(config);
    EXPECT_EQ(options.body_bytes_max, 12345U);
    EXPECT_EQ(options.pack_segments, config.storage_compression);
    EXPECT_EQ(options.pack_after, config.storage_compression_after);
    EXPECT_EQ(options.kept_bytes, config.storage_written_memory);
    EXPECT_TRUE(options.read_only);
    EXPECT_TRUE(options.allow_damaged);
}

TEST(ExitCodes, TellWhatWasMetFromWhatCouldNotBeDone) {
    for (const Errc fault : {Errc::corrupt, Errc::io, Errc::internal, Errc::no_store}) {
        EXPECT_EQ(exit_code_of({fault, "", ""}), 1);
    }
    EXPECT_EQ(exit_code_of({Errc::usage, "", ""}), 2);
}

TEST(StoreAccess, TakesAPathThatNothingCanHaveForAWrongArgument) {
    const std::string path(5000, 'a');
    for (const Result<void>& checked : {check_permissions(path, false), check_writable(path)}) {
        ASSERT_FALSE(checked);
        EXPECT_EQ(checked.error().code, Errc::usage) << checked.error().detail;
    }
}

TEST(StoreAccess, DoesNotCallAFileADirectoryThatMayNotBeSearched) {
    const test::TemporaryDirectory directory;
    test::write_whole_file(directory / "file", "");
    EXPECT_TRUE(check_permissions(directory / "file", true)) << "it is refused when it is opened";
}

}  // namespace
}  // namespace annals::tools
