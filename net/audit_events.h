// AuditEvents: accesses as AuditEvent resources in the store itself, written in the background.
//
// They are for convenience; the audit log's lines are what must not be lost. So nobody waits for them: events that find
// no room are counted and dropped.
//
// Layer:   net.
// Spec:    FHIR R4 auditevent.html; docs/security.md, "Audit".
// Threads: add() and the counters from any thread; a thread of its own writes to the store.
// Memory:  at most kWaitingMax events of kWaitingBytesMax together, and one batch.

#pragma once

#include "core/access.h"
#include "core/own_loop.h"
#include "core/service.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace annals::net {

class AuditEvents {
  public:
    static constexpr std::size_t kWaitingMax = 16'384;
    static constexpr std::size_t kWaitingBytesMax = 64 << 20;

    /// Lifetime: `service` outlives it.
    explicit AuditEvents(const core::Service& service);

    /// Writes the waiting events, as far as the store accepts them at once.
    ~AuditEvents();
    AuditEvents(const AuditEvents&) = delete;
    AuditEvents& operator=(const AuditEvents&) = delete;

    /// Adds one event, the JSON of an AuditEvent without an id.
    void add(std::string event);

    std::uint64_t written() const noexcept { return written_.load(std::memory_order_relaxed); }

    /// Events for which there was no room, or which the store refused.
    std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

  private:
    void run();
    std::vector<std::string> take_batch();
    void write(std::vector<std::string>& events);

    const core::Service& service_;
    const core::Principal writer_;
    const std::size_t batch_max_;
    core::OwnLoop loop_;  ///< of the writing thread
    std::atomic<std::uint64_t> written_{0};
    std::atomic<std::uint64_t> dropped_{0};

    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<std::string> waiting_;
    std::size_t bytes_ = 0;  ///< of the waiting events and of the current batch
    std::size_t count_ = 0;  ///< likewise
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace annals::net
