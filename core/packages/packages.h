// Packages: the packages that are installed, and what they define.
//
// Layer:   core/packages.
// Spec:    docs/api/install-package.md; docs/format.md, "Packages".
// Threads: find() and installed() from any thread; install() from one thread at a time; it blocks on disk.

#pragma once

#include "core/packages/package.h"
#include "core/search/snapshot.h"
#include "core/terminology/source.h"
#include "storage/file_system.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace annals::packages {

/// What to install: a package by its name, or an archive.
struct Wanted {
    std::string name;     ///< empty: what the archive says
    std::string version;  ///< empty: the highest there is
    std::optional<std::string> archive;
    bool with_dependencies = false;
};

/// What an installation did.
struct Installation {
    PackageName package;
    std::size_t installed = 0;  ///< resources, of dependencies as well
    std::size_t skipped =
        0;  ///< what was there already, examples, and what can't be found by a url
    std::vector<PackageName> dependencies;
};

/// Their resources are no versions of the store and have no history. Each package is kept as the archive that it came as.
class Packages final : public terminology::Source {
  public:
    /// Reads what was installed before. `installed` is the folder of what is installed, `offered` the one that packages
    /// are installed from. What can't be read is logged and passed over, and loaded() tells of it. Unless it is read only, what an
    /// installation that was cut off has left is removed.
    Packages(storage::FileSystem& files, std::string installed, std::string offered,
             bool read_only);

    /// Whether all that was installed before could be read. Errors: corrupt, with the path of the first that could not.
    const Result<void>& loaded() const noexcept { return loaded_; }

    /// Of several packages the one that was installed last. A reference ("ValueSet/ID") does for `url`, too.
    Result<terminology::Definition> find(std::string_view type, std::string_view url,
                                         std::string_view version) const override;

    /// In the order in which they were installed.
    std::vector<PackagePointer> installed() const;

    /// What searches see of them: their resources in that order, but for those of an id that another one has.
    std::shared_ptr<const core::search::Carried> carried() const;

    /// A resource by its id on this server; none if there is none.
    std::optional<core::search::Carried::Resource> read(TypeId type, std::string_view id,
                                                        std::shared_ptr<const void>& pin) const;

    /// Installs a package, durably, or says that it was there.
    ///
    /// Errors: not_found: no such package is offered; invalid: it is no package, or another than was asked for; conflict: one
    ///         of that name and version, with other content, is there; not_computable: a dependency isn't offered;
    ///         answer_too_costly; no_store, io.
    Result<Installation> install(const Wanted& wanted);

  private:
    struct Place {
        PackagePointer package;
        std::size_t number = 0;
    };

    /// What is installed at one time.
    struct Index {
        std::vector<PackagePointer> packages;
        std::unordered_multimap<std::string_view, Place> by_url;
        std::shared_ptr<const core::search::Carried> carried;
        std::unordered_map<std::string_view, std::size_t> by_id;  ///< into carried

        /// What `reference` ("ValueSet/ID") names, by the id that it has on this server.
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
    Result<void> take_dependencies(const Package& package, std::vector<Archive>& archives) const;

    storage::FileSystem& files_;
    const std::string installed_;
    const std::string offered_;
    Result<void> loaded_;
    mutable std::mutex mutex_;
    std::shared_ptr<const Index> index_;  // guarded by mutex_
};

}  // namespace annals::packages
