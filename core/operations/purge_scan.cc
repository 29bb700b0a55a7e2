#include "core/operations/purge_scan.h"

#include "core/interactions/answer.h"
#include "core/interactions/references.h"
#include "core/operations/purge.h"
#include "core/search/compartments.h"
#include "core/search/extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace annals::core {

namespace {

constexpr std::uint64_t kPositionsAtOnce = 512;

/// How many versions are visited between checks of the clock.
constexpr std::size_t kLookEvery = 8;

/// The compartment's parameters that name a resource's owner. The others name participants.
constexpr std::string_view kOwners[] = {"patient", "subject", "beneficiary",
                                        "member",  "actor",   "individual"};

/// Searches characters in a body; memmem() is the fastest way.
const char* find_bytes(const char* from, const char* end, std::string_view needle) {
    return static_cast<const char*>(
        ::memmem(from, static_cast<std::size_t>(end - from), needle.data(), needle.size()));
}

/// Whether a character may be escaped by number, so that a search for it could miss it.
bool hides_characters(std::string_view body) {
    for (std::size_t at = 0; (at = body.find('\\', at)) != std::string_view::npos; at += 2) {
        if (body.substr(at + 1, 1) == "u") {
            return true;
        }
    }
    return false;
}

}  // namespace

// ---- the walk ----

const storage::VersionInfo* LogWalk::next(const search::Pace& pace) {
    while (at_ == found_.size()) {
        if (after_ >= store_.last_position()) {
            return nullptr;
        }
        found_.clear();
        at_ = 0;
        store_.scan(what_, after_, kPositionsAtOnce, found_);
        std::erase_if(found_, [this](const storage::VersionInfo& info) { return !wanted_(info); });
        if (pace.defer(store_.unread(found_)) || (found_.empty() && pace.is_over())) {
            return nullptr;
        }
    }
    if (++steps_ % kLookEvery == 0 && pace.is_over()) {
        return nullptr;
    }
    return &found_[at_++];
}

// ---- versions of the patient ----

PatientVersions::PatientVersions(const storage::Store& store,
                                 std::shared_ptr<const search::ParameterSet> parameters,
                                 std::string_view base_url, std::string_view id,
                                 std::size_t count_max)
    : store_(store),
      parameters_(std::move(parameters)),
      base_url_(base_url),
      id_(id),
      needle_("/" + id_),
      patient_(search::patient_type()),
      key_(store.search_key(patient_, id)),
      count_max_(count_max),
      walk_(store, true, [this](const storage::VersionInfo& info) { return is_candidate(info); }),
      reader_(store) {
    for (const TypeId type : search::compartment_members(patient_)) {
        Member& member = members_[type.value];
        member.parameters = search::compartment_parameters(*parameters_, patient_, type);
        for (const search::Parameter* const parameter : member.parameters) {
            if (std::ranges::find(kOwners, parameter->code) != std::end(kOwners)) {
                member.owners.push_back(parameter);
            }
        }
    }
}

Result<bool> PatientVersions::advance(const search::Pace& pace) {
    while (const storage::VersionInfo* const info = walk_.next(pace)) {
        ANNALS_TRY_VOID(look(*info));
    }
    reader_.forget();
    return walk_.at_end();
}

bool PatientVersions::is_candidate(const storage::VersionInfo& info) const {
    return !info.deletion &&
           (info.type == patient_ || !members_[info.type.value].parameters.empty());
}

Result<void> PatientVersions::look(const storage::VersionInfo& info) {
    const Member& member = members_[info.type.value];
    const auto stored = store_.load(info);
    if (!stored) {
        return stored.error().code == Errc::not_found ? Result<void>() : stored.error();
    }
    Share share = Share::none;
    if (info.type != patient_ || stored->id != id_) {
        if (!may_name(stored->body)) {
            return {};
        }
        const json::Value body = reader_.read(info.position);
        if (!body || !names_him(member, info.type, body)) {
            return {};
        }
        share = names_others(member, info.type, body) ? Share::others : Share::none;
    }
    found_[{info.type, std::string(stored->id)}].emplace(info.position, share);
    if (++count_ > count_max_) {
        return Error{Errc::too_costly, fmt::format("More than {} versions refer to {}", count_max_,
                                                   resource_name(patient_, id_))};
    }
    return {};
}

bool PatientVersions::may_name(std::string_view body) const {
    const char* const end = body.data() + body.size();
    for (const char* at = body.data(); (at = find_bytes(at, end, needle_)) != nullptr;) {
        at += needle_.size();
        if (at == end || !is_resource_id({at, 1})) {
            return true;
        }
    }
    return hides_characters(body);
}

bool PatientVersions::names_him(const Member& member, TypeId type, json::Value body) {
    search::Extractor& extractor =
        search::thread_extractor(parameters_, store_.search_seed(), base_url_);
    return std::ranges::any_of(member.parameters, [&](const search::Parameter* parameter) {
        entries_.clear();
        extractor.extract(*parameter, type, body, entries_);
        return std::ranges::any_of(entries_.links,
                                   [&](const auto& link) { return link.target == key_; });
    });
}

bool PatientVersions::names_others(const Member& member, TypeId type, json::Value body) {
    if (type == patient_) {
        return true;
    }
    std::unordered_set<std::uint64_t> others;
    sites_.clear();
    json::find_references(body, sites_);
    for (const json::ReferenceSite& site : sites_) {
        const std::string text = site.value.string();
        const auto named = local_reference(text, base_url_);
        if (named && named->first == patient_ && named->second != id_) {
            others.insert(store_.search_key(patient_, named->second));
        }
    }
    if (others.empty()) {
        return false;
    }
    search::Extractor& extractor =
        search::thread_extractor(parameters_, store_.search_seed(), base_url_);
    return std::ranges::any_of(member.owners, [&](const search::Parameter* parameter) {
        entries_.clear();
        extractor.extract(*parameter, type, body, entries_);
        return std::ranges::any_of(entries_.links,
                                   [&](const auto& link) { return others.contains(link.target); });
    });
}

// ---- references to what goes ----

PurgeReferrers::PurgeReferrers(const storage::Store& store, std::string_view base_url,
                               const std::vector<ResourceName>& gone)
    : store_(store),
      base_url_(base_url),
      walk_(store, false, [](const storage::VersionInfo& info) { return !info.deletion; }),
      reader_(store) {
    for (const auto& [type, id] : gone) {
        gone_.insert(store.search_key(type, id));
    }
}

Result<bool> PurgeReferrers::advance(const search::Pace& pace) {
    while (const storage::VersionInfo* const info = walk_.next(pace)) {
        ANNALS_TRY_VOID(look(*info));
    }
    reader_.forget();
    return walk_.at_end();
}

Result<void> PurgeReferrers::look(const storage::VersionInfo& info) {
    const auto stored = store_.load(info);
    if (!stored) {
        return stored.error().code == Errc::not_found ? Result<void>() : stored.error();
    }
    std::string target = target_of(info, stored->body);
    if (target.empty() || gone_.contains(store_.search_key(info.type, stored->id))) {
        return {};
    }
    ++count_;
    if (found_.size() < kPurgeReferrersTold) {
        found_.push_back({{info.type, std::string(stored->id)}, info.version, std::move(target)});
    }
    return {};
}

std::string PurgeReferrers::target_of(const storage::VersionInfo& info, std::string_view body) {
    constexpr std::string_view kMember = R"("reference":")";
    const char* const end = body.data() + body.size();
    bool hidden = hides_characters(body);
    for (const char* at = body.data(); !hidden && (at = find_bytes(at, end, kMember)) != nullptr;) {
        at += kMember.size();
        const auto* const quote =
            static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
        const std::string_view text(at, quote == nullptr ? end : quote);
        hidden = text.find('\\') != std::string_view::npos;
        if (std::string target = known(text); !target.empty()) {
            return target;
        }
    }
    if (!hidden) {
        return {};
    }
    const json::Value parsed = reader_.read(info.position);
    sites_.clear();
    if (parsed) {
        json::find_references(parsed, sites_);
    }
    for (const json::ReferenceSite& site : sites_) {
        if (site.kind != json::ReferenceSite::Kind::reference) {
            continue;
        }
        if (std::string target = known(site.value.string()); !target.empty()) {
            return target;
        }
    }
    return {};
}

/// The erased resource that a reference leads to; empty if it leads elsewhere.
std::string PurgeReferrers::known(std::string_view reference) const {
    const auto named = referred_resource(reference, base_url_);
    return named && gone_.contains(store_.search_key(named->first, named->second))
               ? resource_name(named->first, named->second)
               : std::string();
}

}  // namespace annals::core
