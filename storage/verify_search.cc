#include "storage/verify_search.h"

#include "storage/search_checkpoint_reader.h"

#include <fmt/format.h>

namespace annals::storage {

Result<void> verify_search_checkpoint(FileSystem& fs, const std::string& directory,
                                      VerifyReport& report) {
    const std::string folder = std::string(kSearchFolder) + "/";
    const auto exists = [&](const std::string& name) {
        return fs.exists(directory + "/" + folder + name);
    };
    const auto add_damage = [&](const std::string& name, std::uint64_t offset,
                                std::string_view reason) {
        report.damages.push_back(
            {folder + name, offset,
             fmt::format("{}; it is made again when the store is opened", reason)});
    };
    const std::string manifest(kSearchManifestName);
    if (!exists(manifest)) {
        return {};
    }
    SearchCheckpointReader reader(fs, directory, SearchCheckpointReader::Which::synced);
    const SearchCheckpointReader::Content found = reader.take();
    if (!found.manifest && found.manifest.error().code == Errc::no_store) {
        return found.manifest.error();
    }
    if (!found.manifest && found.manifest.error().code == Errc::usage) {
        report.search_other_format = true;
        return {};
    }
    if (!found.manifest) {
        add_damage(manifest, 0, "manifest of the search index: " + found.manifest.error().detail);
        return {};
    }
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        for (std::size_t r = 0; r < found.runs[t].size(); ++r) {
            const SearchCheckpointReader::Run& run = found.runs[t][r];
            const SearchManifest::Place& place = found.manifest->types[t].runs[r];
            if (run) {
                ++report.search_runs;
                report.search_documents += (*run)->size();
            } else if (run.error().code == Errc::no_store) {
                return run.error();
            } else if (run.error().code == Errc::usage) {
                report.search_other_format = true;
            } else if (const std::string file = search_file_name(place.file); exists(file)) {
                add_damage(file, place.offset,
                           fmt::format("search index of {}: {}", resource_type_names()[t],
                                       run.error().detail));
            }
        }
    }
    return {};
}

}  // namespace annals::storage
