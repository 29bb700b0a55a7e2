#include "storage/lost_segments.h"

#include "storage/erasure_journal.h"
#include "storage/search_checkpoint_reader.h"

#include <fmt/format.h>

namespace annals::storage {

std::string why_all_are_lost(FileSystem& fs, const std::string& directory) {
    const auto search = [](std::string_view name) {
        return fmt::format("{}/{}", kSearchFolder, name);
    };
    // None of these is written before there is a version. Whether they are whole doesn't matter.
    for (const std::string& path : {search(kSearchManifestName), search(kSearchRecentName),
                                    ErasureJournal::path_of(0), ErasureJournal::path_of(1)}) {
        if (fs.exists(fmt::format("{}/{}", directory, path))) {
            return fmt::format(
                "the segment is missing, and so are all after it, from whose contents {} was made; "
                "restore a backup or, to start over with an empty store, remove the folders {} and "
                "{}",
                path, kSearchFolder, ErasureJournal::kFolder);
        }
    }
    return {};
}

std::string why_more_are_lost(FileSystem& fs, const std::string& directory, std::uint64_t store_id,
                              Position last) {
    for (const std::string_view name : {kSearchManifestName, kSearchRecentName}) {
        const auto manifest = read_search_manifest(fs, directory, name);
        if (manifest && manifest->store_id == store_id && manifest->witness.position > last) {
            return fmt::format(
                "the segment is missing: those before it end at position {}, but {}/{} was made "
                "from a log with position {}; restore a backup or, to continue without what is "
                "missing, remove the folder {}",
                last.value, kSearchFolder, name, manifest->witness.position.value, kSearchFolder);
        }
    }
    return {};
}

}  // namespace annals::storage
