#include "core/interactions/shown_history.h"

namespace annals::core {

namespace {

/// How many versions are requested at a time.
constexpr std::size_t kVersionsAtOnce = 64;

/// How many versions are skipped between two checks of the clock.
constexpr std::uint64_t kPassedAtOnce = 8192;

bool is_by_position(storage::HistoryOrder order) noexcept {
    return order == storage::HistoryOrder::newest_first ||
           order == storage::HistoryOrder::oldest_first;
}

}  // namespace

ShownHistory::ShownHistory(const storage::Store& store, const ScopedView& view,
                           const storage::HistoryQuery& query, std::optional<Instant> at)
    : store_(store),
      view_(view),
      query_(query),
      at_(at),
      fills_(query.count > 0),
      // The first page is filled while all are counted, if its order costs nothing extra.
      counts_(!query.total && ((!query.after && is_by_position(query.order)) || query.count == 0)),
      then_counts_(!query.total && !counts_),
      skip_(query.skip),
      after_(counts_ ? std::nullopt : query.after) {
    page_.total = query.total.value_or(0);
}

Result<bool> ShownHistory::advance(const search::Pace& pace) {
    while (fills_ || counts_) {
        if (!walk_) {
            storage::HistoryQuery query = query_;
            query.after = after_;
            query.skip = 0;
            query.count = kVersionsAtOnce;
            query.total = 0;  // The store's total includes what is not shown, so it isn't needed.
            if (!fills_ && !is_by_position(query.order)) {
                query.order = storage::HistoryOrder::newest_first;
            }
            walk_.emplace(store_.walk_history(query));
        }
        if (walk_->advance(kPassedAtOnce)) {
            if (must_fetch(pace)) {
                return false;
            }
            if (!take(walk_->page(), pace)) {
                return false;
            }
            walk_.reset();
            asked_ = 0;
            taken_ = 0;
        }
        if (pace.is_over()) {
            return !fills_ && !counts_;
        }
    }
    return true;
}

/// Whether what is needed next is only on the device, which ends the turn.
bool ShownHistory::must_fetch(const search::Pace& pace) {
    if (view_.is_whole() || !pace.defers()) {
        return false;
    }
    if (asked_ == 0) {
        ++asked_;
        if (pace.defer(store_.unread(walk_->page().versions))) {
            return true;
        }
    }
    return asked_++ == 1 && pace.defer(store_.unread(deleted()));
}

/// The versions deleted by the deletions found.
std::vector<storage::VersionInfo> ShownHistory::deleted() {
    std::vector<storage::VersionInfo> versions;
    for (const storage::VersionInfo& info : walk_->page().versions) {
        if (!info.deletion) {
            continue;
        }
        const Result<storage::StoredVersion> deletion = store_.load(info);
        const auto before = deletion ? deleted_by(store_, info, deletion->id) : std::nullopt;
        if (before) {
            versions.push_back(*before);
        }
    }
    return versions;
}

bool ShownHistory::shows(const storage::VersionInfo& info) const {
    return (!at_ || store_.was_live_at(info, *at_, query_.bound)) && view_.shows(info);
}

/// False: the turn is over before the last one. Checking scopes parses bodies, which may be large.
bool ShownHistory::take(const storage::HistoryPage& found, const search::Pace& pace) {
    while (taken_ < found.versions.size()) {
        const storage::VersionInfo& info = found.versions[taken_++];
        if (shows(info)) {
            take(info);
        }
        if (pace.is_over() && taken_ < found.versions.size()) {
            return false;
        }
    }
    if (!found.versions.empty()) {
        after_ = found.versions.back();
    }
    if (!found.more || (!counts_ && page_.more)) {
        fills_ = false;
        counts_ = then_counts_;
        then_counts_ = false;
        after_.reset();
    }
    return true;
}

void ShownHistory::take(const storage::VersionInfo& info) {
    page_.total += counts_ ? 1 : 0;
    if (!fills_) {
        return;
    }
    if (skip_ > 0) {
        --skip_;
    } else if (page_.versions.size() == query_.count) {
        page_.more = true;
    } else {
        page_.versions.push_back(info);
    }
}

}  // namespace annals::core
