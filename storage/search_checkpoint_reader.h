// SearchCheckpointReader: reads a checkpoint of the search index while the log is being read.
//
// Layer:   storage.
// Format:  docs/format.md, "Search checkpoint".
// Threads: one, with helpers of its own while there is something to read.

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

/// The name of the file of runs that has this number.
std::string search_file_name(std::uint64_t number);

/// Reads the manifest of this name of the store in `directory`. Errors: not_found, io, no_store, corrupt (not whole).
Result<SearchManifest> read_search_manifest(FileSystem& fs, const std::string& directory,
                                            std::string_view name);

class SearchCheckpointReader {
  public:
    using Run = Result<std::shared_ptr<const SearchRun>>;

    /// What is whole by itself; whether it fits the log is still to be checked.
    struct Content {
        Result<SearchManifest> manifest;
        PerType<std::vector<Run>> runs;  ///< as in the manifest
    };

    enum class Which : std::uint8_t { newest, synced };

    /// Reads the manifests of the store in `directory` (or only the synced one) and, if there is much to read, starts reading
    /// the runs of the newer one. Lifetime: `fs` outlives it.
    SearchCheckpointReader(FileSystem& fs, const std::string& directory,
                           Which which = Which::newest);
    ~SearchCheckpointReader();
    SearchCheckpointReader(const SearchCheckpointReader&) = delete;
    SearchCheckpointReader& operator=(const SearchCheckpointReader&) = delete;

    /// The synced manifest, which a power cut leaves whole.
    const Result<SearchManifest>& synced() const noexcept { return synced_; }

    /// The checkpoint written since then without a sync; none if there is none. Helps with the reading. Call at most once,
    /// before take().
    std::optional<Content> take_recent();

    /// The checkpoint of synced(). Helps with the reading, or does it. Call at most once.
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
    bool recent_ = false;  ///< the manifest being read is the one that was not synced
    Content content_;
    std::vector<Task> tasks_;
    std::atomic<std::size_t> next_ = 0;
    std::vector<std::jthread> threads_;
};

}  // namespace annals::storage
