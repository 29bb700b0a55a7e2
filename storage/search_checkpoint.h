// SearchCheckpoint: the search index on disk, so that opening a store need not read its whole log again.
//
// Layer:   storage.
// Format:  docs/format.md, "Search checkpoint".
// Threads: one at a time, except for forget().

#pragma once

#include "storage/file_system.h"
#include "storage/index.h"
#include "storage/search_checkpoint_reader.h"
#include "storage/search_file_writer.h"
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

/// The part of a checkpoint about one type: what its versions at or before `covered` can be found by.
struct CheckpointedType {
    SearchRuns runs;
    Position covered;
};

class SearchCheckpoint {
  public:
    /// Which runs without a file of their own are written, to one new file per type: only new ones, or all of them, so that the
    /// file can last.
    enum class Small : std::uint8_t { add, gather };

    struct Options {
        std::string directory;  ///< of the store
        std::uint64_t store_id = 0;
        bool read_only = false;
        /// Runs of at least this many documents have a file of their own, which lasts as long as they do.
        std::uint32_t own_file_documents = 8192;
    };

    /// Lifetime: `fs` and `index` outlive it.
    SearchCheckpoint(FileSystem& fs, const Index& index, Options options);

    /// Returns what fits of `saved`: it must be of this store, and match its log and the type's fingerprint. Of each type the
    /// newest that is whole; a type is empty if nothing fits, and a log message says why. Deaths and erasures are marked in the
    /// runs; `next` has the next version of the same resource for each position, or 0. Removes what a crash left behind.
    PerType<CheckpointedType> load(SearchCheckpointReader& saved,
                                   const PerType<std::uint64_t>& fingerprints,
                                   std::span<const std::uint32_t> next);

    /// Writes a checkpoint of `search`, which load() returns at the next opening even after a power cut. After an error, load()
    /// returns the one before, or, if the machine stays up, perhaps this one. What was erased is in no file any more when this
    /// returns. `fingerprints` returns what each type is indexed by at the moment; a type for which that changes during the
    /// write is written as if it had no fingerprint.
    ///
    /// Errors: no_store, io. Cost: writes the new runs that get a file of their own, and all smaller ones.
    Result<void> write(const SearchIndex& search,
                       const std::function<PerType<std::uint64_t>()>& fingerprints);

    /// As write(), but the checkpoint survives only a kill of the process, not a power cut, and no device is waited for. After
    /// Small::gather, sync_next() can make it durable.
    Result<void> write_recent(const SearchIndex& search,
                              const std::function<PerType<std::uint64_t>()>& fingerprints,
                              Small small = Small::add);

    /// Syncs one more file of the last gathered checkpoint. True once nothing is left to do: the effect is then that of
    /// write(). Errors: no_store, io; the gathered checkpoint is then abandoned.
    Result<bool> sync_next();

    /// Removes from the disk everything about the versions at `positions`, which the index shows as erased: the files of their
    /// types that were written since those versions; a write under way leaves these types out. They are indexed anew if the
    /// store is opened before the next checkpoint. Any thread.
    ///
    /// Errors: no_store, io; a later call, whatever its positions, completes what was left undone.
    /// Cost: may wait for a write() to finish one type.
    Result<void> forget(std::span<const Position> positions);

    /// Removes all search files of a store whose search index is not open. Errors: no_store, io; may be called again.
    static Result<void> remove_all(FileSystem& fs, const std::string& directory);

    /// Whether the newest checkpoint survives only the end of the process, not a power cut.
    bool is_recent() const noexcept { return recent_there_; }

    /// Documents of runs without a file of their own, in the checkpoint that survives a power cut.
    std::uint64_t packed_documents() const noexcept { return packed_documents_; }

    std::uint64_t bytes() const noexcept { return bytes_; }

  private:
    using Place = SearchManifest::Place;

    /// A run that is in a file.
    struct Kept {
        std::weak_ptr<const SearchRun> run;
        std::uint32_t erased = 0;  ///< how many of its documents were erased when it was written
        Place place;
        bool synced = false;
    };

    /// A checkpoint that is being synced.
    struct Gathered {
        SearchManifest manifest;
        std::set<std::uint64_t> files;  ///< still to be synced
        std::uint64_t packed_documents = 0;
    };

    /// The results of one write.
    struct Draft {
        Small small = Small::add;
        SearchManifest manifest;
        std::vector<Kept> kept;
        std::vector<std::uint64_t> files;      ///< new ones
        std::optional<SearchFileWriter> pack;  ///< of a type's runs without a file of their own
        std::uint64_t packed_documents = 0;
    };

    /// State that a write and forget() share.
    struct Writing {
        bool active = false;
        std::optional<std::size_t> type;            ///< whose files are being written
        PerType<std::vector<std::uint64_t>> files;  ///< new ones written so far
        PerType<bool> left_out{};
        std::set<std::uint64_t> forgotten;  ///< files, written or kept
    };

    std::string path(std::string_view name) const { return fmt::format("{}/{}", folder_, name); }

    SearchManifest::Witness witness_at(Position position) const;
    void compare(SearchCheckpointReader::Content& content,
                 const PerType<std::uint64_t>& fingerprints,
                 std::span<const std::uint32_t> next) const;

    bool fits(Result<SearchManifest>& manifest, std::string_view name) const;
    void load_types(SearchCheckpointReader::Content& content, const SearchManifest* synced,
                    const PerType<std::uint64_t>& fingerprints, std::span<const std::uint32_t> next,
                    PerType<std::optional<CheckpointedType>>& types);

    std::optional<Kept> find_kept(const std::shared_ptr<const SearchRun>& run, std::uint32_t erased,
                                  Small small);
    Result<void> add_run(const std::shared_ptr<const SearchRun>& run, SearchManifest::Type& entry,
                         Draft& draft);
    Result<SearchFileWriter> new_file(Draft& draft);
    Result<void> sync_file(std::uint64_t number);
    Result<void> settle_gathered();
    void gather(const Draft& draft);
    Position take_runs(const SearchIndex& search,
                       const std::function<PerType<std::uint64_t>()>& fingerprints,
                       PerType<std::shared_ptr<const SearchRuns>>& runs,
                       PerType<SearchManifest::Type>& types) const;
    Result<void> make_folder();
    Result<void> write_type(std::size_t type, const SearchRuns& runs, Draft& draft);
    Result<void> write_files(const PerType<std::shared_ptr<const SearchRuns>>& runs, Draft& draft);
    std::unique_lock<std::mutex> lock_after_forgets();
    Result<void> write_manifest(const SearchManifest& manifest, bool sync);
    void remove_others();

    FileSystem& fs_;
    const Index& index_;
    const Options options_;
    const std::string folder_;
    std::vector<Kept> kept_;
    std::uint64_t last_file_ = 0;  ///< highest number of a file seen
    std::uint64_t packed_documents_ = 0;
    std::uint64_t bytes_ = 0;

    std::mutex mutex_;  ///< guards those below and kept_
    std::condition_variable type_written_;
    std::condition_variable forgotten_;
    std::size_t forgetting_ = 0;  ///< calls of forget() that wait for a type to be written
    Writing writing_;
    PerType<SearchManifest::Type> on_disk_;         ///< as in the synced manifest
    PerType<SearchManifest::Type> recent_on_disk_;  ///< as in the one that isn't synced
    SearchManifest::Witness recent_witness_;
    std::optional<Gathered> gathered_;
    /// Files that the next forget() must remove, whatever its positions.
    std::set<std::uint64_t> to_remove_;
    bool synced_there_ = false;
    bool recent_there_ = false;
};

}  // namespace annals::storage
