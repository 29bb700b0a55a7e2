// Loop::Waiters: the coroutines of a loop that wait for the store, and how they are resumed when a batch has settled.
//
// Layer:   core; of loop.cc alone.
// Threads: note() from any, the rest the loop's.

#pragma once

#include "core/loop.h"
#include "storage/dropped_tickets.h"

#include <asio/async_result.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {

/// A coroutine that waits for news; lives in its frame. Cancelling the timer ends the wait, for whatever reason.
struct Watcher {
    Position seen;
    asio::steady_timer timer;
};

/// The coroutines that wait for tickets to settle or for news.
struct Loop::Waiters {
    using ResumeHandler =
        asio::async_result<asio::use_awaitable_t<>, void(Result<void>)>::handler_type;

    /// A waiting coroutine. The initiation of the wait is stored in the coroutine's frame, so waiting allocates nothing.
    struct Waiter {
        Waiters* waiters;
        storage::Ticket ticket;
        Meanwhile* meanwhile = nullptr;
        std::optional<ResumeHandler> resume = std::nullopt;
        Waiter* next = nullptr;

        void operator()(ResumeHandler handler) { waiters->begin(*this, std::move(handler)); }
    };

    Waiters(asio::io_context& of, std::string_view lost) : context(of), text_of_failure(lost) {}

    asio::io_context& context;
    const std::string_view text_of_failure;
    std::mutex mutex;
    std::atomic<storage::Ticket> through{};  // changed under mutex
    storage::DroppedTickets dropped;         // guarded by mutex, like all up to `wake_posted`
    bool anyone = false;
    bool watched = false;  ///< `watchers` has one
    bool wake_posted = false;

    // Used by the loop's thread only.
    Waiter* first = nullptr;
    Waiter* last = nullptr;
    /// The first waiter with work to do meanwhile; those before it have none.
    Waiter* unprepared = nullptr;
    std::vector<Watcher*> watchers;
    bool waits_ended = false;

    void push(Waiter& waiter) noexcept {
        (last == nullptr ? first : last->next) = &waiter;
        last = &waiter;
        if (unprepared == nullptr && waiter.meanwhile != nullptr) {
            unprepared = &waiter;
        }
    }

    /// Runs the `meanwhile` of all waiters added since the last call.
    void prepare() {
        for (Waiter* waiter = std::exchange(unprepared, nullptr); waiter != nullptr;
             waiter = waiter->next) {
            if (Meanwhile* const meanwhile = std::exchange(waiter->meanwhile, nullptr)) {
                meanwhile->prepare();
            }
        }
    }

    /// The outcome of a settled ticket. Requires: `mutex` is held.
    Result<void> outcome_of(storage::Ticket ticket) const {
        if (const auto why = dropped.why(ticket)) {
            return Error{*why, std::string(text_of_failure)};
        }
        return {};
    }

    static asio::awaitable<Result<void>> ready(Result<void> result) { co_return result; }

    /// Waits until `ticket` has settled; returns at once if it has.
    asio::awaitable<Result<void>> wait(storage::Ticket ticket, Meanwhile* meanwhile) {
        if (ticket <= through.load(std::memory_order_acquire)) {
            const std::lock_guard lock(mutex);
            return ready(outcome_of(ticket));
        }
        return asio::async_initiate<const asio::use_awaitable_t<>, void(Result<void>)>(
            Waiter{this, ticket, meanwhile}, asio::use_awaitable);
    }

    /// Called once the coroutine is suspended. If the ticket has settled since wait(), the result is posted.
    void begin(Waiter& waiter, ResumeHandler handler) {
        const std::lock_guard lock(mutex);
        if (waiter.ticket > through.load(std::memory_order_relaxed)) {
            anyone = true;
            waiter.resume.emplace(std::move(handler));
            push(waiter);
            return;
        }
        asio::post(context,
                   [resume = std::move(handler), outcome = outcome_of(waiter.ticket)]() mutable {
                       resume(std::move(outcome));
                   });
    }

    /// Returns whether the caller must post wake().
    bool note(storage::Ticket now, std::optional<Errc> why_not) {
        const std::lock_guard lock(mutex);
        const storage::Ticket before = through.load(std::memory_order_relaxed);
        if (why_not && now > before) {  // A retry that fails again has been reported already.
            dropped.add({before.value + 1}, now, *why_not);
        }
        through.store(std::max(before, now), std::memory_order_release);
        const bool post = (anyone || watched) && !wake_posted;
        wake_posted = wake_posted || post;
        return post;
    }

    /// A handler owns its coroutine's frame, and the frame holds the handler. Moved out and destroyed, the handler passes the
    /// frame to the context, which destroys it.
    void abandon() {
        Waiter* waiter = first;
        while (waiter != nullptr) {
            Waiter* next = waiter->next;
            const ResumeHandler abandoned = std::move(*waiter->resume);
            waiter->resume.reset();
            waiter = next;
        }
    }

    /// Resumes the waiters whose tickets have settled, in the order in which they came.
    void wake() {
        Waiter* ready = nullptr;
        Waiter** ready_end = &ready;
        bool all_well = true;
        {
            const std::lock_guard lock(mutex);
            wake_posted = false;
            all_well = dropped.empty();
            const storage::Ticket settled = through.load(std::memory_order_relaxed);
            Waiter* waiter = std::exchange(first, nullptr);
            last = nullptr;
            unprepared = nullptr;
            while (waiter != nullptr) {
                Waiter* next = std::exchange(waiter->next, nullptr);
                if (waiter->ticket <= settled) {
                    *ready_end = waiter;
                    ready_end = &waiter->next;
                } else {
                    push(*waiter);
                }
                waiter = next;
            }
            anyone = first != nullptr;
        }
        while (ready != nullptr) {
            // The waiter is destroyed with its frame, possibly during the call.
            Waiter* next = ready->next;
            ResumeHandler resume = std::move(*ready->resume);
            ready->resume.reset();
            resume(all_well ? Result<void>() : look_up(ready->ticket));
            ready = next;
        }
    }

    Result<void> look_up(storage::Ticket ticket) {
        const std::lock_guard lock(mutex);
        return outcome_of(ticket);
    }
};

}  // namespace annals::core
