#include "core/bulk/group_members.h"

#include "core/base/resource_types.h"
#include "core/interactions/references.h"
#include "core/search/compartments.h"
#include "storage/store.h"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>

namespace annals::core {

namespace {

constexpr int kGroupDepthMax = 16;
constexpr std::size_t kMembersMax = 1'000'000;

}  // namespace

Result<bool> GroupMembers::advance(const search::Pace& pace) {
    while (next_ < groups_.size()) {
        ANNALS_TRY(const bool read, read_next(pace));
        if (!read || pace.is_over()) {
            return next_ == groups_.size();
        }
    }
    return true;
}

/// False: the Group must be fetched first.
Result<bool> GroupMembers::read_next(const search::Pace& pace) {
    static const TypeId type = *find_resource_type("Group");
    const storage::Store& store = snapshot_.store();
    const Nested group = groups_[next_];
    // To the store, position 0 means the newest version.
    const auto info = snapshot_.position().value == 0
                          ? std::nullopt
                          : store.current(type, group.id, snapshot_.position());
    if (group.depth == 0 && (!info || info->deletion)) {
        return Error{info ? Errc::deleted : Errc::not_found,
                     fmt::format("Group/{} {}", group.id, info ? "was deleted" : "is not known")};
    }
    if (info && pace.defers() && !std::exchange(fetched_, true) &&
        pace.defer(store.unread(std::span(&*info, 1)))) {
        return false;
    }
    fetched_ = false;
    ++next_;
    if (!info || info->deletion) {
        return true;
    }
    const Result<storage::StoredVersion> stored = store.load(*info);
    if (!stored) {
        return stored.error().code == Errc::not_found ? Result<bool>(true)
                                                      : Result<bool>(stored.error());
    }
    ANNALS_TRY(const json::Document document, parser_.parse(stored->body));
    for (const json::Value member : document.root()["member"].elements()) {
        if (member["inactive"].raw() == "true") {
            continue;
        }
        const std::string reference = member["entity"]["reference"].string();
        const auto key = local_reference(reference, base_url_);
        if (key && key->first == search::patient_type()) {
            patients_.emplace(key->second);
        } else if (key && key->first == type && group.depth < kGroupDepthMax &&
                   seen_.emplace(key->second).second) {
            groups_.push_back({std::string(key->second), group.depth + 1});
        }
    }
    if (patients_.size() > kMembersMax) {
        return Error{Errc::too_costly, "The Group has too many members"};
    }
    return true;
}

}  // namespace annals::core
