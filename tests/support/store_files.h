// Checks of a store's files: sound, and free of erased content.
//
// Threads: plain functions.

#pragma once

#include "tests/support/sim_file_system.h"

#include <string>

namespace annals::test {

/// Fails the test for everything that verify() finds damaged in the store in `directory`.
void expect_sound(storage::FileSystem& fs, const std::string& directory);

/// Whether any file of `fs` contains `text`, after unpacking packed ones.
bool on_disk(const SimFileSystem& fs, const std::string& text);

}  // namespace annals::test
