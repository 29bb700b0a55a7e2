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

/// How many members are taken between two checks of the clock.
constexpr std::size_t kMembersAtOnce = 256;

}  // namespace

TypeId group_type() {
    static const TypeId kType = *find_resource_type("Group");
    return kType;
}

Result<bool> GroupMembers::advance(const search::Pace& pace) {
    while (members_ || next_ < groups_.size()) {
        ANNALS_TRY(const bool goes_on, members_ ? take_members(pace) : read_next(pace));
        if (!goes_on || pace.is_over()) {
            return !members_ && next_ == groups_.size();
        }
    }
    return true;
}

/// False: the Group must be fetched first.
Result<bool> GroupMembers::read_next(const search::Pace& pace) {
    const TypeId type = group_type();
    const storage::Store& store = snapshot_.store();
    const Nested& group = groups_[next_];
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
    ANNALS_TRY(group_, parser_.parse(stored->body));
    members_ = group_.root()["member"].elements();
    return true;
}

/// False: the turn is over, perhaps before the last one.
Result<bool> GroupMembers::take_members(const search::Pace& pace) {
    auto& [first, last] = *members_;
    for (std::size_t taken = 1; first != last; ++taken) {
        ANNALS_TRY_VOID(take(*first));
        ++first;
        if (taken % kMembersAtOnce == 0 && pace.is_over()) {
            return false;
        }
    }
    members_.reset();
    group_ = {};
    return true;
}

Result<void> GroupMembers::take(json::Value member) {
    if (member["inactive"].raw() == "true") {
        return {};
    }
    const std::string reference = member["entity"]["reference"].string();
    const auto key = local_reference(reference, base_url_);
    const int depth = groups_[next_ - 1].depth;
    if (key && key->first == search::patient_type()) {
        patients_.emplace(key->second);
    } else if (key && key->first == group_type() && depth < kGroupDepthMax) {
        const auto [id, is_new] = seen_.emplace(key->second);
        if (is_new) {
            groups_.push_back({*id, depth + 1});
        }
    }
    const std::size_t below = groups_.size() - 1;
    return patients_.size() + below > kMembersMax
               ? Result<void>(Error{Errc::too_costly, "The Group has too many members"})
               : Result<void>();
}

}  // namespace annals::core
