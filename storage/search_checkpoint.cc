#include "storage/search_checkpoint.h"

#include "core/base/digest.h"
#include "core/base/log.h"
#include "storage/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <set>
#include <span>
#include <thread>

namespace annals::storage {
namespace {

/// Documents that one thread compares with the log before it takes others.
constexpr std::uint32_t kComparedAtOnce = 1 << 16;
constexpr std::size_t kLinksAtOnce = 256;
constexpr std::string_view kManifestDraft = "manifest.tmp";
constexpr std::string_view kFileSuffix = ".run";

std::optional<std::uint64_t> file_number(std::string_view name) {
    if (!name.ends_with(kFileSuffix)) {
        return std::nullopt;
    }
    name.remove_suffix(kFileSuffix.size());
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size()) {
        return std::nullopt;
    }
    return number;
}

void align(std::string& out) {
    out.resize((out.size() + kSearchFileAligned - 1) / kSearchFileAligned * kSearchFileAligned,
               '\0');
}

std::uint32_t erased_count(const SearchRun& run) {
    std::uint32_t count = 0;
    for (std::uint32_t document = 0; run.any_died() && document < run.size(); ++document) {
        count += run.died_at(document).value == 0 ? 1 : 0;
    }
    return count;
}

struct Stretch {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

/// Says of the documents of `run`, which comes from a file, in a stretch of it what died. False: the log has one of them
/// not, or as something else.
bool mark_deaths(const Index& index, std::span<const std::uint32_t> next, TypeId type,
                 const SearchRun& run, Stretch stretch) {
    if (run.position(stretch.end - 1).value >= next.size()) {
        return false;
    }
    std::array<Index::Link, kLinksAtOnce> links;
    while (stretch.begin < stretch.end) {
        const auto positions = run.positions().subspan(
            stretch.begin, std::min<std::size_t>(links.size(), stretch.end - stretch.begin));
        index.links(positions, links);
        for (std::size_t i = 0; i < positions.size(); ++i) {
            const Index::Link& link = links[i];
            if (link.info.type != type || link.info.deletion ||
                link.key.low != run.key(stretch.begin)) {
                return false;
            }
            if (const std::uint32_t at = next[positions[i]]; link.erased || at != 0) {
                run.mark_died(stretch.begin, {link.erased ? 0 : at});
            }
            ++stretch.begin;
        }
    }
    return true;
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

// ---- loading ----

/// Says in the runs what has died, and makes errors of those that don't fit the log.
void SearchCheckpoint::compare(SearchCheckpointReader::Content& content,
                               const PerType<std::uint64_t>& fingerprints,
                               std::span<const std::uint32_t> next) const {
    struct Part {
        TypeId type;
        SearchCheckpointReader::Run* run;
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        bool fits = true;
    };

    std::vector<Part> parts;
    for (std::uint16_t t = 0; t < kResourceTypeCount; ++t) {
        if (content.manifest->types[t].fingerprint != fingerprints[t]) {
            continue;
        }
        for (SearchCheckpointReader::Run& run : content.runs[t]) {
            for (std::uint32_t begin = 0; run && begin < (*run)->size();) {
                const std::uint32_t end = begin + std::min(kComparedAtOnce, (*run)->size() - begin);
                parts.push_back({.type = {t}, .run = &run, .begin = begin, .end = end});
                begin = end;
            }
        }
    }
    for_each_of(parts.size(), [&](std::size_t i) {
        Part& part = parts[i];
        part.fits = mark_deaths(index_, next, part.type, ***part.run, {part.begin, part.end});
    });
    for (const Part& part : parts) {
        if (!part.fits) {
            *part.run = unfit("a document that the log doesn't have");
        }
    }
}

PerType<CheckpointedType> SearchCheckpoint::load(SearchCheckpointReader::Content content,
                                                 const PerType<std::uint64_t>& fingerprints,
                                                 std::span<const std::uint32_t> next) {
    PerType<CheckpointedType> types;
    if (!fs_.exists(folder_)) {
        return types;
    }
    Result<SearchManifest>& manifest = content.manifest;
    if (manifest && (manifest->store_id != options_.store_id ||
                     manifest->witness.position > index_.last_position() ||
                     manifest->witness.position.value == 0 ||
                     witness_at(manifest->witness.position) != manifest->witness)) {
        manifest = unfit("of another log");
    }
    if (!manifest) {
        if (manifest.error().code != Errc::not_found) {
            log_warning(fmt::format("search: the checkpoint doesn't fit ({}): indexed anew",
                                    manifest.error().detail));
        }
        if (!options_.read_only) {
            // As positions go on, it could seem to fit one day.
            (void)fs_.remove(path(kSearchManifestName));
            remove_others({});
        }
        return types;
    }
    compare(content, fingerprints, next);
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        const TypeId type{static_cast<std::uint16_t>(t)};
        const SearchManifest::Type& entry = manifest->types[t];
        if (entry.fingerprint != fingerprints[t]) {
            if (!entry.runs.empty()) {
                log_info(
                    fmt::format("search: {}: other parameters than those of the checkpoint: "
                                "indexed anew",
                                resource_type_name(type)));
            }
            continue;
        }
        CheckpointedType& made = types[t];
        made.covered = entry.covered;
        made.runs.vacuumed_through = entry.vacuumed_through;
        Position before;
        for (SearchCheckpointReader::Run& run : content.runs[t]) {
            if (run && ((*run)->position(0) <= before ||
                        (*run)->position((*run)->size() - 1) > entry.covered)) {
                run = unfit("runs that don't ascend");
            }
            if (!run && run.error().code == Errc::not_found) {
                log_info(fmt::format("search: {}: erased from since the checkpoint: indexed anew",
                                     resource_type_name(type)));
                made = {};
                break;
            }
            if (!run) {
                log_warning(fmt::format("search: {}: the checkpoint doesn't fit ({}): indexed anew",
                                        resource_type_name(type), run.error().detail));
                made = {};
                break;
            }
            before = (*run)->position((*run)->size() - 1);
            made.runs.runs.push_back(*run);
        }
        for (std::size_t r = 0; r < made.runs.runs.size(); ++r) {
            if (entry.runs[r].documents >= options_.own_file_documents) {
                kept_.push_back({.run = made.runs.runs[r], .place = entry.runs[r]});
            } else {
                packed_documents_ += entry.runs[r].documents;
            }
        }
    }
    if (!options_.read_only) {
        remove_others(*manifest);
        on_disk_ = std::move(manifest->types);
    }
    return types;
}

// ---- writing ----

Result<void> SearchCheckpoint::write_file(std::uint64_t number, std::string_view bytes) {
    ANNALS_TRY(const auto file, fs_.open(path(search_file_name(number)), FileSystem::Mode::create));
    ANNALS_TRY_VOID(file->write(0, bytes));
    return file->sync();
}

Result<void> SearchCheckpoint::add_run(const std::shared_ptr<const SearchRun>& run,
                                       SearchManifest::Type& entry, Draft& draft) {
    const std::uint32_t erased = erased_count(*run);
    {
        const std::lock_guard lock(mutex_);
        const auto kept =
            std::ranges::find_if(kept_, [&](const Kept& there) { return there.run.lock() == run; });
        if (kept != kept_.end() && kept->erased == erased) {
            entry.runs.push_back(kept->place);
            draft.kept.push_back(*kept);
            return {};
        }
    }
    const auto written = erased == 0 ? run : SearchRun::merge({&run, 1}, {0}).run;
    if (written == nullptr) {
        return {};
    }
    Place place;
    place.documents = written->size();
    if (run->size() < options_.own_file_documents) {
        if (draft.pack_file == 0) {
            draft.pack_file = ++last_file_;
        }
        place.file = draft.pack_file;
        place.offset = draft.pack.size();
        written->write(draft.pack);
        place.bytes = draft.pack.size() - place.offset;
        place.checksum =
            hash64(std::string_view(draft.pack).substr(place.offset), options_.store_id);
        align(draft.pack);
        draft.packed_documents += place.documents;
    } else {
        std::string bytes;
        written->write(bytes);
        place.file = ++last_file_;
        place.bytes = bytes.size();
        place.checksum = hash64(bytes, options_.store_id);
        draft.files.push_back(place.file);
        ANNALS_TRY_VOID(write_file(place.file, bytes));
        draft.kept.push_back({.run = run, .erased = erased, .place = place});
    }
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
    if (done && draft.pack_file != 0) {
        draft.files.push_back(draft.pack_file);
        done = write_file(draft.pack_file, draft.pack);
    }
    draft.pack.clear();
    draft.pack_file = 0;
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

void SearchCheckpoint::end_writing() {
    const std::lock_guard lock(mutex_);
    writing_ = {};
}

Result<void> SearchCheckpoint::write_manifest(const SearchManifest& manifest) {
    const std::string draft = path(kManifestDraft);
    if (fs_.exists(draft)) {
        ANNALS_TRY_VOID(fs_.remove(draft));
    }
    ANNALS_TRY(const auto file, fs_.open(draft, FileSystem::Mode::create));
    ANNALS_TRY_VOID(file->write(0, encode_manifest(manifest)));
    return file->sync();
}

Result<void> SearchCheckpoint::write(const SearchIndex& search,
                                     const std::function<PerType<std::uint64_t>()>& fingerprints) {
    const Position last = index_.last_position();
    if (last.value == 0) {
        return {};
    }
    Draft draft;
    PerType<std::shared_ptr<const SearchRuns>> runs;
    Position through = last;
    {
        const std::lock_guard lock(mutex_);
        writing_.active = true;
    }
    const PerType<std::uint64_t> before = fingerprints();
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        runs[t] = search.runs({static_cast<std::uint16_t>(t)});
        SearchManifest::Type& entry = draft.manifest.types[t];
        entry.vacuumed_through = runs[t]->vacuumed_through;
        entry.covered = last;
        if (!runs[t]->runs.empty()) {
            const SearchRun& newest = *runs[t]->runs.back();
            entry.covered = std::max(last, newest.position(newest.size() - 1));
        }
        through = std::max(through, entry.covered);
    }
    const PerType<std::uint64_t> after = fingerprints();
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        draft.manifest.types[t].fingerprint = before[t] == after[t] ? before[t] : 0;
    }
    // What the search index has seen, the index sees next.
    while (index_.last_position() < through) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    draft.manifest.store_id = options_.store_id;
    draft.manifest.witness = witness_at(through);
    Result<void> written;
    if (!fs_.exists(folder_)) {
        written = fs_.make_directory(folder_);
        if (written) {
            written = fs_.sync_directory(options_.directory);
        }
    }
    if (written) {
        written = write_files(runs, draft);
    }
    std::unique_lock lock(mutex_, std::defer_lock);
    if (written) {
        // From here on forget() waits: what it finds on disk is either checkpoint, never half of both.
        lock.lock();
        for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
            if (writing_.left_out[t]) {
                draft.manifest.types[t] = {};
            }
        }
        std::erase_if(draft.kept, [&](const Kept& kept) {
            return writing_.forgotten.contains(kept.place.file);
        });
        written = write_manifest(draft.manifest);
    }
    if (written) {
        written = fs_.sync_directory(folder_);
    }
    if (written) {
        written = fs_.rename(path(kManifestDraft), path(kSearchManifestName));
    }
    if (!written) {
        for (const std::uint64_t number : draft.files) {
            (void)fs_.remove(path(search_file_name(number)));
        }
        (void)fs_.remove(path(kManifestDraft));
        if (lock.owns_lock()) {
            lock.unlock();
        }
        end_writing();
        return written;
    }
    written = fs_.sync_directory(folder_);
    on_disk_ = draft.manifest.types;
    writing_ = {};
    if (!written) {
        return written;
    }
    kept_ = std::move(draft.kept);
    packed_documents_ = draft.packed_documents;
    remove_others(draft.manifest);
    return {};
}

// ---- forgetting ----

Result<void> SearchCheckpoint::forget(std::span<const Position> positions) {
    std::unique_lock lock(mutex_);
    PerType<bool> types{};
    for (const Position position : positions) {
        const std::size_t type = index_.link(position).info.type.value;
        types[type] = types[type] || writing_.active || position <= on_disk_[type].covered;
    }
    std::set<std::uint64_t> files;
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        if (!types[t]) {
            continue;
        }
        if (writing_.active) {
            writing_.left_out[t] = true;
            type_written_.wait(lock, [&] { return writing_.type != t; });
            files.insert(writing_.files[t].begin(), writing_.files[t].end());
        }
        for (const Place& place : on_disk_[t].runs) {
            files.insert(place.file);
        }
        on_disk_[t] = {};
    }
    if (files.empty()) {
        return {};
    }
    std::erase_if(kept_, [&](const Kept& kept) { return files.contains(kept.place.file); });
    writing_.forgotten.insert(files.begin(), files.end());
    for (const std::uint64_t number : files) {
        if (const std::string name = path(search_file_name(number)); fs_.exists(name)) {
            ANNALS_TRY_VOID(fs_.remove(name));
        }
    }
    return fs_.sync_directory(folder_);
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
    return names.empty() ? Result<void>() : fs.sync_directory(folder);
}

void SearchCheckpoint::remove_others(const SearchManifest& manifest) {
    std::set<std::string> used;
    bytes_ = 0;
    for (const SearchManifest::Type& entry : manifest.types) {
        for (const Place& place : entry.runs) {
            used.insert(search_file_name(place.file));
            bytes_ += place.bytes;
        }
    }
    used.insert(std::string(kSearchManifestName));
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
