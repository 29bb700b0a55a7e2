// The files of a store as tests judge them: sound, and without what was erased.
//
// Threads: plain functions.

#pragma once

#include "tests/support/sim_file_system.h"

#include <string>

namespace annals::test {

/// Fails the test for all that verify() finds damaged in the store in `directory`.
void expect_sound(storage::FileSystem& fs, const std::string& directory);

/// Is `text` in any file of `fs`, packed ones unpacked?
bool on_disk(const SimFileSystem& fs, const std::string& text);

}  // namespace annals::test
