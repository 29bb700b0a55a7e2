// SearchFileWriter: a file of a search checkpoint in the making, runs one after the other.
//
// Layer:   storage.
// Format:  docs/format.md, "Search checkpoint".
// Threads: one at a time.
// Memory:  a fixed buffer, whatever a run takes.

#pragma once

#include "core/base/digest.h"
#include "storage/file_system.h"
#include "storage/search_manifest.h"
#include "storage/search_run.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace annals::storage {

class SearchFileWriter {
  public:
    /// `file` is empty; `number` and `seed` are those of the places and checksums that add() gives.
    SearchFileWriter(std::unique_ptr<File> file, std::uint64_t number, std::uint64_t seed);

    /// Appends a run: where it stands. Errors: no_store, io; the file is not to be used after.
    Result<SearchManifest::Place> add(const SearchRun& run);

    /// Writes what is buffered yet. Durability: none. Errors: as add().
    Result<void> finish();

  private:
    void take(std::string_view part);
    void write(std::string_view bytes);

    std::unique_ptr<File> file_;
    std::uint64_t number_;
    Hash64Stream checksum_;
    std::string buffer_;
    std::uint64_t written_ = 0;  ///< bytes of the file, without the buffer's
    Result<void> state_;         ///< the first error
};

}  // namespace annals::storage
