#include "storage/heads_in_flight.h"

#include <utility>

namespace annals::storage {

const HeadsInFlight::Entry* HeadsInFlight::find(const Hash128& key) const noexcept {
    const auto found = entries_.find(key);
    return found != entries_.end() ? &found->second : nullptr;
}

HeadsInFlight::Entry& HeadsInFlight::at(const Hash128& key) {
    if (spares_.empty()) {
        return entries_[key];
    }
    Entries::node_type node = std::move(spares_.back());
    spares_.pop_back();
    node.key() = key;
    node.mapped() = {};
    auto added = entries_.insert(std::move(node));
    if (!added.inserted) {
        spares_.push_back(std::move(added.node));
    }
    return added.position->second;
}

void HeadsInFlight::land(const Hash128& key, Ticket ticket) {
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second.head.ticket != ticket) {
        return;
    }
    if (spares_.size() < kSparesMax) {
        spares_.push_back(entries_.extract(found));
    } else {
        entries_.erase(found);
    }
}

}  // namespace annals::storage
