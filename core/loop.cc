#include "core/loop.h"

#include "core/base/log.h"
#include "core/body.h"
#include "core/loop_posts.h"
#include "core/loop_waiters.h"

#include <asio/co_spawn.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace annals::core {

namespace {

using Clock = std::chrono::steady_clock;

/// The longest time that gathered commits wait in a loop that is never idle: about one round of two hundred clients.
constexpr std::chrono::milliseconds kFlushDelayMax{3};

/// How often a loop that is never idle checks kFlushDelayMax.
constexpr std::chrono::milliseconds kFlushLookInterval{1};

/// The number of handlers run between two checks of the clock.
constexpr unsigned kHandlersPerClockLook = 8;

/// An error whose text is told. For its status tell_failure() would give a general one, which says that nothing was written;
/// that would be wrong of an erasure.
Error bytes_left(Error error) {
    error.others.push_back({error.code, error.detail, ""});
    return error;
}

}  // namespace

/// The fetches that the store is carrying out for this loop.
struct Loop::Fetches {
    std::mutex mutex;
    std::condition_variable ended;
    std::size_t under_way = 0;

    /// Calls `done` on `loop` once `what`, a Position or mapped bytes, is in memory.
    template <typename What, typename Done>
    void begin(const storage::Store& store, Loop& loop, What what, Done done) {
        {
            const std::lock_guard lock(mutex);
            ++under_way;
        }
        store.fetch(what, [this, &loop, done] {
            // Holds the lock to the end: once the last fetch has ended, this object may be destroyed.
            const std::lock_guard lock(mutex);
            loop.post(done);
            if (--under_way == 0) {
                ended.notify_all();
            }
        });
    }

    /// Returns once all of `parts`, Positions or mapped bytes, are in memory.
    template <typename What>
    asio::awaitable<void> run(const storage::Store& store, Loop& loop, std::vector<What> parts) {
        // The last fetch cancels the timer; there is no other limit.
        asio::steady_timer all(loop.context(), Clock::time_point::max());
        std::size_t left = parts.size();
        for (const What part : parts) {
            begin(store, loop, part, [&all, &left] {
                if (--left == 0) {
                    all.cancel();
                }
            });
        }
        while (left != 0) {
            asio::error_code cancelled;
            co_await all.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
        }
    }

    void await_end() {
        std::unique_lock lock(mutex);
        ended.wait(lock, [this] { return under_way == 0; });
    }
};

Loop::Loop(storage::Store& store)
    : store_(store),
      context_(ASIO_CONCURRENCY_HINT_UNSAFE),  // used by its own thread only: no locks
      posts_(std::make_unique<Posts>(context_)),
      waiters_(std::make_unique<Waiters>(context_,
                                         "the write was not made durable and has been dropped")),
      erased_(std::make_unique<Waiters>(context_,
                                        "it is erased and can no longer be read, but its bytes "
                                        "could not be removed from the disk yet")),
      fetches_(std::make_unique<Fetches>()) {
    store_.add_listener(*this);
}

Loop::~Loop() {
    store_.remove_listener(*this);
    fetches_->await_end();
    waiters_->abandon();
    erased_->abandon();
}

void Loop::run() {
    const auto work = asio::make_work_guard(context_);
    Clock::time_point looked = Clock::now();
    unsigned handlers = 0;
    while (!stopping_.load(std::memory_order_relaxed)) {
        const bool posted = posts_->run();
        if (context_.poll_one() != 0 || posted) {
            if (++handlers % kHandlersPerClockLook == 0) {
                const Clock::time_point time = Clock::now();
                if (time - looked >= kFlushLookInterval) {
                    store_.flush_older(kFlushDelayMax);
                    looked = time;
                }
            }
            continue;
        }
        store_.flush_idle();
        waiters_->prepare();
        if (posts_->fall_asleep()) {
            context_.run_one();
            posts_->wake_up();
        }
        looked = Clock::now();
    }
    store_.flush();
    stopping_.store(false, std::memory_order_relaxed);
}

void Loop::stop() {
    stopping_.store(true, std::memory_order_relaxed);
    post([] {});
}

void Loop::post(std::function<void()> work) {
    posts_->add(std::move(work));
}

asio::awaitable<Result<void>> Loop::settled_ticket(storage::Ticket ticket, Meanwhile* meanwhile) {
    return waiters_->wait(ticket, meanwhile);
}

asio::awaitable<Result<void>> Loop::erased_ticket(storage::Ticket ticket) {
    Result<void> settled = co_await settled_ticket(ticket);
    if (!settled) {
        co_return settled;
    }
    Result<void> erased = co_await erased_->wait(ticket, nullptr);
    if (!erased) {
        erased = bytes_left(std::move(erased.error()));
    }
    co_return erased;
}

asio::awaitable<Result<void>> Loop::all_erased() {
    Result<storage::Ticket> unfinished = store_.unfinished_erasure();
    if (unfinished && unfinished->value != 0) {
        // What this is told would remain a failure even after a retry that succeeds.
        static_cast<void>(co_await erased_->wait(*unfinished, nullptr));
        unfinished = store_.unfinished_erasure();
    }
    if (!unfinished) {
        co_return bytes_left({unfinished.error().code,
                              "nothing of it can be read, but bytes of what was erased before "
                              "could not be removed from the disk yet"});
    }
    co_return Result<void>();
}

asio::awaitable<void> Loop::fetched(std::vector<Position> positions) {
    return fetches_->run(store_, *this, std::move(positions));
}

asio::awaitable<void> Loop::fetched(std::span<const storage::VersionInfo> versions) {
    if (std::vector<Position> unread = store_.unread(versions); !unread.empty()) {
        co_await fetched(std::move(unread));
    }
}

asio::awaitable<void> Loop::fetched(std::string_view mapped) {
    if (!store_.in_memory(mapped)) {
        co_await fetches_->run(store_, *this, std::vector{mapped});
    }
}

asio::awaitable<void> Loop::fetched_next(BodySource& source) {
    if (std::vector<Position> unread = source.unread(); !unread.empty()) {
        co_await fetched(std::move(unread));
    }
    if (const std::string_view unread = source.unread_bytes(); !unread.empty()) {
        co_await fetched(unread);
    }
}

asio::awaitable<void> Loop::yield() {
    co_await asio::post(context_, asio::use_awaitable);
}

asio::awaitable<bool> Loop::news_after(Position seen, std::chrono::milliseconds limit) {
    const auto end = Clock::now() + limit;
    Watcher watcher{seen, asio::steady_timer(context_)};
    while (store_.last_position() <= seen && !waiters_->waits_ended && Clock::now() < end) {
        waiters_->watchers.push_back(&watcher);
        {
            const std::lock_guard lock(waiters_->mutex);
            waiters_->watched = true;
        }
        // A version that became visible before the flag was set is seen here; a later one wakes us.
        if (store_.last_position() <= seen) {
            watcher.timer.expires_at(end);
            asio::error_code cancelled;
            co_await watcher.timer.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
        }
        std::erase(waiters_->watchers, &watcher);
    }
    co_return store_.last_position() > seen;
}

void Loop::end_waits() {
    waiters_->waits_ended = true;
    wake_watchers();
}

void Loop::wake_watchers() {
    const Position visible = store_.last_position();
    bool watched = false;
    for (Watcher* watcher : waiters_->watchers) {
        if (visible > watcher->seen || waiters_->waits_ended) {
            watcher->timer.cancel();
        } else {
            watched = true;
        }
    }
    const std::lock_guard lock(waiters_->mutex);
    waiters_->watched = watched;
}

asio::awaitable<void> Loop::pause(std::chrono::milliseconds time) {
    asio::steady_timer timer(context_);
    timer.expires_after(time);
    co_await timer.async_wait(asio::use_awaitable);
}

void Loop::settled(storage::Ticket through, std::optional<Errc> why_not) noexcept {
    if (waiters_->note(through, why_not)) {
        post([this] {
            waiters_->wake();
            if (!waiters_->watchers.empty()) {
                wake_watchers();
            }
        });
    }
}

void Loop::erased(storage::Ticket through, std::optional<Errc> why_not) noexcept {
    if (erased_->note(through, why_not)) {
        post([waiters = erased_.get()] { waiters->wake(); });
    }
}

void spawn(Loop& loop, const char* name, asio::awaitable<void> task) {
    asio::co_spawn(loop.context(), std::move(task), [name](const std::exception_ptr& failure) {
        if (failure == nullptr) {
            return;
        }
        try {
            std::rethrow_exception(failure);
        } catch (const std::exception& error) {
            log_error(fmt::format("coroutine {} ended by an exception: {}", name, error.what()));
        } catch (...) {
            log_error(fmt::format("coroutine {} ended by an unknown exception", name));
        }
        std::abort();
    });
}

}  // namespace annals::core
