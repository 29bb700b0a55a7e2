// SearchCheckpointReader: reads a checkpoint of the search index while the log is being read.
//
// Layer:   storage.
// Format:  docs/format.md, "Search checkpoint".
// Threads: one, and while there is something to read, others of its own.

#pragma once

#include "storage/file_system.h"
#include "storage/search_manifest.h"
#include "storage/search_run.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace annals::storage {

inline constexpr std::string_view kSearchFolder = "search";
inline constexpr std::string_view kSearchManifestName = "manifest";
inline constexpr std::string_view kSearchRecentName = "manifest.recent";

/// The name of the file of runs with this number.
std::string search_file_name(std::uint64_t number);

/// The manifest of this name of the store in `directory`. Errors: not_found, io, no_store; corrupt (it isn't whole).
Result<SearchManifest> read_search_manifest(FileSystem& fs, const std::string& directory,
                                            std::string_view name);

class SearchCheckpointReader {
  public:
    using Run = Result<std::shared_ptr<const SearchRun>>;

    /// What is whole by itself; whether it is of the log is to be seen.
    struct Content {
        Result<SearchManifest> manifest;
        PerType<std::vector<Run>> runs;  ///< as in the manifest
    };

    enum class Which : std::uint8_t { newest, synced };

    /// Reads the manifests of the store in `directory` (or the synced one alone) and, if there is much, begins to read the
    /// runs of the newer one. Lifetime: `fs` outlives it.
    SearchCheckpointReader(FileSystem& fs, const std::string& directory,
                           Which which = Which::newest);
    ~SearchCheckpointReader();
    SearchCheckpointReader(const SearchCheckpointReader&) = delete;
    SearchCheckpointReader& operator=(const SearchCheckpointReader&) = delete;

    /// The manifest that a power cut leaves whole.
    const Result<SearchManifest>& synced() const noexcept { return synced_; }

    /// What was written since without a sync; none if nothing was. Helps to read what has not been read. Once, before
    /// take().
    std::optional<Content> take_recent();

    /// What synced() names. Helps to read, or reads. Once.
    Content take();

  private:
    struct Task {
        const SearchManifest::Place* place = nullptr;
        Run* result = nullptr;
    };

    Run read_run(const SearchManifest::Place& place) const;
    void begin(Content content);
    Content end();
    void work();

    FileSystem& fs_;
    const std::string folder_;
    const Result<SearchManifest> synced_;
    bool recent_ = false;  ///< what is being read is of the manifest that was not synced
    Content content_;
    std::vector<Task> tasks_;
    std::atomic<std::size_t> next_ = 0;
    std::vector<std::jthread> threads_;
};

}  // namespace annals::storage
