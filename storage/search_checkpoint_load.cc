#include "core/base/log.h"
#include "storage/parallel.h"
#include "storage/search_checkpoint.h"

#include <algorithm>
#include <array>

namespace annals::storage {
namespace {

/// How many documents a thread compares with the log at a time.
constexpr std::uint32_t kComparedAtOnce = 1 << 16;
constexpr std::size_t kLinksAtOnce = 256;

struct DocumentRange {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

/// Marks deaths in a range of the documents of `run`, which comes from a file. False: the log lacks one of them, or has
/// something else there.
bool mark_deaths(const Index& index, std::span<const std::uint32_t> next, TypeId type,
                 const SearchRun& run, DocumentRange stretch) {
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

/// Marks deaths in the runs, and turns those that don't fit the log into errors.
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

/// Whether a manifest is of this store and log; turns it into an error if it isn't.
bool SearchCheckpoint::fits(Result<SearchManifest>& manifest, std::string_view name) const {
    if (manifest && (manifest->store_id != options_.store_id ||
                     manifest->witness.position > index_.last_position() ||
                     manifest->witness.position.value == 0 ||
                     witness_at(manifest->witness.position) != manifest->witness)) {
        manifest = unfit("of another log");
    }
    if (!manifest && manifest.error().code != Errc::not_found) {
        log_warning(fmt::format("search: {}/{} does not match ({}): ignored", kSearchFolder, name,
                                manifest.error().detail));
    }
    return manifest.has_value();
}

/// Adds types that are still missing and are whole in `content`. `synced` is what a power cut would leave.
void SearchCheckpoint::load_types(SearchCheckpointReader::Content& content,
                                  const SearchManifest* synced,
                                  const PerType<std::uint64_t>& fingerprints,
                                  std::span<const std::uint32_t> next,
                                  PerType<std::optional<CheckpointedType>>& types) {
    compare(content, fingerprints, next);
    std::set<std::uint64_t> durable;
    if (synced != nullptr) {
        for_each_place(synced->types, [&](const Place& place) { durable.insert(place.file); });
    }
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        const std::string_view name = resource_type_name({static_cast<std::uint16_t>(t)});
        const SearchManifest::Type& entry = content.manifest->types[t];
        if (types[t]) {
            continue;
        }
        if (entry.fingerprint != fingerprints[t]) {
            continue;  // load() tells
        }
        CheckpointedType made{.runs = {{}, entry.vacuumed_through}, .covered = entry.covered};
        Position before;
        Result<void> whole;
        for (SearchCheckpointReader::Run& run : content.runs[t]) {
            if (run && ((*run)->position(0) <= before ||
                        (*run)->position((*run)->size() - 1) > entry.covered)) {
                run = unfit("runs that don't ascend");
            }
            if (!run) {
                whole = run.error();
                break;
            }
            before = (*run)->position((*run)->size() - 1);
            made.runs.runs.push_back(*run);
        }
        if (!whole) {
            if (whole.error().code == Errc::not_found) {
                log_info(fmt::format(
                    "search: {}: {} since the checkpoint", name,
                    options_.read_only ? "erased from, or written anew," : "erased from"));
            } else {
                log_warning(fmt::format("search: {}: the checkpoint does not match ({})", name,
                                        whole.error().detail));
            }
            continue;
        }
        for (std::size_t r = 0; r < entry.runs.size(); ++r) {
            kept_.push_back({.run = made.runs.runs[r],
                             .place = entry.runs[r],
                             .synced = durable.contains(entry.runs[r].file)});
        }
        types[t] = std::move(made);
    }
}

PerType<CheckpointedType> SearchCheckpoint::load(SearchCheckpointReader& saved,
                                                 const PerType<std::uint64_t>& fingerprints,
                                                 std::span<const std::uint32_t> next) {
    PerType<std::optional<CheckpointedType>> found;
    PerType<CheckpointedType> types;
    if (!fs_.exists(folder_)) {
        return types;
    }
    Result<SearchManifest> synced = saved.synced();
    const SearchManifest* const durable = fits(synced, kSearchManifestName) ? &*synced : nullptr;
    if (auto recent = saved.take_recent()) {
        recent_there_ = fits(recent->manifest, kSearchRecentName);
        if (recent_there_) {
            load_types(*recent, durable, fingerprints, next, found);
            recent_on_disk_ = std::move(recent->manifest->types);
        }
    }
    if (durable != nullptr && std::ranges::any_of(found, [](const auto& type) { return !type; })) {
        SearchCheckpointReader::Content content = saved.take();
        load_types(content, durable, fingerprints, next, found);
    }
    if (durable != nullptr) {
        on_disk_ = std::move(synced->types);
        synced_there_ = true;
    }
    std::string differing;
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        if (found[t]) {
            types[t] = std::move(*found[t]);
            continue;
        }
        const auto differs = [&](const SearchManifest::Type& entry) {
            return entry.fingerprint != fingerprints[t] && !entry.runs.empty();
        };
        if (differs(on_disk_[t]) || differs(recent_on_disk_[t])) {
            differing.append(differing.empty() ? "" : ", ")
                .append(resource_type_name({static_cast<std::uint16_t>(t)}));
        }
    }
    if (!differing.empty()) {
        log_info("search: the parameters differ from those of the checkpoint: " + differing);
    }
    packed_documents_ = 0;
    for_each_place(on_disk_, [&](const Place& place) {
        packed_documents_ += place.documents < options_.own_file_documents ? place.documents : 0;
    });
    if (!options_.read_only) {
        remove_others();
        // As positions advance, what doesn't fit could some day seem to: it must not come back after a power cut.
        if (const auto gone = fs_.sync_directory(folder_); !gone) {
            log_warning(fmt::format("search: removed files may reappear after a power cut: {}",
                                    gone.error().detail));
        }
    }
    return types;
}

}  // namespace annals::storage
