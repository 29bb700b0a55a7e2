// Loop::Posts: work that other threads post to a loop, and how they wake it when it sleeps.
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

/// Work posted by other threads. The loop checks for it between two handlers; the system call that wakes it is made only if it
/// sleeps.
struct Loop::Posts {
    /// Throws std::system_error; then nothing is left open.
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

    // Used by the loop's thread only.
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
        // The loop sets `asleep` before its last check of `any`, so either it sees the work, or this sees that it sleeps.
        if (asleep.exchange(false)) {
            const std::uint64_t one = 1;
            static_cast<void>(::write(bell.native_handle(), &one, sizeof one));
        }
    }

    /// Runs the posted work. Returns whether there was any.
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

    /// Returns false if there is work to run.
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
