#include "storage/search_checkpoint_reader.h"

#include "core/base/digest.h"
#include "core/base/start_thread.h"
#include "storage/parallel.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::storage {
namespace {

constexpr std::uint64_t kManifestBytesMax = 256 << 20;
/// Less is read before a thread would have started.
constexpr std::uint64_t kReadAheadBytesMin = 1 << 20;

}  // namespace

std::string search_file_name(std::uint64_t number) {
    return fmt::format("{:010}.run", number);
}

Result<SearchManifest> read_search_manifest(FileSystem& fs, const std::string& directory,
                                            std::string_view name) {
    const std::string path = fmt::format("{}/{}/{}", directory, kSearchFolder, name);
    ANNALS_TRY(const std::string bytes, read_whole(fs, path, kManifestBytesMax));
    return decode_manifest(bytes);
}

SearchCheckpointReader::SearchCheckpointReader(FileSystem& fs, const std::string& directory,
                                               Which which)
    : fs_(fs),
      folder_(fmt::format("{}/{}", directory, kSearchFolder)),
      synced_(read_search_manifest(fs, directory, kSearchManifestName)),
      content_{.manifest = unfit("not read"), .runs = {}} {
    Result<SearchManifest> recent = which == Which::newest
                                        ? read_search_manifest(fs, directory, kSearchRecentName)
                                        : Result<SearchManifest>(unfit("not asked for"));
    recent_ = recent && (!synced_ || recent->witness.position > synced_->witness.position);
    begin({.manifest = recent_ ? std::move(recent) : synced_, .runs = {}});
}

SearchCheckpointReader::~SearchCheckpointReader() {
    next_.store(tasks_.size());
}

void SearchCheckpointReader::begin(Content content) {
    content_ = std::move(content);
    if (!content_.manifest) {
        return;
    }
    std::uint64_t bytes = 0;
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        const auto& places = content_.manifest->types[t].runs;
        content_.runs[t].assign(places.size(), Run(unfit("not read")));
        for (std::size_t r = 0; r < places.size(); ++r) {
            tasks_.push_back({&places[r], &content_.runs[t][r]});
            bytes += places[r].bytes;
        }
    }
    // The longest first, so that none is left for the end.
    std::ranges::sort(tasks_, std::ranges::greater(),
                      [](const Task& task) { return task.place->bytes; });
    if (bytes >= kReadAheadBytesMin) {
        // The thread that reads the log has a core of its own, if there are two.
        for (unsigned i = 0; i < std::max(threads_wanted(), 2U) - 1; ++i) {
            auto thread = start_thread("opening", [this] { work(); });
            if (!thread) {
                break;  // take() does the rest.
            }
            threads_.push_back(*std::move(thread));
        }
    }
}

SearchCheckpointReader::Content SearchCheckpointReader::end() {
    work();
    threads_.clear();
    tasks_.clear();
    next_ = 0;
    return std::move(content_);
}

std::optional<SearchCheckpointReader::Content> SearchCheckpointReader::take_recent() {
    return recent_ ? std::optional(end()) : std::nullopt;
}

SearchCheckpointReader::Content SearchCheckpointReader::take() {
    if (recent_) {
        begin({.manifest = synced_, .runs = {}});
    }
    return end();
}

void SearchCheckpointReader::work() {
    for (std::size_t i = next_++; i < tasks_.size(); i = next_++) {
        *tasks_[i].result = read_run(*tasks_[i].place);
    }
}

SearchCheckpointReader::Run SearchCheckpointReader::read_run(
    const SearchManifest::Place& place) const {
    ANNALS_TRY(const auto file,
               fs_.open(fmt::format("{}/{}", folder_, search_file_name(place.file)),
                        FileSystem::Mode::read));
    ANNALS_TRY(const std::uint64_t size, file->size());
    if (place.bytes == 0 || place.offset > size || place.bytes > size - place.offset ||
        place.offset % kSearchFileAligned != 0) {
        return unfit("a file is cut");
    }
    const auto bytes_of = [&place](const char* mapped) {
        return std::string_view(mapped + place.offset, place.bytes);
    };
    auto data = file->map_trusted(size, [&](const char* mapped) {
        return hash64(bytes_of(mapped), content_.manifest->store_id) == place.checksum;
    });
    if (!data) {
        return data.error().code == Errc::corrupt ? unfit("a file is damaged") : data.error();
    }
    const std::string_view bytes = bytes_of(data->get());
    ANNALS_TRY(auto run, SearchRun::read(bytes, *std::move(data)));
    if (run->size() != place.documents) {
        return unfit("a file is of another checkpoint");
    }
    return run;
}

}  // namespace annals::storage
