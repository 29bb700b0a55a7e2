#include "core/interactions/change_reader.h"

#include <algorithm>
#include <limits>

namespace annals::core {

using storage::VersionInfo;

std::vector<VersionInfo> versions_after(const storage::Store& store, std::span<const TypeId> types,
                                        Position after, Position bound, std::size_t count) {
    storage::HistoryQuery query;
    query.order = storage::HistoryOrder::oldest_first;
    query.bound = bound;
    query.count = count;
    if (after.value > 0) {
        query.after.emplace();
        query.after->position = after;
    }
    if (types.empty()) {
        return store.history(query).versions;
    }
    std::vector<VersionInfo> merged;
    for (const TypeId type : types) {
        query.type = type;
        const auto found = store.history(query).versions;
        merged.insert(merged.end(), found.begin(), found.end());
    }
    if (types.size() > 1) {
        std::ranges::sort(merged, {}, &VersionInfo::position);
        merged.resize(std::min(merged.size(), count));
    }
    return merged;
}

std::vector<Change> ChangeReader::read(std::size_t count) {
    const Position bound = store_.last_position();
    if (bound <= reached_) {
        return {};
    }
    std::vector<VersionInfo> versions = versions_after(store_, types_, reached_, bound, count);
    if (versions.size() == count) {
        const Position last = versions.back().position;
        const Position end = store_.commit_end(last);
        if (end > last) {
            const std::vector<VersionInfo> rest = versions_after(
                store_, types_, last, end, std::numeric_limits<std::uint32_t>::max());
            versions.insert(versions.end(), rest.begin(), rest.end());
        }
        reached_ = end;
    } else {
        reached_ = bound;
    }

    std::vector<Change> changes;
    changes.reserve(versions.size());
    Position commit;
    for (const VersionInfo& info : versions) {
        if (info.position > commit) {
            commit = store_.commit_end(info.position);
        }
        changes.push_back({info, commit});
    }
    return changes;
}

}  // namespace annals::core
