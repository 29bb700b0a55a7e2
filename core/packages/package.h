// Package: the conformance resources of a FHIR NPM package.
//
// Layer:   core/packages.
// Spec:    FHIR NPM package specification (package/package.json and package/*.json in a gzipped tar archive).
// Threads: Package is const after it was made, but for parsed definitions, which it keeps under a lock.

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

/// What names a package: "hl7.fhir.us.core" and "3.1.1".
struct PackageName {
    std::string name;
    std::string version;

    bool operator==(const PackageName&) const = default;

    /// "name#version".
    std::string text() const { return name + "#" + version; }
};

/// Whether they can stand in the name of a file: letters, digits, dots, hyphens, underscores and (versions) plus signs.
bool is_package_name(std::string_view name);
bool is_package_version(std::string_view version);

/// The system of the tag that names the package of a resource, as name#version.
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
            id;  ///< what it is called on this server, of its own one and of what package it is of
        std::string
            profile_of;  ///< the resource type that a StructureDefinition constrains; else empty
        std::string
            text;  ///< JSON without white space and narrative, with that id and a tag that names the package
        bool has_codes = false;  ///< of a CodeSystem, terminology::has_codes()
    };

    /// Reads a package. Its narratives are dropped.
    /// Errors: invalid: no such archive, a manifest that is missing or says no name and version, a file that is no JSON;
    ///         answer_too_costly: too much in it.
    static Result<std::shared_ptr<const Package>> read(std::string_view archive,
                                                       const TarballLimits& limits = {});

    const PackageName& name() const noexcept { return name_; }

    const std::vector<PackageName>& dependencies() const noexcept { return dependencies_; }

    /// The canonical URL of its implementation guide; empty if it says none.
    const std::string& guide() const noexcept { return guide_; }

    const std::vector<Resource>& resources() const noexcept { return resources_; }

    /// Files that hold nothing that is installed: examples, resources without a url.
    std::size_t skipped() const noexcept { return skipped_; }

    /// The number of a resource, parsed; kept. Errors: invalid, as its text was read before only if memory is damaged.
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
        metas_;  // while it is read: meta of each, up to where its last tag comes
    std::size_t skipped_ = 0;
    mutable std::mutex mutex_;
    mutable std::vector<terminology::Definition> parsed_;  // guarded by mutex_
};

using PackagePointer = std::shared_ptr<const Package>;

}  // namespace annals::packages
