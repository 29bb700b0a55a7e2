// Whole files for tests, and the public test data in the folder ANNALS_TEST_DATA.
//
// Threads: any.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace annals::test {

/// The content of a file; empty if it does not exist.
std::string read_whole_file(const std::string& path);
void write_whole_file(const std::string& path, const std::string& text);

/// The path `name` below the folder ANNALS_TEST_DATA; empty if it does not exist.
std::filesystem::path test_data(std::string_view name);

/// The files below test_data(`name`) whose names end in `extension`, in order; none if it does not exist.
std::vector<std::filesystem::path> test_data_files(std::string_view name,
                                                   std::string_view extension = ".json");

}  // namespace annals::test
