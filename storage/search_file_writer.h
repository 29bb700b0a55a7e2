// SearchFileWriter: writes a file of a search checkpoint, one run after the other.
//
// Layer:   storage.
// Format:  docs/format.md, "Search checkpoint".
// Threads: one at a time.
// Memory:  a fixed buffer, whatever the size of a run.

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
    /// `file` is empty; add() uses `number` and `seed` for places and checksums.
    SearchFileWriter(std::unique_ptr<File> file, std::uint64_t number, std::uint64_t seed);

    /// Appends a run and returns its place. Errors: no_store, io; the file must not be used afterwards.
    Result<SearchManifest::Place> add(const SearchRun& run);

    /// Writes what is still buffered. Durability: none. Errors: as add().
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
