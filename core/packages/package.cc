#include "core/packages/package.h"

#include "core/base/resource_types.h"
#include "core/utf8.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::packages {

namespace {

constexpr std::size_t kNameBytesMax = 128;
constexpr std::size_t kDependenciesMax = 200;
constexpr std::string_view kFolder = "package/";

// What is looked for by canonical URL.
constexpr std::string_view kTypes[] = {"StructureDefinition",
                                       "ValueSet",
                                       "CodeSystem",
                                       "ConceptMap",
                                       "ImplementationGuide",
                                       "SearchParameter",
                                       "OperationDefinition",
                                       "CapabilityStatement",
                                       "CompartmentDefinition",
                                       "NamingSystem",
                                       "StructureMap",
                                       "GraphDefinition",
                                       "MessageDefinition",
                                       "Questionnaire",
                                       "Library",
                                       "TerminologyCapabilities"};

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_made_of(std::string_view text, std::string_view others) {
    return !text.empty() && text.size() <= kNameBytesMax && is_letter_or_digit(text.front()) &&
           std::all_of(text.begin(), text.end(), [&](char c) {
               return is_letter_or_digit(c) || others.find(c) != std::string_view::npos;
           });
}

/// The resource without its narrative.
std::string without_narrative(json::Value root) {
    std::string text = "{";
    for (const auto [key, value] : root.members()) {
        if (!key.equals("text")) {
            text.append(text.size() > 1 ? "," : "").append(key.raw()).append(":");
            text.append(value.raw());
        }
    }
    return text + "}";
}

}  // namespace

bool is_package_name(std::string_view name) {
    return is_made_of(name, ".-_");
}

bool is_package_version(std::string_view version) {
    return is_made_of(version, ".-_+");
}

Result<void> Package::take_manifest(json::Value manifest) {
    name_ = {manifest["name"].string(), manifest["version"].string()};
    if (!is_package_name(name_.name) || !is_package_version(name_.version)) {
        return Error{Errc::invalid, "The package's manifest says no name and version that can be",
                     ""};
    }
    if (manifest["dependencies"].size() > kDependenciesMax) {
        return Error{Errc::answer_too_costly, "The package has too many dependencies", ""};
    }
    for (const auto [key, value] : manifest["dependencies"].members()) {
        PackageName dependency{key.string(), value.string()};
        if (!is_package_name(dependency.name) || !is_package_version(dependency.version)) {
            return Error{Errc::invalid, "The package's manifest has a dependency that can't be",
                         ""};
        }
        dependencies_.push_back(std::move(dependency));
    }
    return {};
}

Result<void> Package::take(std::string_view path, std::string bytes, json::Parser& parser) {
    if (!path.starts_with(kFolder) || !path.ends_with(".json")) {
        return {};
    }
    const std::string_view file = path.substr(kFolder.size());
    if (file.find('/') != std::string_view::npos || file.starts_with('.')) {
        skipped_ += file.starts_with('.') ? 0 : 1;  // examples and their like
        return {};
    }
    // Some editors put a byte-order mark before everything.
    std::string_view text = bytes;
    if (text.starts_with("\xef\xbb\xbf")) {
        text.remove_prefix(3);
    }
    const Result<json::Document> document = parser.parse(text);
    if (!document || !document->root().is_object()) {
        return Error{
            Errc::invalid,
            fmt::format("The package's file '{}' is no JSON object: {}", core::valid_utf8(file),
                        document ? std::string() : document.error().detail),
            ""};
    }
    const json::Value root = document->root();
    if (file == "package.json") {
        return take_manifest(root);
    }
    Resource resource{root["resourceType"].string(), root["url"].string(), root["version"].string(),
                      ""};
    if (std::find(std::begin(kTypes), std::end(kTypes), resource.type) == std::end(kTypes) ||
        resource.url.empty()) {
        skipped_ += resource.type.empty() ? 0 : 1;
        return {};
    }
    if (resource.type == "ImplementationGuide" && guide_.empty()) {
        guide_ = resource.url;
    }
    resource.text = without_narrative(root);
    resources_.push_back(std::move(resource));
    return {};
}

Result<PackagePointer> Package::read(std::string_view archive, const TarballLimits& limits) {
    const std::shared_ptr<Package> package(new Package());
    json::Parser parser;
    ANNALS_TRY_VOID(read_tarball(archive, limits, [&](std::string_view path, std::string bytes) {
        return package->take(path, std::move(bytes), parser);
    }));
    if (package->name_.name.empty()) {
        return Error{Errc::invalid, "The archive has no package/package.json", ""};
    }
    package->parsed_.resize(package->resources_.size());
    return PackagePointer(package);
}

Result<terminology::Definition> Package::definition(std::size_t number) const {
    const std::lock_guard lock(mutex_);
    terminology::Definition& parsed = parsed_[number];
    if (parsed == nullptr) {
        json::Parser parser;
        ANNALS_TRY(json::Document document, parser.parse(resources_[number].text));
        parsed = std::make_shared<const json::Document>(std::move(document));
    }
    return parsed;
}

}  // namespace annals::packages
