#include "core/definitions.h"

#include "core/base/text_map.h"
#include "core/terminology/r4.h"

namespace annals::core {

namespace {

std::string folder_of(const Config& config, std::string_view name) {
    return config.data + "/" + std::string(name);
}

}  // namespace

Definitions::Definitions(const Config& config, const storage::Store& store)
    : stored_(store),
      packages_(storage::posix_file_system(), folder_of(config, "packages/installed"),
                config.packages_dir.empty() ? folder_of(config, "packages") : config.packages_dir,
                config.read_only),
      carried_index_(store),
      carried_(packages_) {
}

Result<terminology::Definition> Definitions::Carried::find(std::string_view type,
                                                           std::string_view url,
                                                           std::string_view version) const {
    ANNALS_TRY(terminology::Definition found, packages_.find(type, url, version));
    if (found != nullptr) {
        return found;
    }
    return terminology::r4_definitions().find(type, url, version);
}

terminology::Definition Definitions::find(std::string_view type, std::string_view url,
                                          std::string_view version, std::vector<Position>* unread,
                                          bool* large) const {
    if (terminology::Definition stored = stored_.find(type, url, version, unread, large)) {
        return stored;
    }
    Result<terminology::Definition> found = carried().find(type, url, version);
    return found ? *std::move(found) : nullptr;
}

std::vector<std::string> Definitions::canonicals(std::string_view type, std::size_t count) const {
    std::vector<std::string> urls = stored_.canonicals(type, count);
    TextSet<std::string_view> known(urls.begin(), urls.end());
    std::vector<std::string> more;
    const std::vector<packages::PackagePointer> installed = packages_.installed();
    for (const packages::PackagePointer& package : installed) {
        for (const packages::Package::Resource& resource : package->resources()) {
            if (known.size() < count && resource.type == type &&
                known.insert(resource.url).second) {
                more.push_back(resource.url);
            }
        }
    }
    urls.insert(urls.end(), more.begin(), more.end());
    return urls;
}

std::vector<terminology::ListedCodeSystem> Definitions::code_systems(bool stored) const {
    std::vector<terminology::ListedCodeSystem> out;
    if (stored) {
        out = stored_.code_systems(kStoredListedMax);
    }
    const std::vector<packages::PackagePointer> installed = packages_.installed();
    // The package that was installed last takes precedence.
    for (auto package = installed.rbegin(); package != installed.rend(); ++package) {
        for (const packages::Package::Resource& resource : (*package)->resources()) {
            if (resource.type == "CodeSystem") {
                out.push_back({resource.url, resource.version, resource.has_codes});
            }
        }
    }
    const auto& r4 = terminology::r4_code_systems();
    out.insert(out.end(), r4.begin(), r4.end());
    return out;
}

}  // namespace annals::core
