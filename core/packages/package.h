// Package: the conformance resources of a FHIR NPM package.
//
// Layer:   core/packages.
// Spec:    FHIR NPM package specification (package/package.json and package/*.json in a gzipped tar archive).
// Threads: const once read, except for the cache of parsed definitions, which has a lock.

#pragma once

#include "core/base/resource_types.h"
#include "core/packages/tarball.h"
#include "core/terminology/source.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace annals::packages {

/// Name and version of a package: "hl7.fhir.us.core" and "3.1.1".
struct PackageName {
    std::string name;
    std::string version;

    bool operator==(const PackageName&) const = default;

    /// "name#version".
    std::string text() const { return name + "#" + version; }
};

/// Whether they can be part of a file name: letters, digits, dots, hyphens, underscores and, in versions, plus signs.
bool is_package_name(std::string_view name);
bool is_package_version(std::string_view version);

/// The system of the tag on a resource that names its package, as name#version.
inline constexpr std::string_view kPackageTag = "urn:annals:package";

/// Whether packages can define resources of a type.
bool may_define(TypeId type) noexcept;

class Package {
  public:
    struct Resource {
        std::string type;
        std::string url;
        std::string version;
        std::string
            id;  ///< the id on this server, made from its own id, its type and the package's name
        std::string
            profile_of;  ///< the resource type that a StructureDefinition constrains; else empty
        std::string
            text;  ///< JSON without white space and narrative, with that id and a tag that names the package
        bool has_codes = false;  ///< whether terminology::has_codes(), for a CodeSystem
    };

    /// Reads a package, without the narratives.
    /// Errors: invalid (not such an archive, no manifest or one without name and version, a file that isn't JSON);
    /// answer_too_costly (too large).
    static Result<std::shared_ptr<const Package>> read(std::string_view archive,
                                                       const TarballLimits& limits = {});

    const PackageName& name() const noexcept { return name_; }

    const std::vector<PackageName>& dependencies() const noexcept { return dependencies_; }

    /// The canonical URL of its implementation guide; empty if it has none.
    const std::string& guide() const noexcept { return guide_; }

    const std::vector<Resource>& resources() const noexcept { return resources_; }

    /// The number of files that aren't installed: examples, resources without a url.
    std::size_t skipped() const noexcept { return skipped_; }

    /// Resource `number`, parsed and cached. Errors: invalid: only if memory is damaged, since the text was parsed before.
    Result<terminology::Definition> definition(std::size_t number) const;

  private:
    Package() = default;
    Result<void> take(std::string_view path, std::string bytes, json::Parser& parser);
    void finish_texts();
    Result<void> take_manifest(json::Value manifest);

    PackageName name_;
    std::vector<PackageName> dependencies_;
    std::string guide_;
    std::vector<Resource> resources_;
    std::vector<std::string>
        metas_;  // while reading: meta of each resource, up to the place of its last tag
    std::size_t skipped_ = 0;
    mutable std::mutex mutex_;
    mutable std::vector<terminology::Definition> parsed_;  // guarded by mutex_
};

using PackagePointer = std::shared_ptr<const Package>;

}  // namespace annals::packages
