#include "tests/support/files.h"

#include "core/base/check.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace annals::test {

std::string read_whole_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

void write_whole_file(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.flush();
    ANNALS_CHECK(file.good(), path);
}

std::filesystem::path test_data(std::string_view name) {
    const char* const folder = std::getenv("ANNALS_TEST_DATA");
    if (folder == nullptr) {
        return {};
    }
    std::filesystem::path path = std::filesystem::path(folder) / name;
    return std::filesystem::exists(path) ? path : std::filesystem::path();
}

std::vector<std::filesystem::path> test_data_files(std::string_view name,
                                                   std::string_view extension) {
    std::vector<std::filesystem::path> files;
    const std::filesystem::path top = test_data(name);
    if (top.empty()) {
        return files;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
        if (entry.is_regular_file() && entry.path().extension() == extension) {
            files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    return files;
}

}  // namespace annals::test
