// Files that tests read and write as a whole, and the public test data that lies where ANNALS_TEST_DATA says.
//
// Threads: any.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace annals::test {

/// The whole of a file; empty if it is not there.
std::string read_whole_file(const std::string& path);
void write_whole_file(const std::string& path, const std::string& text);

/// What lies at `name` below the folder that ANNALS_TEST_DATA names; empty if nothing does.
std::filesystem::path test_data(std::string_view name);

/// The files below test_data(`name`) whose names end in `extension`, in order; none if it is not there.
std::vector<std::filesystem::path> test_data_files(std::string_view name,
                                                   std::string_view extension = ".json");

}  // namespace annals::test
