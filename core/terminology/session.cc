#include "core/terminology/session.h"

#include "core/canonical.h"

#include <fmt/format.h>

namespace annals::terminology {

namespace {

const std::string* named(const TextMap<std::string>& versions, std::string_view system) {
    if (versions.empty()) {
        return nullptr;
    }
    const auto found = versions.find(system);
    return found == versions.end() ? nullptr : &found->second;
}

}  // namespace

Result<Definition> Session::find(std::string_view type, std::string_view url,
                                 std::string_view version) {
    std::string name;
    name.reserve(type.size() + url.size() + version.size() + 2);
    name.append(type).append("|").append(url).append("|").append(version);
    if (const auto known = by_name_.find(name); known != by_name_.end()) {
        return looks_[known->second].found;
    }
    ANNALS_TRY_VOID(effort_.spend(kStepsPerDefinition));
    ANNALS_TRY(Definition found, source_.find(type, url, version));
    by_name_.emplace(std::move(name), looks_.size());
    looks_.push_back({std::string(type), std::string(url), std::string(version), found});
    return found;
}

Result<CodeSystemPointer> Session::code_system(std::string_view system, std::string_view version) {
    const core::Canonical canonical = core::split_canonical(system);
    version = version.empty() ? canonical.version : version;
    const std::string* const demanded = named(versions_.demanded, canonical.url);
    if (const std::string* const forced = named(versions_.forced, canonical.url)) {
        version = *forced;
    } else if (version.empty()) {
        const std::string* const preferred = named(versions_.preferred, canonical.url);
        const std::string* const meant = preferred != nullptr ? preferred : demanded;
        version = meant != nullptr ? *meant : version;
    }
    std::string name(canonical.url);
    name.append("|").append(version);
    if (const auto known = code_systems_.find(name); known != code_systems_.end()) {
        return known->second;
    }
    ANNALS_TRY(const Definition found, find("CodeSystem", canonical.url, version));
    CodeSystemPointer made;
    if (found != nullptr) {
        ANNALS_TRY(made, code_system_of(found, effort_));
    }
    if (demanded != nullptr && made != nullptr && made->version() != *demanded) {
        return Error{Errc::not_computable,
                     fmt::format("The version {} of {} is required, but {} would be used",
                                 *demanded, canonical.url, made->version()),
                     "",
                     {},
                     std::string(canonical.url)};
    }
    code_systems_.emplace(std::move(name), made);
    return made;
}

Result<ValueSetPointer> Session::value_set(std::string_view canonical) {
    std::string name(canonical);
    if (const auto known = value_sets_.find(name); known != value_sets_.end()) {
        return known->second;
    }
    const core::Canonical parts = core::split_canonical(canonical);
    ANNALS_TRY(const Definition found, find("ValueSet", parts.url, parts.version));
    ValueSetPointer made;
    if (found != nullptr) {
        ANNALS_TRY(made, value_set_of(found, effort_));
    }
    value_sets_.emplace(std::move(name), made);
    return made;
}

Result<ValueSetPointer> Session::readable_value_set(std::string_view canonical) {
    Result<ValueSetPointer> found = value_set(canonical);
    return !found && found.error().code == Errc::not_computable ? ValueSetPointer()
                                                                : std::move(found);
}

}  // namespace annals::terminology
