#include "core/packages/package.h"

#include "codec/json/unicode.h"
#include "core/base/ascii.h"
#include "core/base/digest.h"
#include "core/base/resource_types.h"
#include "core/base/text.h"
#include "core/interactions/submitted_resource.h"
#include "core/terminology/listed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace annals::packages {

namespace {

constexpr std::size_t kNameBytesMax = 128;
constexpr std::size_t kDependenciesMax = 200;
constexpr std::string_view kFolder = "package/";

// Types that are looked up by canonical URL.
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

bool is_made_of(std::string_view text, std::string_view others) {
    return !text.empty() && text.size() <= kNameBytesMax && is_letter_or_digit(text.front()) &&
           std::all_of(text.begin(), text.end(), [&](char c) {
               return is_letter_or_digit(c) || others.find(c) != std::string_view::npos;
           });
}

constexpr std::size_t kIdBytesMax = 64;
constexpr std::size_t kMarkBytes = 17;  // a hyphen and 16 digits

/// The id on this server: readable, the same on every server and after every restart, and practically unique, although two
/// versions of a package have resources with equal ids.
std::string shown_id(std::string_view own, std::string_view type, const PackageName& package) {
    const std::string_view stem =
        is_made_of(own, "-.") ? own.substr(0, kIdBytesMax - kMarkBytes) : type;
    return fmt::format("{}-{:016x}", stem, hash64(own, hash64(type, hash64(package.text()))));
}

/// "meta" without the version, up to the place where the package's tag is added.
std::string begun_meta(json::Value meta) {
    std::string out = R"("meta":{)";
    for (const auto [key, value] : meta.members()) {
        if (!key.equals("versionId") && !key.equals("tag")) {
            out.append(key.raw()).append(":").append(value.raw()).append(",");
        }
    }
    out += R"("tag":[)";
    for (const json::Value tag : meta["tag"].elements()) {
        if (tag.is_object()) {
            out.append(tag.raw()).append(",");
        }
    }
    return out;
}

/// All members except the narrative and those that are rewritten.
std::string other_members(json::Value root) {
    std::string out;
    for (const auto [key, value] : root.members()) {
        if (!key.equals("resourceType") && !key.equals("id") && !key.equals("meta") &&
            !key.equals("text") && !key.equals("_id") && !key.equals("_text")) {
            out.append(",").append(key.raw()).append(":").append(value.raw());
        }
    }
    return out;
}

}  // namespace

bool may_define(TypeId type) noexcept {
    static const std::array<bool, kResourceTypeCount> kDefined = [] {
        std::array<bool, kResourceTypeCount> defined{};
        for (const std::string_view name : kTypes) {
            defined[find_resource_type(name).value().value] = true;
        }
        return defined;
    }();
    return kDefined[type.value];
}

bool is_package_name(std::string_view name) {
    return is_made_of(name, ".-_");
}

bool is_package_version(std::string_view version) {
    return is_made_of(version, ".-_+");
}

Result<void> Package::take_manifest(json::Value manifest) {
    name_ = {manifest["name"].string(), manifest["version"].string()};
    if (!is_package_name(name_.name) || !is_package_version(name_.version)) {
        return Error{Errc::invalid, "The package's manifest has no valid name and version"};
    }
    if (manifest["dependencies"].size() > kDependenciesMax) {
        return Error{Errc::answer_too_costly, "The package has too many dependencies"};
    }
    for (const auto [key, value] : manifest["dependencies"].members()) {
        PackageName dependency{key.string(), value.string()};
        if (!is_package_name(dependency.name) || !is_package_version(dependency.version)) {
            return Error{Errc::invalid, "The package's manifest has an invalid dependency"};
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
        skipped_ += file.starts_with('.') ? 0 : 1;  // examples and the like
        return {};
    }
    std::string_view text = bytes;
    if (text.starts_with(kByteOrderMark)) {
        text.remove_prefix(kByteOrderMark.size());
    }
    const Result<json::Document> document = core::parse_plain(parser, text, false);
    if (!document || !document->root().is_object()) {
        return Error{
            Errc::invalid,
            fmt::format("The package's file '{}' is not a JSON object{}", json::valid_utf8(file),
                        document ? std::string() : ": " + document.error().detail)};
    }
    const json::Value root = document->root();
    if (file == "package.json") {
        return take_manifest(root);
    }
    Resource resource{root["resourceType"].string(),
                      root["url"].string(),
                      root["version"].string(),
                      root["id"].string(),
                      "",
                      ""};
    if (std::find(std::begin(kTypes), std::end(kTypes), resource.type) == std::end(kTypes) ||
        resource.url.empty()) {
        skipped_ += resource.type.empty() ? 0 : 1;
        return {};
    }
    if (resource.type == "ImplementationGuide" && guide_.empty()) {
        guide_ = resource.url;
    }
    if (resource.type == "StructureDefinition" && root["kind"].equals("resource") &&
        root["derivation"].equals("constraint")) {
        resource.profile_of = root["type"].string();
    }
    resource.has_codes = resource.type == "CodeSystem" && terminology::has_codes(root);
    resource.text = other_members(root);
    resources_.push_back(std::move(resource));
    metas_.push_back(begun_meta(root["meta"]));
    return {};
}

// Called when all files have been read, since the manifest may be the last one.
void Package::finish_texts() {
    for (std::size_t i = 0; i < resources_.size(); ++i) {
        Resource& resource = resources_[i];
        resource.id = shown_id(resource.id, resource.type, name_);
        resource.text = fmt::format(
            R"({{"resourceType":"{}","id":"{}",{}{{"system":"{}","code":"{}"}}]}}{}}})",
            resource.type, resource.id, metas_[i], kPackageTag, name_.text(), resource.text);
    }
    metas_ = std::vector<std::string>();  // {} would keep the memory allocated
}

Result<PackagePointer> Package::read(std::string_view archive, const TarballLimits& limits) {
    const std::shared_ptr<Package> package(new Package());
    json::Parser parser;
    ANNALS_TRY_VOID(read_tarball(archive, limits, [&](std::string_view path, std::string bytes) {
        return package->take(path, std::move(bytes), parser);
    }));
    if (package->name_.name.empty()) {
        return Error{Errc::invalid, "The archive has no package/package.json"};
    }
    package->finish_texts();
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
