#include "storage/search_checkpoint.h"

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/base/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <set>
#include <thread>

namespace annals::storage {
namespace {

constexpr std::string_view kMagic = "ANNALSCP";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 56;
constexpr std::size_t kTypeBytes = 32;
constexpr std::size_t kRunBytes = 40;
constexpr std::size_t kChecksumBytes = 8;
constexpr std::size_t kAligned = 8;
constexpr unsigned kLoadThreadsMax = 8;
constexpr std::uint64_t kThreadedBytesMin = 1 << 20;
constexpr std::uint64_t kManifestBytesMax = 256 << 20;
constexpr std::string_view kManifestName = "manifest";
constexpr std::string_view kManifestDraft = "manifest.tmp";
constexpr std::string_view kFileSuffix = ".run";
constexpr std::size_t kNumberDigits = 10;

std::string file_name(std::uint64_t number) {
    return fmt::format("{:0{}}{}", number, kNumberDigits, kFileSuffix);
}

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

Error corrupt(std::string_view why) {
    return {Errc::corrupt, std::string(why), {}};
}

void align(std::string& out) {
    out.resize((out.size() + kAligned - 1) / kAligned * kAligned, '\0');
}

/// Takes numbers from the front of bytes whose size was checked.
template <typename T>
T take(std::string_view& bytes) {
    const T value = load_le<T>(bytes.data());
    bytes.remove_prefix(sizeof(T));
    return value;
}

std::uint32_t erased_count(const SearchRun& run) {
    std::uint32_t count = 0;
    for (std::uint32_t document = 0; run.any_died() && document < run.size(); ++document) {
        count += run.died_at(document).value == 0 ? 1 : 0;
    }
    return count;
}

}  // namespace

SearchCheckpoint::SearchCheckpoint(FileSystem& fs, const Index& index, Options options)
    : fs_(fs),
      index_(index),
      options_(std::move(options)),
      folder_(options_.directory + "/search") {
}

// ---- the manifest ----

std::string SearchCheckpoint::encode(const Manifest& manifest) const {
    std::string out(kMagic);
    append_le(out, kVersion);
    append_le(out, static_cast<std::uint32_t>(kResourceTypeCount));
    append_le(out, options_.store_id);
    append_le(out, manifest.witness.position.value);
    append_le(out, manifest.witness.version.value);
    append_le(out, manifest.witness.instant.us);
    append_le(out, manifest.witness.key);
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        const TypeEntry& entry = manifest.types[t];
        const std::string_view name = resource_type_names()[t];
        append_le(out, entry.fingerprint);
        append_le(out, entry.covered.value);
        append_le(out, entry.vacuumed_through.value);
        append_le(out, static_cast<std::uint32_t>(entry.runs.size()));
        append_le(out, static_cast<std::uint32_t>(name.size()));
        out += name;
        align(out);
        for (const Place& place : entry.runs) {
            append_le(out, place.file);
            append_le(out, place.offset);
            append_le(out, place.bytes);
            append_le(out, place.checksum);
            append_le(out, std::uint64_t{place.documents});
        }
    }
    append_le(out, hash64(out, options_.store_id));
    return out;
}

Result<SearchCheckpoint::Manifest> SearchCheckpoint::decode(std::string_view bytes) const {
    if (bytes.size() < kHeaderBytes + kChecksumBytes || !bytes.starts_with(kMagic)) {
        return corrupt("no manifest");
    }
    std::string_view left =
        bytes.substr(kMagic.size(), bytes.size() - kMagic.size() - kChecksumBytes);
    if (take<std::uint32_t>(left) != kVersion) {
        return corrupt("another version of the format");
    }
    if (load_le<std::uint64_t>(bytes.data() + bytes.size() - kChecksumBytes) !=
        hash64(bytes.substr(0, bytes.size() - kChecksumBytes), options_.store_id)) {
        return corrupt("damaged, or of another store");
    }
    // What follows was written by write(); the checks are against another program's idea of it.
    Manifest manifest;
    const auto types = take<std::uint32_t>(left);
    if (take<std::uint64_t>(left) != options_.store_id) {
        return corrupt("of another store");
    }
    manifest.witness.position = {take<std::uint64_t>(left)};
    manifest.witness.version = {take<std::uint64_t>(left)};
    manifest.witness.instant = {take<std::int64_t>(left)};
    manifest.witness.key = take<std::uint64_t>(left);
    for (std::uint32_t t = 0; t < types; ++t) {
        if (left.size() < kTypeBytes) {
            return corrupt("cut");
        }
        TypeEntry entry;
        entry.fingerprint = take<std::uint64_t>(left);
        entry.covered = {take<std::uint64_t>(left)};
        entry.vacuumed_through = {take<std::uint64_t>(left)};
        const auto runs = take<std::uint32_t>(left);
        const auto name_bytes = take<std::uint32_t>(left);
        const std::uint64_t padded =
            (std::uint64_t{name_bytes} + kAligned - 1) / kAligned * kAligned;
        if (left.size() < padded + std::uint64_t{runs} * kRunBytes) {
            return corrupt("cut");
        }
        const auto type = find_resource_type(left.substr(0, name_bytes));
        if (!type || entry.covered > manifest.witness.position) {
            return corrupt("not made by this program");
        }
        left.remove_prefix(padded);
        for (std::uint32_t r = 0; r < runs; ++r) {
            Place place;
            place.file = take<std::uint64_t>(left);
            place.offset = take<std::uint64_t>(left);
            place.bytes = take<std::uint64_t>(left);
            place.checksum = take<std::uint64_t>(left);
            place.documents = static_cast<std::uint32_t>(take<std::uint64_t>(left));
            entry.runs.push_back(place);
        }
        manifest.types[type->value] = std::move(entry);
    }
    return manifest;
}

Result<SearchCheckpoint::Manifest> SearchCheckpoint::read_manifest() const {
    ANNALS_TRY(const auto file, fs_.open(path(kManifestName), FileSystem::Mode::read));
    ANNALS_TRY(const std::uint64_t size, file->size());
    if (size > kManifestBytesMax) {
        return corrupt("too large");
    }
    std::string bytes(size, '\0');
    ANNALS_TRY(const std::size_t read, file->read(0, bytes));
    bytes.resize(read);
    return decode(bytes);
}

SearchCheckpoint::Witness SearchCheckpoint::witness_at(Position position) const {
    const Index::Link link = index_.link(position);
    return {.position = position,
            .version = link.info.version,
            .instant = link.info.instant,
            .key = link.key.low};
}

// ---- loading ----

SearchCheckpoint::LoadedRun SearchCheckpoint::load_run(TypeId type, const Place& place) const {
    ANNALS_TRY(const auto file, fs_.open(path(file_name(place.file)), FileSystem::Mode::read));
    ANNALS_TRY(const std::uint64_t size, file->size());
    if (place.bytes == 0 || place.offset > size || place.bytes > size - place.offset) {
        return corrupt("a file is cut");
    }
    ANNALS_TRY(const auto data, file->map(size));
    const std::string_view bytes(data.get() + place.offset, place.bytes);
    if (hash64(bytes, options_.store_id) != place.checksum) {
        return corrupt("a file is damaged");
    }
    ANNALS_TRY(auto run, SearchRun::read(bytes));
    if (run->size() == 0 || run->size() != place.documents) {
        return corrupt("a file is of another checkpoint");
    }
    Position before;
    for (std::uint32_t document = 0; document < run->size(); ++document) {
        const Position position = run->position(document);
        if (position <= before || position > index_.last_position()) {
            return corrupt("positions that don't ascend");
        }
        before = position;
        const Index::Link link = index_.link(position);
        if (link.info.type != type || link.info.deletion || link.key.low != run->key(document)) {
            return corrupt("a document that the log doesn't have");
        }
    }
    return run;
}

PerType<std::vector<SearchCheckpoint::LoadedRun>> SearchCheckpoint::load_runs(
    const Manifest& manifest, const PerType<std::uint64_t>& fingerprints) const {
    struct Task {
        TypeId type;
        const Place* place;
        LoadedRun* result;
    };

    PerType<std::vector<LoadedRun>> loaded;
    std::vector<Task> tasks;
    std::uint64_t bytes = 0;
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        const TypeEntry& entry = manifest.types[t];
        if (entry.fingerprint != fingerprints[t]) {
            continue;
        }
        loaded[t].assign(entry.runs.size(), LoadedRun(corrupt("not read")));
        for (std::size_t r = 0; r < entry.runs.size(); ++r) {
            tasks.push_back({{static_cast<std::uint16_t>(t)}, &entry.runs[r], &loaded[t][r]});
            bytes += entry.runs[r].bytes;
        }
    }
    // The longest first, so that none is left for the end.
    std::ranges::sort(tasks, std::ranges::greater(),
                      [](const Task& task) { return task.place->bytes; });
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < tasks.size(); i = next++) {
            *tasks[i].result = load_run(tasks[i].type, *tasks[i].place);
        }
    };
    std::vector<std::jthread> threads;
    const auto wanted = std::clamp(std::thread::hardware_concurrency(), 1U, kLoadThreadsMax);
    while (bytes >= kThreadedBytesMin && threads.size() + 1 < wanted) {
        threads.emplace_back(work);
    }
    work();
    threads.clear();
    return loaded;
}

PerType<CheckpointedType> SearchCheckpoint::load(const PerType<std::uint64_t>& fingerprints) {
    PerType<CheckpointedType> types;
    if (!fs_.exists(folder_)) {
        return types;
    }
    auto manifest = read_manifest();
    if (manifest && (manifest->witness.position > index_.last_position() ||
                     manifest->witness.position.value == 0 ||
                     witness_at(manifest->witness.position) != manifest->witness)) {
        manifest = corrupt("of another log");
    }
    if (!manifest) {
        if (manifest.error().code != Errc::not_found) {
            log_warning(fmt::format("search: the checkpoint doesn't fit ({}): indexed anew",
                                    manifest.error().detail));
        }
        if (!options_.read_only) {
            // As positions go on, it could seem to fit one day.
            (void)fs_.remove(path(kManifestName));
            remove_others({});
        }
        return types;
    }
    auto loaded = load_runs(*manifest, fingerprints);
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        const TypeId type{static_cast<std::uint16_t>(t)};
        const TypeEntry& entry = manifest->types[t];
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
        for (std::size_t r = 0; r < entry.runs.size(); ++r) {
            LoadedRun& run = loaded[t][r];
            if (run && ((*run)->position(0) <= before ||
                        (*run)->position((*run)->size() - 1) > entry.covered)) {
                run = corrupt("runs that don't ascend");
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
    ANNALS_TRY(const auto file, fs_.open(path(file_name(number)), FileSystem::Mode::create));
    ANNALS_TRY_VOID(file->write(0, bytes));
    return file->sync();
}

Result<void> SearchCheckpoint::add_run(const std::shared_ptr<const SearchRun>& run,
                                       TypeEntry& entry, Draft& draft) {
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

Result<void> SearchCheckpoint::write_manifest(const Manifest& manifest) {
    const std::string draft = path(kManifestDraft);
    if (fs_.exists(draft)) {
        ANNALS_TRY_VOID(fs_.remove(draft));
    }
    ANNALS_TRY(const auto file, fs_.open(draft, FileSystem::Mode::create));
    ANNALS_TRY_VOID(file->write(0, encode(manifest)));
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
        TypeEntry& entry = draft.manifest.types[t];
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
        written = fs_.rename(path(kManifestDraft), path(kManifestName));
    }
    if (!written) {
        for (const std::uint64_t number : draft.files) {
            (void)fs_.remove(path(file_name(number)));
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
        if (const std::string name = path(file_name(number)); fs_.exists(name)) {
            ANNALS_TRY_VOID(fs_.remove(name));
        }
    }
    return fs_.sync_directory(folder_);
}

Result<void> SearchCheckpoint::remove_all(FileSystem& fs, const std::string& directory) {
    const std::string folder = directory + "/search";
    if (!fs.exists(folder)) {
        return {};
    }
    ANNALS_TRY(const std::vector<std::string> names, fs.list(folder));
    for (const std::string& name : names) {
        ANNALS_TRY_VOID(fs.remove(folder + "/" + name));
    }
    return names.empty() ? Result<void>() : fs.sync_directory(folder);
}

void SearchCheckpoint::remove_others(const Manifest& manifest) {
    std::set<std::string> used;
    bytes_ = 0;
    for (const TypeEntry& entry : manifest.types) {
        for (const Place& place : entry.runs) {
            used.insert(file_name(place.file));
            bytes_ += place.bytes;
        }
    }
    used.insert(std::string(kManifestName));
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
