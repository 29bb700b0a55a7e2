#include "core/bulk/taken_lines.h"

#include "core/interactions/write.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace annals::core {

void TakenLines::begin(Position position) {
    after_ = position;
    through_ = store_.last_position();
    written_.clear();
}

Position TakenLines::position() const {
    // While lines are read again, the position of the last version found for one.
    return reading_again() && !has_written_ ? after_ : store_.last_position();
}

bool TakenLines::has(TypeId type, std::string_view id, const json::ResourceFacts* facts) {
    std::optional<json::BodyPlan> plan;
    if (facts != nullptr) {
        plan.emplace(*facts, id, json::BodyPlan::Keep{});
    }
    storage::HistoryQuery query;
    query.type = type;
    query.id = id;
    query.order = storage::HistoryOrder::oldest_first;
    query.after.emplace();
    query.after->position = after_;
    query.bound = through_;
    query.count = plan ? 100 : 1;
    const Position erased = first_erased(type, id, !plan);
    storage::HistoryPage page = store_.history(query);
    const bool any = !page.versions.empty();
    while (!page.versions.empty()) {
        for (const storage::VersionInfo& info : page.versions) {
            if (erased.value != 0 && erased < info.position) {
                return take(erased);
            }
            bool same = info.deletion && !plan;
            if (!info.deletion && plan) {
                const auto stored = store_.load(info);
                same = stored && is_body_of(*plan, stored->body);
            }
            if (same) {
                return take(info.position);
            }
        }
        if (!plan || !page.more) {
            break;
        }
        query.after = page.versions.back();
        page = store_.history(query);
    }
    if (erased.value != 0) {
        return take(erased);
    }
    // A repeated deletion makes no version: it was imported if the resource has versions in the range and didn't exist before.
    return !plan && any && !lived_before(type, id);
}

bool TakenLines::take(Position position) {
    after_ = position;
    has_written_ = false;
    return true;
}

// The position of the first erased version of the resource in the range that is (or is not) a deletion; 0: none.
Position TakenLines::first_erased(TypeId type, std::string_view id, bool deletion) {
    if (store_.totals().erased == 0) {
        return {};
    }
    if (written_.empty()) {
        list_written();
    }
    const std::uint64_t key = store_.search_key(type, id);
    auto at = std::ranges::lower_bound(
        written_, std::pair(key, Position{after_.value + 1}), {},
        [](const Written& one) { return std::pair(one.key, one.position); });
    while (at != written_.end() && at->key == key &&
           (at->deletion != deletion || store_.at(at->position))) {
        ++at;
    }
    return at != written_.end() && at->key == key ? at->position : Position{};
}

void TakenLines::list_written() {
    for (Position position{after_.value + 1}; position <= through_; ++position.value) {
        const storage::Store::Trace trace = store_.trace(position);
        written_.push_back({trace.key, position, trace.deletion});
    }
    std::ranges::sort(written_, {},
                      [](const Written& one) { return std::pair(one.key, one.position); });
}

// Whether the resource existed before the range.
bool TakenLines::lived_before(TypeId type, std::string_view id) const {
    if (after_ == Position{}) {
        return false;
    }
    const auto info = store_.current(type, id, after_);
    return info && !info->deletion;
}

bool TakenLines::has(const HistoryEntry& entry) {
    if (!entry.version) {
        return has(entry.type, entry.id, entry.deletion ? nullptr : &entry.facts);
    }
    const auto info = store_.version(entry.type, entry.id, *entry.version);
    if (info && info->position > after_ && info->position <= through_) {
        after_ = info->position;
        has_written_ = false;
    }
    return false;
}

}  // namespace annals::core
