// SettleListeners: those that are notified of settled commits and of completed erasures.
//
// Layer:   storage.
// Threads: any; calls are made under a lock, so that none is under way once remove() has returned.

#pragma once

#include "storage/store.h"

#include <mutex>
#include <optional>
#include <vector>

namespace annals::storage {

class SettleListeners {
  public:
    void add(SettleListener& listener) {
        const std::lock_guard lock(mutex_);
        listeners_.push_back(&listener);
    }

    void remove(SettleListener& listener) {
        const std::lock_guard lock(mutex_);
        std::erase(listeners_, &listener);
    }

    void settled(Ticket through, std::optional<Errc> why_not) {
        const std::lock_guard lock(mutex_);
        for (SettleListener* listener : listeners_) {
            listener->settled(through, why_not);
        }
    }

    void erased(Ticket through, std::optional<Errc> why_not) {
        const std::lock_guard lock(mutex_);
        for (SettleListener* listener : listeners_) {
            listener->erased(through, why_not);
        }
    }

  private:
    std::mutex mutex_;  ///< held while listeners are called
    std::vector<SettleListener*> listeners_;
};

}  // namespace annals::storage
