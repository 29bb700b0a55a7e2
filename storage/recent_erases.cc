#include "storage/recent_erases.h"

#include <algorithm>

namespace annals::storage {

void RecentErases::add(TypeId type, Ticket ticket, std::uint64_t identity) {
    erased_.push_back({identity, ticket, type});
}

void RecentErases::settle(Ticket ticket) {
    std::uint64_t visible = visible_.load(std::memory_order_relaxed);
    while (visible - forgotten_ < erased_.size() &&
           erased_[visible - forgotten_].ticket <= ticket) {
        ++visible;
    }
    visible_.store(visible, std::memory_order_release);
    while (visible - forgotten_ > kKept) {
        erased_.pop_front();
        ++forgotten_;
    }
}

void RecentErases::drop() {
    erased_.resize(visible_.load(std::memory_order_relaxed) - forgotten_);
}

std::optional<Ticket> RecentErases::find(const Guard& guard) const {
    if (!guard.hard_deletes) {
        return std::nullopt;
    }
    if (*guard.hard_deletes < forgotten_) {
        return Ticket{};
    }
    const std::uint64_t visible = visible_.load(std::memory_order_relaxed);
    for (std::uint64_t i = forgotten_ + erased_.size(); i-- > *guard.hard_deletes;) {
        const Erased& erased = erased_[i - forgotten_];
        if ((!guard.type || *guard.type == erased.type) &&
            (guard.terms.empty() || std::ranges::binary_search(guard.terms, erased.identity))) {
            return i < visible ? Ticket{} : erased.ticket;
        }
    }
    return std::nullopt;
}

}  // namespace annals::storage
