// Archives: gzipped tar archives for tests, malformed ones included, and plain gzip.
//
// Threads: plain functions.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace annals::test {

/// `text` compressed by gzip.
std::string gzipped(std::string_view text);

struct ArchiveEntry {
    std::string path;
    std::string bytes;
    std::string symlink{};   ///< not empty: a symbolic link to this
    std::string hardlink{};  ///< not empty: a hard link to this
};

/// A gzipped tar archive of these entries.
std::string make_archive(const std::vector<ArchiveEntry>& entries);

/// A FHIR package: its manifest and package/<number>.json for each resource.
std::string make_package(std::string_view name, std::string_view version,
                         const std::vector<std::string>& resources,
                         std::string_view dependencies = "{}");

}  // namespace annals::test
