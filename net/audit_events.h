// AuditEvents: accesses as AuditEvent resources in the store itself, written in the background.
//
// They are for looking at; what must not be lost is in the audit log's lines. So nobody waits for them: what finds no room is
// counted and left out.
//
// Layer:   net.
// Spec:    FHIR R4 auditevent.html; docs/security.md, "Audit".
// Threads: add() and the counters from any thread; a thread of its own writes.
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

    /// Writes what waits, as far as the store takes it at once.
    ~AuditEvents();
    AuditEvents(const AuditEvents&) = delete;
    AuditEvents& operator=(const AuditEvents&) = delete;

    /// Takes one event, the JSON of an AuditEvent without an id.
    void add(std::string event);

    std::uint64_t written() const noexcept { return written_.load(std::memory_order_relaxed); }

    /// Those that found no room, or that the store would not have.
    std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

  private:
    void run();
    std::vector<std::string> take_batch();
    void write(std::vector<std::string>& events);

    const core::Service& service_;
    const core::Principal writer_;
    const std::size_t batch_max_;
    core::OwnLoop loop_;  ///< of the thread's
    std::atomic<std::uint64_t> written_{0};
    std::atomic<std::uint64_t> dropped_{0};

    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<std::string> waiting_;
    std::size_t bytes_ = 0;  ///< of those that wait and those in hand
    std::size_t count_ = 0;  ///< likewise
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace annals::net
