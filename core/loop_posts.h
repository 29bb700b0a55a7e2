// Loop::Posts: how other threads have work run on a loop, and wake one that sleeps.
//
// Layer:   core; of loop.cc alone.
// Threads: add() from any, the rest the loop's.

#pragma once

#include "core/loop.h"

#include <asio/buffer.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

namespace annals::core {

/// What other threads want to have run. The loop looks between two handlers, and only one that sleeps is woken by a
/// system call.
struct Loop::Posts {
    /// Throws std::system_error, and nothing is left open then.
    explicit Posts(asio::io_context& context) : bell(context) {
        const int event = make_event();
        asio::error_code failed;
        bell.assign(event, failed);
        if (failed) {
            ::close(event);
            throw std::system_error(failed, "eventfd");
        }
        await_bell();
    }

    std::mutex mutex;
    std::vector<std::function<void()>> work;  // guarded by mutex
    std::atomic<bool> any{false};             ///< `work` has something; changed under mutex
    std::atomic<bool> asleep{false};

    // The loop's thread alone.
    std::vector<std::function<void()>> running;
    asio::posix::stream_descriptor bell;
    std::uint64_t rings = 0;

    static int make_event() {
        const int event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (event < 0) {
            throw std::system_error(errno, std::generic_category(), "eventfd");
        }
        return event;
    }

    void await_bell() {
        bell.async_read_some(asio::buffer(&rings, sizeof rings),
                             [this](const asio::error_code& error, std::size_t) {
                                 if (!error) {
                                     await_bell();
                                 }
                             });
    }

    void add(std::function<void()> more) {
        {
            const std::lock_guard lock(mutex);
            work.push_back(std::move(more));
            any.store(true);
        }
        // The loop says that it sleeps before it looks for the last time: one of the two sees the other.
        if (asleep.exchange(false)) {
            const std::uint64_t one = 1;
            static_cast<void>(::write(bell.native_handle(), &one, sizeof one));
        }
    }

    /// True if there was something.
    bool run() {
        if (!any.load(std::memory_order_acquire)) {
            return false;
        }
        {
            const std::lock_guard lock(mutex);
            running.swap(work);
            any.store(false, std::memory_order_relaxed);
        }
        for (std::function<void()>& each : running) {
            std::exchange(each, nullptr)();
        }
        running.clear();
        return true;
    }

    /// False if there is something to run.
    bool fall_asleep() {
        asleep.store(true);
        if (any.load()) {
            wake_up();
            return false;
        }
        return true;
    }

    void wake_up() { asleep.store(false, std::memory_order_relaxed); }
};

}  // namespace annals::core
