#include "core/packages/packages.h"

#include "core/base/ascii.h"
#include "core/base/log.h"
#include "core/base/parts.h"
#include "core/base/text_map.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

namespace annals::packages {

namespace {

constexpr std::string_view kSuffix = ".tgz";
constexpr std::string_view kDraft = ".tmp";  // as replace_file() names its drafts
constexpr std::string_view kOrderFile = "order";
constexpr std::uint64_t kArchiveBytesMax = 256 << 20;
constexpr std::size_t kPackagesMax = 500;

/// Whether the server has the package built in.
bool is_carried(const PackageName& name) {
    return name.name == "hl7.fhir.r4.core" || name.name == "hl7.fhir.core";
}

/// Whether `a` is an older version than `b`. Numbers are compared as numbers; a label makes a version older.
bool is_older(std::string_view a, std::string_view b) {
    while (!a.empty() && !b.empty()) {
        const auto part = [](std::string_view& rest) {
            const std::size_t end = rest.find_first_of(".-");
            const std::string_view taken = rest.substr(0, end);
            rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
            return taken;
        };
        const std::string_view left = part(a);
        const std::string_view right = part(b);
        std::uint64_t x = 0;
        std::uint64_t y = 0;
        const bool x_is_number = std::from_chars(left.begin(), left.end(), x).ptr == left.end();
        const bool y_is_number = std::from_chars(right.begin(), right.end(), y).ptr == right.end();
        if (x_is_number != y_is_number) {
            return y_is_number;
        }
        if (x_is_number ? x != y : left != right) {
            return x_is_number ? x < y : left < right;
        }
    }
    const auto is_label = [](std::string_view rest) {
        return !rest.empty() && !is_digit(rest.front());
    };
    return a.empty() ? !b.empty() && !is_label(b) : is_label(a);
}

/// Whether a version matches the requested one, which may be "1.0.x" or "latest".
bool answers(std::string_view version, std::string_view asked) {
    if (asked.empty() || asked == "latest" || asked == "current") {
        return true;
    }
    return asked.ends_with(".x") ? version.starts_with(asked.substr(0, asked.size() - 1))
                                 : version == asked;
}

std::optional<PackageName> name_of(std::string_view file) {
    const std::size_t mark = file.find('#');
    if (!file.ends_with(kSuffix) || mark == std::string_view::npos) {
        return {};
    }
    PackageName name{std::string(file.substr(0, mark)),
                     std::string(file.substr(mark + 1, file.size() - mark - 1 - kSuffix.size()))};
    return is_package_name(name.name) && is_package_version(name.version)
               ? std::optional(std::move(name))
               : std::nullopt;
}

/// Whether both define the same resources, even if the archives differ.
bool is_same(const Package& a, const Package& b) {
    return std::ranges::equal(a.resources(), b.resources(), {}, &Package::Resource::text,
                              &Package::Resource::text);
}

}  // namespace

Packages::Packages(storage::FileSystem& files, std::string installed, std::string offered,
                   bool read_only)
    : files_(files),
      installed_(std::move(installed)),
      offered_(std::move(offered)),
      index_(std::make_shared<const Index>()) {
    publish({});
    load(read_only);
}

void Packages::miss(const std::string& path, const Error& error) {
    Error fault{Errc::corrupt, fmt::format("{}: {}", path, error.detail)};
    log_error(fault.detail);
    if (loaded_) {
        loaded_ = std::move(fault);
    }
}

// Sorts the files by order of installation; those missing in the order file come first, by name.
std::vector<std::string> Packages::in_order(std::vector<std::string> files) {
    const std::string path = installed_ + "/" + std::string(kOrderFile);
    const auto text = files_.exists(path) ? read(path) : Result<std::string>(std::string());
    if (!text) {
        miss(path, text.error());
    }
    TextMap<std::size_t, std::string_view> places;
    std::string_view lines = text ? std::string_view(*text) : std::string_view();
    while (!lines.empty()) {
        places.emplace(take_until(lines, '\n'), places.size() + 1);
    }
    const auto place = [&](const std::string& file) {
        const auto found =
            places.find(std::string_view(file).substr(0, file.size() - kSuffix.size()));
        return std::pair(found == places.end() ? 0 : found->second, std::string_view(file));
    };
    std::ranges::sort(files, {}, place);
    return files;
}

// Drafts may be large, and nothing else removes them except a new installation of the same package.
void Packages::remove_unfinished(const std::vector<std::string>& names) {
    for (const std::string& file : names) {
        const std::string_view name = file;
        if (name.ends_with(kDraft) && name_of(name.substr(0, name.size() - kDraft.size()))) {
            const Result<void> removed = files_.remove(installed_ + "/" + file);
            log_warning(fmt::format("package {}: its installation was interrupted{}{}", file,
                                    removed ? "" : ", and what is left cannot be removed: ",
                                    removed ? "" : removed.error().detail));
        }
    }
}

void Packages::load(bool read_only) {
    if (!files_.exists(installed_)) {
        return;
    }
    auto names = files_.list(installed_);
    if (!names) {
        miss(installed_, names.error());
        return;
    }
    if (!read_only) {
        remove_unfinished(*names);
    }
    std::erase_if(*names, [](const std::string& file) { return !name_of(file); });
    std::vector<PackagePointer> packages;
    for (const std::string& file : in_order(*std::move(names))) {
        const auto begin = std::chrono::steady_clock::now();
        const auto bytes = read(installed_ + "/" + file);
        const auto package = bytes ? Package::read(*bytes) : Result<PackagePointer>(bytes.error());
        if (!package) {
            miss(installed_ + "/" + file, package.error());
            continue;
        }
        packages.push_back(*package);
        const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
            std::chrono::steady_clock::now() - begin);
        log_info(fmt::format("package {}: {} resources loaded in {} ms", (*package)->name().text(),
                             (*package)->resources().size(), took.count()));
    }
    publish(std::move(packages));
}

std::shared_ptr<const Packages::Index> Packages::index() const {
    const std::lock_guard lock(mutex_);
    return index_;
}

void Packages::publish(std::vector<PackagePointer> packages) {
    auto index = std::make_shared<Index>();
    index->packages = std::move(packages);
    for (const PackagePointer& package : index->packages) {
        for (std::size_t i = 0; i < package->resources().size(); ++i) {
            index->by_url.emplace(package->resources()[i].url, Place{package, i});
        }
    }
    auto carried = std::make_shared<core::search::Carried>();
    carried->pin = std::make_shared<const std::vector<PackagePointer>>(index->packages);
    for (const PackagePointer& package : index->packages) {
        for (const Package::Resource& resource : package->resources()) {
            const std::size_t number = carried->resources.size();
            if (number < core::search::kCarriedMax &&
                index->by_id.emplace(resource.id, number).second) {
                const TypeId type = find_resource_type(resource.type).value();
                carried->resources.push_back({type, resource.id, resource.text});
                carried->types[type.value] = true;
            }
        }
    }
    index->carried = std::move(carried);
    const std::lock_guard lock(mutex_);
    index_ = std::move(index);
}

Result<terminology::Definition> Packages::Index::find_by_reference(
    std::string_view type, std::string_view reference) const {
    const std::size_t slash = reference.find('/');
    if (slash == std::string_view::npos || reference.substr(0, slash) != type ||
        !by_id.contains(reference.substr(slash + 1))) {
        return terminology::Definition();
    }
    const std::string_view id = reference.substr(slash + 1);
    for (const PackagePointer& package : packages) {
        for (std::size_t i = 0; i < package->resources().size(); ++i) {
            const Package::Resource& resource = package->resources()[i];
            if (resource.type == type && resource.id == id) {
                return package->definition(i);
            }
        }
    }
    return terminology::Definition();
}

Result<terminology::Definition> Packages::find(std::string_view type, std::string_view url,
                                               std::string_view version) const {
    const std::shared_ptr<const Index> now = index();
    const auto [first, last] = now->by_url.equal_range(url);
    const Place* best = nullptr;
    std::size_t best_order = 0;
    for (auto at = first; at != last; ++at) {
        const Package::Resource& resource = at->second.package->resources()[at->second.number];
        if (resource.type != type || (!version.empty() && resource.version != version)) {
            continue;
        }
        const auto order = static_cast<std::size_t>(
            std::find(now->packages.begin(), now->packages.end(), at->second.package) -
            now->packages.begin());
        if (best == nullptr || order > best_order) {
            best = &at->second;
            best_order = order;
        }
    }
    return best == nullptr ? now->find_by_reference(type, url)
                           : best->package->definition(best->number);
}

std::vector<PackagePointer> Packages::installed() const {
    return index()->packages;
}

std::shared_ptr<const core::search::Carried> Packages::carried() const {
    return index()->carried;
}

std::optional<core::search::Carried::Resource> Packages::read(
    TypeId type, std::string_view id, std::shared_ptr<const void>& pin) const {
    const std::shared_ptr<const Index> now = index();
    const auto found = now->by_id.find(id);
    if (found == now->by_id.end() || now->carried->resources[found->second].type != type) {
        return {};
    }
    pin = now->carried;
    return now->carried->resources[found->second];
}

Result<std::string> Packages::read(const std::string& path) const {
    Result<std::string> bytes = storage::read_whole(files_, path, kArchiveBytesMax);
    if (!bytes && bytes.error().code == Errc::corrupt) {
        return Error{Errc::answer_too_costly, "The package is too large"};
    }
    if (!bytes && bytes.error().code == Errc::not_found) {
        // Clients see this error, so it doesn't contain the path.
        return Error{Errc::not_found, "The package's file does not exist"};
    }
    return bytes;
}

Result<PackageName> Packages::offered_name(std::string_view name, std::string_view version) const {
    const Error missing{Errc::not_found, fmt::format("The package {}{}{} is not in packages_dir",
                                                     name, version.empty() ? "" : "#", version)};
    if (!files_.exists(offered_)) {
        return Error(missing);
    }
    ANNALS_TRY(const std::vector<std::string> files, files_.list(offered_));
    std::optional<PackageName> best;
    for (const std::string& file : files) {
        auto own = name_of(file);
        if (own && own->name == name && answers(own->version, version) &&
            (!best || is_older(best->version, own->version))) {
            best = std::move(own);
        }
    }
    if (!best) {
        return Error(missing);
    }
    return *best;
}

Result<Packages::Archive> Packages::fetch(const Wanted& wanted) const {
    Archive archive;
    if (wanted.archive) {
        archive.bytes = *wanted.archive;
    } else {
        ANNALS_TRY(const PackageName offered, offered_name(wanted.name, wanted.version));
        ANNALS_TRY(archive.bytes, read(offered_ + "/" + offered.text() + std::string(kSuffix)));
    }
    ANNALS_TRY(archive.package, Package::read(archive.bytes));
    const PackageName& own = archive.package->name();
    if ((!wanted.name.empty() && own.name != wanted.name) ||
        !answers(own.version, wanted.version)) {
        return Error{Errc::invalid,
                     fmt::format("The archive contains {}, not {}{}{}", own.text(), wanted.name,
                                 wanted.version.empty() ? "" : "#", wanted.version)};
    }
    return archive;
}

// Adds the package's dependencies that aren't installed yet, each once and after its own; then the package. `begun`: the
// packages that this has been called for, because packages may need each other.
Result<void> Packages::take(Archive archive, std::vector<PackagePointer>& begun,
                            std::vector<Archive>& archives) const {
    const PackagePointer package = archive.package;
    begun.push_back(package);
    for (const PackageName& needed : package->dependencies()) {
        const auto is_it = [&](const PackagePointer& own) {
            return own->name().name == needed.name && answers(own->name().version, needed.version);
        };
        const auto now = index();
        if (is_carried(needed) || std::ranges::any_of(now->packages, is_it) ||
            std::ranges::any_of(begun, is_it)) {
            continue;
        }
        if (begun.size() >= kPackagesMax) {
            return Error{Errc::answer_too_costly, "The package has too many dependencies"};
        }
        auto found = fetch({needed.name, needed.version, std::nullopt, false});
        if (!found && found.error().code == Errc::not_found) {
            return Error{Errc::not_computable,
                         fmt::format("{} needs {}, which is not in packages_dir",
                                     package->name().text(), needed.text())};
        }
        if (!found) {
            return std::move(found.error());
        }
        ANNALS_TRY_VOID(take(*std::move(found), begun, archives));
    }
    archives.push_back(std::move(archive));
    return {};
}

// The order file is written first: a name in it that has no package file does no harm.
Result<void> Packages::keep(const std::vector<PackagePointer>& packages, const PackageName& name,
                            std::string_view bytes) {
    ANNALS_TRY_VOID(files_.make_directory(installed_));
    std::string order;
    for (const PackagePointer& package : packages) {
        order += package->name().text() + "\n";
    }
    ANNALS_TRY_VOID(keep_file(std::string(kOrderFile), order));
    return keep_file(name.text() + std::string(kSuffix), bytes);
}

Result<void> Packages::keep_file(const std::string& name, std::string_view bytes) {
    return storage::replace_file(files_, installed_ + "/" + name, bytes);
}

Result<Installation> Packages::install(const Wanted& wanted) {
    // Dependencies come first, so that a crash leaves no package without them, and their definitions don't replace those of
    // the package that needs them.
    std::vector<Archive> archives;
    ANNALS_TRY(Archive first, fetch(wanted));
    const PackagePointer asked = first.package;
    if (wanted.with_dependencies) {
        std::vector<PackagePointer> begun;
        ANNALS_TRY_VOID(take(std::move(first), begun, archives));
    } else {
        archives.push_back(std::move(first));
    }
    std::vector<PackagePointer> packages = installed();
    const auto find = [&packages](const PackageName& name) {
        return std::ranges::find(packages, name,
                                 [](const PackagePointer& package) { return package->name(); });
    };
    const auto added = std::ranges::count_if(archives, [&](const Archive& archive) {
        return find(archive.package->name()) == packages.end();
    });
    if (packages.size() + static_cast<std::size_t>(added) > kPackagesMax) {
        return Error{Errc::answer_too_costly, "Too many packages are installed"};
    }
    Installation done{asked->name(), 0, 0, asked->dependencies()};
    for (const Archive& archive : archives) {
        const PackageName& name = archive.package->name();
        done.skipped += archive.package->skipped();
        const auto own = find(name);
        if (own != packages.end()) {
            const std::string path = installed_ + "/" + name.text() + std::string(kSuffix);
            const bool has_file = files_.exists(path);
            ANNALS_TRY(const std::string kept, has_file ? read(path) : archive.bytes);
            if (kept != archive.bytes || !is_same(**own, *archive.package)) {
                return Error{Errc::conflict,
                             fmt::format("A different {} is already installed", name.text())};
            }
            if (!has_file) {
                // The file has been removed by someone; the package would be missing after a restart.
                ANNALS_TRY_VOID(keep(packages, name, archive.bytes));
            }
            done.skipped += archive.package->resources().size();
            continue;
        }
        packages.push_back(archive.package);
        ANNALS_TRY_VOID(keep(packages, name, archive.bytes));
        publish(packages);
        done.installed += archive.package->resources().size();
        log_info(fmt::format("package {}: {} resources installed", name.text(),
                             archive.package->resources().size()));
    }
    return done;
}

}  // namespace annals::packages
