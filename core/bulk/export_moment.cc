#include "core/bulk/export_moment.h"

#include <algorithm>
#include <vector>

namespace annals::core {

ExportMoment take_moment(storage::Store& store) {
    ExportMoment moment;
    moment.time = now();
    moment.time.us -= moment.time.us % 1000;
    // It doesn't matter here whether the commit was dropped.
    static_cast<void>(store.wait(store.last_ticket()));
    moment.position = store.last_position();
    return moment;
}

ExportMoment earlier_moment(const storage::Store& store, Position position,
                            const ExportMoment& last) {
    ExportMoment moment{position, last.time};
    const storage::LogScan what{.bound = last.position, .every_version = true};
    std::vector<storage::VersionInfo> found;
    Position after = position;
    while (after < last.position && found.empty()) {
        store.scan(what, after, 1, found);
    }
    if (!found.empty()) {
        moment.time = std::min(moment.time, found.front().instant);
    }
    return moment;
}

}  // namespace annals::core
