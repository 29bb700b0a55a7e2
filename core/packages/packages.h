// Packages: the installed packages, and the resources that they define.
//
// Layer:   core/packages.
// Spec:    docs/api/install-package.md; docs/format.md, "Packages".
// Threads: find() and installed() from any thread; install() from one thread at a time; it blocks on disk.

#pragma once

#include "core/base/text_map.h"
#include "core/packages/package.h"
#include "core/search/snapshot.h"
#include "core/terminology/source.h"
#include "storage/file_system.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::packages {

/// What to install: a package by name, or an archive.
struct Wanted {
    std::string name;     ///< empty: as the archive says
    std::string version;  ///< empty: the highest available
    std::optional<std::string> archive;
    bool with_dependencies = false;
};

/// The result of an installation.
struct Installation {
    PackageName package;
    std::size_t installed = 0;  ///< resources, including those of dependencies
    std::size_t skipped =
        0;  ///< resources: those installed before, examples, and those without a url
    std::vector<PackageName> dependencies;
};

/// The resources of packages are not versions in the store and have no history. Each package is kept as its original archive.
class Packages final : public terminology::Source {
  public:
    /// Loads the packages in the folder `installed`; `offered` is the folder that packages are installed from. What can't be
    /// read is logged, skipped and reported by loaded(). Remains of interrupted installations are removed, unless `read_only`.
    Packages(storage::FileSystem& files, std::string installed, std::string offered,
             bool read_only);

    /// Whether all installed packages could be read. Errors: corrupt, with the path of the first that couldn't.
    const Result<void>& loaded() const noexcept { return loaded_; }

    /// If several packages define it, the one installed last takes precedence. `url` can also be a reference ("ValueSet/ID").
    Result<terminology::Definition> find(std::string_view type, std::string_view url,
                                         std::string_view version) const override;

    /// The packages in the order of their installation.
    std::vector<PackagePointer> installed() const;

    /// The resources as seen by searches, in that order; of those with the same id, only one.
    std::shared_ptr<const core::search::Carried> carried() const;

    /// The resource with that id on this server; none if there is none.
    std::optional<core::search::Carried::Resource> read(TypeId type, std::string_view id,
                                                        std::shared_ptr<const void>& pin) const;

    /// Installs a package durably, unless it is installed already.
    ///
    /// Errors: not_found (no such package is offered); invalid (it is no package, or not the requested one); conflict (the same
    /// name and version is installed with other content); not_computable (a dependency isn't offered); answer_too_costly;
    /// no_store, io.
    Result<Installation> install(const Wanted& wanted);

  private:
    struct Place {
        PackagePointer package;
        std::size_t number = 0;
    };

    /// An immutable state of what is installed.
    struct Index {
        std::vector<PackagePointer> packages;
        TextMultimap<Place, std::string_view> by_url;
        std::shared_ptr<const core::search::Carried> carried;
        TextMap<std::size_t, std::string_view> by_id;  ///< into carried

        /// The resource that `reference` ("ValueSet/ID") names by its id on this server.
        Result<terminology::Definition> find_by_reference(std::string_view type,
                                                          std::string_view reference) const;
    };

    struct Archive {
        std::string bytes;
        PackagePointer package;
    };

    void load(bool read_only);
    void remove_unfinished(const std::vector<std::string>& names);
    void miss(const std::string& path, const Error& error);
    void publish(std::vector<PackagePointer> packages);
    std::shared_ptr<const Index> index() const;
    Result<std::string> read(const std::string& path) const;
    Result<Archive> fetch(const Wanted& wanted) const;
    Result<PackageName> offered_name(std::string_view name, std::string_view version) const;
    Result<void> keep(const std::vector<PackagePointer>& packages, const PackageName& name,
                      std::string_view bytes);
    Result<void> keep_file(const std::string& name, std::string_view bytes);
    std::vector<std::string> in_order(std::vector<std::string> files);
    Result<void> take(Archive archive, std::vector<PackagePointer>& begun,
                      std::vector<Archive>& archives) const;

    storage::FileSystem& files_;
    const std::string installed_;
    const std::string offered_;
    Result<void> loaded_;
    mutable std::mutex mutex_;
    std::shared_ptr<const Index> index_;  // guarded by mutex_
};

}  // namespace annals::packages
