#include "tests/support/store_files.h"

#include "storage/verify.h"
#include "tests/support/packed_files.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace annals::test {

void expect_sound(storage::FileSystem& fs, const std::string& directory) {
    const auto report = storage::verify(fs, directory);
    ASSERT_TRUE(report) << report.error().detail;
    for (const storage::Damage& damage : report->damages) {
        ADD_FAILURE() << damage.segment << " offset " << damage.offset << ": " << damage.reason;
    }
}

bool on_disk(const SimFileSystem& fs, const std::string& text) {
    return std::ranges::any_of(fs.contents(), [&](const std::string& content) {
        return unpacked(content).find(text) != std::string::npos;
    });
}

}  // namespace annals::test
