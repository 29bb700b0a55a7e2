// SearchCheckpoint: the search index on disk, so that opening a store need not read its whole log again.
//
// Layer:   storage.
// Format:  docs/format.md, "Search checkpoint".
// Threads: one at a time, but for forget().

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

/// What a checkpoint holds of a type: all that can be found of its versions at or before `covered`.
struct CheckpointedType {
    SearchRuns runs;
    Position covered;
};

class SearchCheckpoint {
  public:
    /// What becomes of runs without a file of their own: only those that have come get one, for all of a type; or all are
    /// gathered in one, in which they are to stay.
    enum class Small : std::uint8_t { add, gather };

    struct Options {
        std::string directory;  ///< of the store
        std::uint64_t store_id = 0;
        bool read_only = false;
        /// Runs of so many documents have a file of their own, which stays as long as they do.
        std::uint32_t own_file_documents = 8192;
    };

    /// Lifetime: `fs` and `index` outlive it.
    SearchCheckpoint(FileSystem& fs, const Index& index, Options options);

    /// What of `saved` fits: is of this store, its log and each type's fingerprint; the newest of each type that is
    /// whole. Of a type of which nothing fits there is nothing; the log says why. What died or was erased is said; `next`
    /// has for each position the next version of its resource, 0 if there is none. Removes what a crash left behind.
    PerType<CheckpointedType> load(SearchCheckpointReader& saved,
                                   const PerType<std::uint64_t>& fingerprints,
                                   std::span<const std::uint32_t> next);

    /// Makes what `search` has what load() gives after the next opening, whatever comes before that; after a failure, what
    /// was there before, or this if the process ends before the machine.
    /// What was erased is in no file any more when this returns. `fingerprints` says by what parameters each type
    /// was indexed at the moment; a type for which that changes meanwhile is written as if it were none.
    ///
    /// Errors: no_store, io. Cost: what runs of their own file have grown to, and all smaller ones.
    Result<void> write(const SearchIndex& search,
                       const std::function<PerType<std::uint64_t>()>& fingerprints);

    /// As write(), for a process that is killed, not for a power cut; waits for no device. With Small::gather,
    /// sync_next() goes on from there.
    Result<void> write_recent(const SearchIndex& search,
                              const std::function<PerType<std::uint64_t>()>& fingerprints,
                              Small small = Small::add);

    /// Syncs one file more of what was gathered last. True once nothing is left to do: then it is as if write() had been
    /// called instead of write_recent(). Errors: no_store, io; then what was gathered is given up.
    Result<bool> sync_next();

    /// Removes from the disk whatever tells of the versions at `positions`, which the index has as erased: the files of
    /// their types, if they were written since; what is being written leaves those types out. They are indexed anew if
    /// the store is opened before the next checkpoint. Any thread.
    ///
    /// Errors: no_store, io; a later call, whatever its positions, does what was left undone.
    /// Cost: where a write() has to be waited for, that of one type.
    Result<void> forget(std::span<const Position> positions);

    /// Removes all files of a store whose search index nobody has opened. Errors: no_store, io; may be called again.
    static Result<void> remove_all(FileSystem& fs, const std::string& directory);

    /// Whether the newest one outlives the process alone.
    bool is_recent() const noexcept { return recent_there_; }

    /// Documents of runs without a file of their own, in the checkpoint that outlives a power cut.
    std::uint64_t packed_documents() const noexcept { return packed_documents_; }

    std::uint64_t bytes() const noexcept { return bytes_; }

  private:
    using Place = SearchManifest::Place;

    /// A run that is in a file.
    struct Kept {
        std::weak_ptr<const SearchRun> run;
        std::uint32_t erased = 0;  ///< documents of it that were erased when it was written
        Place place;
        bool synced = false;
    };

    /// What is on its way to outlive a power cut.
    struct Gathered {
        SearchManifest manifest;
        std::set<std::uint64_t> files;  ///< that are to be synced
        std::uint64_t packed_documents = 0;
    };

    /// What one write makes.
    struct Draft {
        Small small = Small::add;
        SearchManifest manifest;
        std::vector<Kept> kept;
        std::vector<std::uint64_t> files;      ///< new ones
        std::optional<SearchFileWriter> pack;  ///< of a type's runs without a file of their own
        std::uint64_t packed_documents = 0;
    };

    /// What a write and a forget() must know of each other.
    struct Writing {
        bool active = false;
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
    PerType<SearchManifest::Type> on_disk_;         ///< as the manifest has it
    PerType<SearchManifest::Type> recent_on_disk_;  ///< and the one that isn't synced
    SearchManifest::Witness recent_witness_;
    std::optional<Gathered> gathered_;
    std::set<std::uint64_t>
        to_remove_;  ///< files that the next forget() removes, whatever it is about
    bool synced_there_ = false;
    bool recent_there_ = false;
};

}  // namespace annals::storage
