#include "core/bulk/taken_lines.h"

#include "core/interactions/write.h"

#include <optional>

namespace annals::core {

void TakenLines::begin(Position position) {
    after_ = position;
    through_ = store_.last_position();
}

Position TakenLines::position() const {
    // While lines are read again, what they became before.
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
    storage::HistoryPage page = store_.history(query);
    const bool any = !page.versions.empty();
    while (!page.versions.empty()) {
        for (const storage::VersionInfo& info : page.versions) {
            bool same = info.deletion && !plan;
            if (!info.deletion && plan) {
                const auto stored = store_.load(info);
                same = stored && is_body_of(*plan, stored->body);
            }
            if (same) {
                after_ = info.position;
                has_written_ = false;
                return true;
            }
        }
        if (!plan || !page.more) {
            break;
        }
        query.after = page.versions.back();
        page = store_.history(query);
    }
    // A deletion has no facts, and made a version of what stood right before it alone: none of what did not live.
    return !plan && any && !lived_before(type, id);
}

// Before what the lines that are read again have become.
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
