#include "core/subscriptions/pings.h"

namespace annals::core {

std::shared_ptr<const Pings::Counter> Pings::bind(std::string_view id) {
    const std::lock_guard lock(mutex_);
    std::erase_if(counters_, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<Counter>& kept = counters_[std::string(id)];
    std::shared_ptr<Counter> counter = kept.lock();
    if (counter == nullptr) {
        counter = std::make_shared<Counter>(0);
        kept = counter;
    }
    return counter;
}

bool Pings::is_bound(std::string_view id) const {
    const std::lock_guard lock(mutex_);
    const auto found = counters_.find(id);
    return found != counters_.end() && !found->second.expired();
}

void Pings::ping(std::string_view id) {
    const std::lock_guard lock(mutex_);
    const auto found = counters_.find(id);
    if (const auto counter = found == counters_.end() ? nullptr : found->second.lock()) {
        counter->fetch_add(1, std::memory_order_release);
        untold_ = true;
    }
}

void Pings::tell() {
    const std::lock_guard lock(mutex_);
    if (!untold_) {
        return;
    }
    untold_ = false;
    for (Listener* listener : listeners_) {
        listener->pinged();
    }
}

void Pings::add(Listener& listener) {
    const std::lock_guard lock(mutex_);
    listeners_.push_back(&listener);
}

void Pings::remove(Listener& listener) {
    const std::lock_guard lock(mutex_);
    std::erase(listeners_, &listener);
}

}  // namespace annals::core
