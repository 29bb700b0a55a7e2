#include "storage/search_checkpoint.h"

#include "core/base/text.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <span>
#include <thread>
#include <utility>

namespace annals::storage {
namespace {

constexpr std::string_view kManifestDraft = "manifest.tmp";
constexpr std::string_view kFileSuffix = ".run";

std::optional<std::uint64_t> file_number(std::string_view name) {
    if (!name.ends_with(kFileSuffix)) {
        return std::nullopt;
    }
    name.remove_suffix(kFileSuffix.size());
    return parse_number(name);
}

}  // namespace

SearchCheckpoint::SearchCheckpoint(FileSystem& fs, const Index& index, Options options)
    : fs_(fs),
      index_(index),
      options_(std::move(options)),
      folder_(fmt::format("{}/{}", options_.directory, kSearchFolder)) {
}

SearchManifest::Witness SearchCheckpoint::witness_at(Position position) const {
    const Index::Link link = index_.link(position);
    return {.position = position,
            .version = link.info.version,
            .instant = link.info.instant,
            .key = link.key.low};
}

// ---- writing ----

Result<SearchFileWriter> SearchCheckpoint::new_file(Draft& draft) {
    const std::uint64_t number = ++last_file_;
    ANNALS_TRY(auto file, fs_.open(path(search_file_name(number)), FileSystem::Mode::create));
    draft.files.push_back(number);
    return SearchFileWriter(std::move(file), number, options_.store_id);
}

Result<void> SearchCheckpoint::sync_file(std::uint64_t number) {
    ANNALS_TRY(const auto file,
               fs_.open(path(search_file_name(number)), FileSystem::Mode::read_write));
    return file->sync();
}

/// Where the run is stored already, if that can be kept.
std::optional<SearchCheckpoint::Kept> SearchCheckpoint::find_kept(
    const std::shared_ptr<const SearchRun>& run, std::uint32_t erased, Small small) {
    if (small == Small::gather && run->size() < options_.own_file_documents) {
        return std::nullopt;
    }
    const std::lock_guard lock(mutex_);
    const auto kept =
        std::ranges::find_if(kept_, [&](const Kept& there) { return there.run.lock() == run; });
    return kept != kept_.end() && kept->erased == erased ? std::optional(*kept) : std::nullopt;
}

Result<void> SearchCheckpoint::add_run(const std::shared_ptr<const SearchRun>& run,
                                       SearchManifest::Type& entry, Draft& draft) {
    const std::uint32_t erased = run->erased_count();
    if (std::optional<Kept> kept = find_kept(run, erased, draft.small)) {
        entry.runs.push_back(kept->place);
        draft.kept.push_back(*std::move(kept));
        return {};
    }
    const auto written = erased == 0 ? run : SearchRun::merge({&run, 1}, {0}).run;
    if (written == nullptr) {
        return {};
    }
    Place place;
    if (run->size() < options_.own_file_documents) {
        if (!draft.pack) {
            ANNALS_TRY(SearchFileWriter pack, new_file(draft));
            draft.pack.emplace(std::move(pack));
        }
        ANNALS_TRY(place, draft.pack->add(*written));
        draft.packed_documents += place.documents;
    } else {
        ANNALS_TRY(SearchFileWriter file, new_file(draft));
        ANNALS_TRY(place, file.add(*written));
        ANNALS_TRY_VOID(file.finish());
    }
    draft.kept.push_back({.run = run, .erased = erased, .place = place});
    entry.runs.push_back(place);
    return {};
}

Result<void> SearchCheckpoint::write_type(std::size_t type, const SearchRuns& runs, Draft& draft) {
    const std::size_t files = draft.files.size();
    {
        const std::lock_guard lock(mutex_);
        if (writing_.left_out[type]) {
            return {};
        }
        writing_.type = type;
    }
    Result<void> done;
    for (const auto& run : runs.runs) {
        done = add_run(run, draft.manifest.types[type], draft);
        if (!done) {
            break;
        }
    }
    if (done && draft.pack) {
        done = draft.pack->finish();
    }
    draft.pack.reset();
    const std::lock_guard lock(mutex_);
    writing_.type.reset();
    writing_.files[type].assign(draft.files.begin() + static_cast<std::ptrdiff_t>(files),
                                draft.files.end());
    type_written_.notify_all();
    return done;
}

Result<void> SearchCheckpoint::write_files(const PerType<std::shared_ptr<const SearchRuns>>& runs,
                                           Draft& draft) {
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        ANNALS_TRY_VOID(write_type(t, *runs[t], draft));
    }
    return {};
}

/// Must be called before the state of a write is dropped: a forget() that waited for one of its types relies on it.
std::unique_lock<std::mutex> SearchCheckpoint::lock_after_forgets() {
    std::unique_lock lock(mutex_);
    forgotten_.wait(lock, [&] { return forgetting_ == 0; });
    return lock;
}

Result<void> SearchCheckpoint::write_manifest(const SearchManifest& manifest, bool sync) {
    ANNALS_TRY(const auto file, create_anew(fs_, path(kManifestDraft)));
    ANNALS_TRY_VOID(file->write(0, encode_manifest(manifest)));
    return sync ? file->sync() : Result<void>();
}

Result<void> SearchCheckpoint::write(const SearchIndex& search,
                                     const std::function<PerType<std::uint64_t>()>& fingerprints) {
    ANNALS_TRY_VOID(write_recent(search, fingerprints, Small::gather));
    for (bool done = false; !done;) {
        ANNALS_TRY(done, sync_next());
    }
    return {};
}

/// Takes the runs of each type, and states in the manifest what they cover. Returns the last position that any covers.
Position SearchCheckpoint::take_runs(const SearchIndex& search,
                                     const std::function<PerType<std::uint64_t>()>& fingerprints,
                                     PerType<std::shared_ptr<const SearchRuns>>& runs,
                                     PerType<SearchManifest::Type>& types) const {
    const Position last = index_.last_position();
    Position through = last;
    const PerType<std::uint64_t> before = fingerprints();
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        runs[t] = search.runs({static_cast<std::uint16_t>(t)});
        types[t].vacuumed_through = runs[t]->vacuumed_through;
        types[t].covered = last;
        if (!runs[t]->runs.empty()) {
            const SearchRun& newest = *runs[t]->runs.back();
            types[t].covered = std::max(last, newest.position(newest.size() - 1));
        }
        through = std::max(through, types[t].covered);
    }
    const PerType<std::uint64_t> after = fingerprints();
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        types[t].fingerprint = before[t] == after[t] ? before[t] : 0;
    }
    return through;
}

Result<void> SearchCheckpoint::make_folder() {
    if (fs_.exists(folder_)) {
        return {};
    }
    ANNALS_TRY_VOID(fs_.make_directory(folder_));
    return fs_.sync_directory(options_.directory);
}

Result<void> SearchCheckpoint::write_recent(
    const SearchIndex& search, const std::function<PerType<std::uint64_t>()>& fingerprints,
    Small small) {
    Draft draft;
    draft.small = small;
    {
        const std::lock_guard lock(mutex_);
        writing_.active = true;
    }
    PerType<std::shared_ptr<const SearchRuns>> runs;
    const Position through = take_runs(search, fingerprints, runs, draft.manifest.types);
    if (through.value == 0) {
        // There is nothing, and no version as a witness for a manifest.
        const std::scoped_lock lock(mutex_);
        writing_ = {};
        return {};
    }
    // The index gets what the search index has a moment later.
    while (index_.last_position() < through) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    draft.manifest.store_id = options_.store_id;
    draft.manifest.witness = witness_at(through);
    Result<void> written = make_folder();
    if (written) {
        written = write_files(runs, draft);
    }
    // From here on forget() waits: what it finds on disk is one checkpoint or the other, never half of both.
    const std::unique_lock lock = lock_after_forgets();
    if (written) {
        for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
            if (writing_.left_out[t]) {
                draft.manifest.types[t] = {};
            }
        }
        std::erase_if(draft.kept, [&](const Kept& kept) {
            return writing_.forgotten.contains(kept.place.file);
        });
        written = write_manifest(draft.manifest, false);
    }
    if (written) {
        written = fs_.rename(path(kManifestDraft), path(kSearchRecentName));
    }
    if (!written) {
        for (const std::uint64_t number : draft.files) {
            (void)fs_.remove(path(search_file_name(number)));
        }
        (void)fs_.remove(path(kManifestDraft));
        writing_ = {};
        return written;
    }
    writing_ = {};
    if (small == Small::gather) {
        gather(draft);
    }
    recent_witness_ = draft.manifest.witness;
    recent_on_disk_ = std::move(draft.manifest.types);
    recent_there_ = true;
    kept_ = std::move(draft.kept);
    remove_others();
    return {};
}

void SearchCheckpoint::gather(const Draft& draft) {
    gathered_.emplace(Gathered{
        .manifest = draft.manifest, .files = {}, .packed_documents = draft.packed_documents});
    for (const Kept& kept : draft.kept) {
        if (!kept.synced) {
            gathered_->files.insert(kept.place.file);
        }
    }
}

Result<bool> SearchCheckpoint::sync_next() {
    std::unique_lock lock(mutex_);
    if (!gathered_) {
        return true;
    }
    Result<void> done;
    const bool last = gathered_->files.empty();
    if (last) {
        done = settle_gathered();
    } else {
        const std::uint64_t number = gathered_->files.extract(gathered_->files.begin()).value();
        lock.unlock();
        done = sync_file(number);
        lock.lock();
        for (Kept& kept : kept_) {
            kept.synced = kept.synced || (done && kept.place.file == number);
        }
        if (!done && writing_.forgotten.contains(number)) {
            done = {};  // Then nothing names it any more.
        }
        // A file whose sync failed must not be used any more.
        std::erase_if(kept_, [&](const Kept& kept) { return !done && kept.place.file == number; });
    }
    if (!done) {
        gathered_.reset();
        return std::move(done.error());
    }
    return last;
}

/// Installs the manifest of what was gathered and synced.
Result<void> SearchCheckpoint::settle_gathered() {
    Result<void> done = write_manifest(gathered_->manifest, true);
    if (done) {
        done = fs_.sync_directory(folder_);
    }
    if (done) {
        done = fs_.rename(path(kManifestDraft), path(kSearchManifestName));
    }
    if (!done) {
        (void)fs_.remove(path(kManifestDraft));
        return done;
    }
    const auto before = std::exchange(on_disk_, gathered_->manifest.types);
    synced_there_ = true;
    if (done = fs_.sync_directory(folder_); !done) {
        // The previous checkpoint's files stay, since either may be there after a power cut, but only until the next erasure.
        for_each_place(before, [&](const Place& place) { to_remove_.insert(place.file); });
        for (const auto* const types : {&on_disk_, &recent_on_disk_}) {
            for_each_place(*types, [&](const Place& place) { to_remove_.erase(place.file); });
        }
        return done;
    }
    packed_documents_ = gathered_->packed_documents;
    if (recent_witness_ == gathered_->manifest.witness) {
        recent_on_disk_ = {};
        recent_there_ = false;
    }
    gathered_.reset();
    remove_others();
    return {};
}

// ---- forgetting ----

Result<void> SearchCheckpoint::forget(std::span<const Position> positions) {
    std::unique_lock lock(mutex_);
    PerType<bool> types{};
    for (const Position position : positions) {
        const std::size_t type = index_.link(position).info.type.value;
        types[type] = types[type] || writing_.active || position <= on_disk_[type].covered ||
                      position <= recent_on_disk_[type].covered;
    }
    std::set<std::uint64_t> files;
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        if (!types[t]) {
            continue;
        }
        if (writing_.active) {
            writing_.left_out[t] = true;
            ++forgetting_;
            type_written_.wait(lock, [&] { return writing_.type != t; });
            if (--forgetting_ == 0) {
                forgotten_.notify_one();
            }
            files.insert(writing_.files[t].begin(), writing_.files[t].end());
        }
        std::vector<SearchManifest::Type*> entries{&on_disk_[t], &recent_on_disk_[t]};
        if (gathered_) {
            entries.push_back(&gathered_->manifest.types[t]);
        }
        for (SearchManifest::Type* const entry : entries) {
            for (const Place& place : entry->runs) {
                files.insert(place.file);
            }
            *entry = {};
        }
    }
    // What an earlier call could not remove is no longer named by any entry.
    files.insert(to_remove_.begin(), to_remove_.end());
    if (files.empty()) {
        return {};
    }
    std::erase_if(kept_, [&](const Kept& kept) { return files.contains(kept.place.file); });
    writing_.forgotten.insert(files.begin(), files.end());
    if (gathered_) {
        for (const std::uint64_t number : files) {
            gathered_->files.erase(number);
        }
    }
    to_remove_ = files;
    for (const std::uint64_t number : files) {
        ANNALS_TRY_VOID(remove_if_there(fs_, path(search_file_name(number))));
    }
    ANNALS_TRY_VOID(fs_.sync_directory(folder_));
    to_remove_.clear();
    return {};
}

Result<void> SearchCheckpoint::remove_all(FileSystem& fs, const std::string& directory) {
    const std::string folder = fmt::format("{}/{}", directory, kSearchFolder);
    if (!fs.exists(folder)) {
        return {};
    }
    ANNALS_TRY(const std::vector<std::string> names, fs.list(folder));
    for (const std::string& name : names) {
        ANNALS_TRY_VOID(fs.remove(folder + "/" + name));
    }
    // Even if nothing is left: an earlier call may have failed at this point.
    return fs.sync_directory(folder);
}

/// Removes the files that no manifest names.
void SearchCheckpoint::remove_others() {
    std::set<std::string> used;
    std::set<std::pair<std::uint64_t, std::uint64_t>> counted;
    bytes_ = 0;
    const auto use = [&](const Place& place) {
        used.insert(search_file_name(place.file));
        last_file_ = std::max(last_file_, place.file);  // An erasure may have removed it.
        bytes_ += counted.insert({place.file, place.offset}).second ? place.bytes : 0;
    };
    for_each_place(on_disk_, use);
    for_each_place(recent_on_disk_, use);
    if (gathered_) {
        for_each_place(gathered_->manifest.types, use);
    }
    if (synced_there_) {
        used.insert(std::string(kSearchManifestName));
    }
    if (recent_there_) {
        used.insert(std::string(kSearchRecentName));
    }
    const auto names = fs_.list(folder_);
    if (!names) {
        return;
    }
    for (const std::string& name : *names) {
        if (const auto number = file_number(name)) {
            last_file_ = std::max(last_file_, *number);
        }
        if (!used.contains(name)) {
            (void)fs_.remove(path(name));
        }
    }
}

}  // namespace annals::storage
