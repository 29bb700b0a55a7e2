// SearchCheckpoint: the search index on disk, so that opening a store need not read its whole log again.
//
// Layer:   storage.
// Format:  docs/format.md, "Search checkpoint".
// Threads: one at a time, but for forget().

#pragma once

#include "storage/file_system.h"
#include "storage/index.h"
#include "storage/search_checkpoint_reader.h"
#include "storage/search_index.h"
#include "storage/search_manifest.h"

#include <fmt/format.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace annals::storage {

/// What a checkpoint holds of a type: all that can be found of its versions at or before `covered`.
struct CheckpointedType {
    SearchRuns runs;
    Position covered;
};

class SearchCheckpoint {
  public:
    struct Options {
        std::string directory;  ///< of the store
        std::uint64_t store_id = 0;
        bool read_only = false;
        /// Runs of so many documents have a file of their own, which stays as long as they do.
        std::uint32_t own_file_documents = 8192;
    };

    /// Lifetime: `fs` and `index` outlive it.
    SearchCheckpoint(FileSystem& fs, const Index& index, Options options);

    /// What of `content` fits: is of this store, its log and each type's fingerprint. Of a type that doesn't fit there
    /// is nothing; the log says why. What died or was erased is said; `next` has for each position the next version of
    /// its resource, 0 if there is none. Removes what a crash left behind.
    PerType<CheckpointedType> load(SearchCheckpointReader::Content content,
                                   const PerType<std::uint64_t>& fingerprints,
                                   std::span<const std::uint32_t> next);

    /// Makes what `search` has what load() gives after the next opening; after a failure, what was there before.
    /// What was erased is in no file any more when this returns. `fingerprints` says by what parameters each type
    /// was indexed at the moment; a type for which that changes meanwhile is written as if it were none.
    ///
    /// Errors: no_store, io. Cost: what runs of their own file have grown to, and all smaller ones.
    Result<void> write(const SearchIndex& search,
                       const std::function<PerType<std::uint64_t>()>& fingerprints);

    /// Removes from the disk whatever tells of the versions at `positions`, which the index has as erased: the files of
    /// their types, if they were written since; what is being written leaves those types out. They are indexed anew if
    /// the store is opened before the next checkpoint. Any thread.
    ///
    /// Errors: io. Cost: where a write() has to be waited for, that of one type.
    Result<void> forget(std::span<const Position> positions);

    /// Removes all files of a store whose search index nobody has opened. Errors: io.
    static Result<void> remove_all(FileSystem& fs, const std::string& directory);

    /// Documents of runs without a file of their own, written last.
    std::uint64_t packed_documents() const noexcept { return packed_documents_; }

    std::uint64_t bytes() const noexcept { return bytes_; }

  private:
    using Place = SearchManifest::Place;

    /// Runs that have a file of their own.
    struct Kept {
        std::weak_ptr<const SearchRun> run;
        std::uint32_t erased = 0;  ///< documents of it that were erased when it was written
        Place place;
    };

    /// What one write() makes.
    struct Draft {
        SearchManifest manifest;
        std::vector<Kept> kept;
        std::vector<std::uint64_t> files;  ///< new ones
        std::string pack;                  ///< a type's runs without a file of their own
        std::uint64_t pack_file = 0;
        std::uint64_t packed_documents = 0;
    };

    /// What a write() and a forget() must know of each other.
    struct Writing {
        bool active = false;
        Position through;                           ///< nothing of later versions is written
        std::optional<std::size_t> type;            ///< whose files are being written
        PerType<std::vector<std::uint64_t>> files;  ///< those that are written
        PerType<bool> left_out{};
        std::set<std::uint64_t> forgotten;  ///< files, written or kept
    };

    std::string path(std::string_view name) const { return fmt::format("{}/{}", folder_, name); }

    SearchManifest::Witness witness_at(Position position) const;
    void compare(SearchCheckpointReader::Content& content,
                 const PerType<std::uint64_t>& fingerprints,
                 std::span<const std::uint32_t> next) const;

    Result<void> add_run(const std::shared_ptr<const SearchRun>& run, SearchManifest::Type& entry,
                         Draft& draft);
    Result<void> write_file(std::uint64_t number, std::string_view bytes);
    Result<void> write_type(std::size_t type, const SearchRuns& runs, Draft& draft);
    Result<void> write_files(const PerType<std::shared_ptr<const SearchRuns>>& runs, Draft& draft);
    void end_writing();
    Result<void> write_manifest(const SearchManifest& manifest);
    void remove_others(const SearchManifest& manifest);

    FileSystem& fs_;
    const Index& index_;
    const Options options_;
    const std::string folder_;
    std::vector<Kept> kept_;
    std::uint64_t last_file_ = 0;  ///< highest number of a file seen
    std::uint64_t packed_documents_ = 0;
    std::uint64_t bytes_ = 0;

    std::mutex mutex_;  ///< guards the two below and kept_
    std::condition_variable type_written_;
    Writing writing_;
    PerType<SearchManifest::Type> on_disk_;
};

}  // namespace annals::storage
