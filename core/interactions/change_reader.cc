#include "core/interactions/change_reader.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace annals::core {

using storage::VersionInfo;

std::vector<Change> ChangeReader::read(std::size_t count) {
    const Position bound = store_.last_position();
    if (bound <= reached_) {
        return {};
    }
    std::vector<VersionInfo> versions = gather(reached_, bound, count);
    if (versions.size() == count) {
        const Position last = versions.back().position;
        const Position end = store_.commit_end(last);
        if (end > last) {
            const std::vector<VersionInfo> rest =
                gather(last, end, std::numeric_limits<std::uint32_t>::max());
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

std::vector<VersionInfo> ChangeReader::gather(Position after, Position bound,
                                              std::size_t count) const {
    storage::HistoryQuery query;
    query.order = storage::HistoryOrder::oldest_first;
    query.bound = bound;
    query.count = count;
    if (after.value > 0) {
        query.after.emplace();
        query.after->position = after;
    }
    if (types_.empty()) {
        return store_.history(query).versions;
    }
    std::vector<VersionInfo> merged;
    for (const TypeId type : types_) {
        query.type = type;
        const auto found = store_.history(query).versions;
        merged.insert(merged.end(), found.begin(), found.end());
    }
    if (types_.size() > 1) {
        std::ranges::sort(merged, {}, &VersionInfo::position);
        merged.resize(std::min(merged.size(), count));
    }
    return merged;
}

}  // namespace annals::core
