#include "tests/support/temporary_directory.h"

#include "core/base/check.h"

#include <cstdlib>
#include <filesystem>

namespace annals::test {

TemporaryDirectory::TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "annals-test-XXXXXX").string();
    ANNALS_CHECK(mkdtemp(pattern.data()) != nullptr, "no temporary directory");
    path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace annals::test
