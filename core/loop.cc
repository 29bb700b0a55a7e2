#include "core/loop.h"

#include "core/base/log.h"
#include "core/body.h"
#include "storage/dropped_tickets.h"

#include <asio/async_result.hpp>
#include <asio/buffer.hpp>
#include <asio/co_spawn.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace annals::core {

namespace {

using Clock = std::chrono::steady_clock;

/// How long gathered commits wait at most for a loop that never runs dry: a round of two hundred clients.
constexpr std::chrono::milliseconds kFlushDelayMax{3};

/// How often a loop that never runs dry looks whether they have.
constexpr std::chrono::milliseconds kFlushLookInterval{1};

/// How many handlers run between two looks at the clock.
constexpr unsigned kHandlersPerClockLook = 8;

using ResumeHandler = asio::async_result<asio::use_awaitable_t<>, void(Result<void>)>::handler_type;

asio::awaitable<Result<void>> ready(Result<void> result) {
    co_return result;
}

}  // namespace

/// A coroutine that waits for news, in its frame. Its timer ends the wait, whatever the reason.
struct Watcher {
    Position seen;
    asio::steady_timer timer;
};

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

struct Loop::Waiters {
    /// A coroutine that waits. What begins the wait lives in the frame of the wait, so waiting needs no other memory.
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

    // The loop's thread alone.
    Waiter* first = nullptr;
    Waiter* last = nullptr;
    Waiter* unprepared =
        nullptr;  ///< the first that has something to do meanwhile; none before it has
    std::vector<Watcher*> watchers;
    bool waits_ended = false;

    void push(Waiter& waiter) noexcept {
        (last == nullptr ? first : last->next) = &waiter;
        last = &waiter;
        if (unprepared == nullptr && waiter.meanwhile != nullptr) {
            unprepared = &waiter;
        }
    }

    /// Has those who came since the last time do what they can while they wait.
    void prepare() {
        for (Waiter* waiter = std::exchange(unprepared, nullptr); waiter != nullptr;
             waiter = waiter->next) {
            if (Meanwhile* const meanwhile = std::exchange(waiter->meanwhile, nullptr)) {
                meanwhile->prepare();
            }
        }
    }

    /// Of what has settled. Requires: `mutex` is held.
    Result<void> outcome_of(storage::Ticket ticket) const {
        if (const auto why = dropped.why(ticket)) {
            return Error{*why, std::string(text_of_failure), {}};
        }
        return {};
    }

    /// Waits until `ticket` has settled; at once if it has.
    asio::awaitable<Result<void>> wait(storage::Ticket ticket, Meanwhile* meanwhile) {
        if (ticket <= through.load(std::memory_order_acquire)) {
            const std::lock_guard lock(mutex);
            return ready(outcome_of(ticket));
        }
        return asio::async_initiate<const asio::use_awaitable_t<>, void(Result<void>)>(
            Waiter{this, ticket, meanwhile}, asio::use_awaitable);
    }

    /// The coroutine is suspended. What has settled since wait() is answered in a turn of its own.
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

    /// True if wake() must be posted.
    bool note(storage::Ticket now, bool ok, Errc why) {
        const std::lock_guard lock(mutex);
        const storage::Ticket before = through.load(std::memory_order_relaxed);
        if (!ok && now > before) {  // What is tried again fails again, and was told of.
            dropped.add({before.value + 1}, now, why);
        }
        through.store(std::max(before, now), std::memory_order_release);
        const bool post = (anyone || watched) && !wake_posted;
        wake_posted = wake_posted || post;
        return post;
    }

    /// A handler owns its coroutine's frame, and here the frame holds the handler: taken out, it hands the
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

    /// Resumes whoever waits for what has settled, in the order in which they came.
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
            // The waiter dies with its frame, which may happen inside the call.
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

/// What the store was asked to fetch for this loop.
struct Loop::Fetches {
    std::mutex mutex;
    std::condition_variable ended;
    std::size_t under_way = 0;

    /// Calls `done` on `loop` when `what`, a Position or bytes of a mapping, is in memory.
    template <typename What, typename Done>
    void begin(const storage::Store& store, Loop& loop, What what, Done done) {
        {
            const std::lock_guard lock(mutex);
            ++under_way;
        }
        store.fetch(what, [this, &loop, done] {
            // Under the lock: when the last has ended, this is gone.
            const std::lock_guard lock(mutex);
            loop.post(done);
            if (--under_way == 0) {
                ended.notify_all();
            }
        });
    }

    void await_end() {
        std::unique_lock lock(mutex);
        ended.wait(lock, [this] { return under_way == 0; });
    }
};

Loop::Loop(storage::Store& store)
    : store_(store),
      context_(ASIO_CONCURRENCY_HINT_UNSAFE),  // its own thread's alone: no locks
      posts_(std::make_unique<Posts>(context_)),
      waiters_(std::make_unique<Waiters>(context_,
                                         "the write was not made durable and has been dropped")),
      erased_(std::make_unique<Waiters>(context_,
                                        "it is erased and can't be read any more, but its bytes "
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
        // Of such a status the answer says in general words what is wrong: that nothing was written, which isn't so.
        Error& error = erased.error();
        error.others.push_back({error.code, error.detail, ""});
    }
    co_return erased;
}

asio::awaitable<void> Loop::fetched(std::vector<Position> positions) {
    // The timer ends with the last of them, for which there is no other limit.
    asio::steady_timer all(context_, Clock::time_point::max());
    std::size_t left = positions.size();
    for (const Position position : positions) {
        fetches_->begin(store_, *this, position, [&all, &left] {
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

asio::awaitable<void> Loop::fetched(std::span<const storage::VersionInfo> versions) {
    if (std::vector<Position> unread = store_.unread(versions); !unread.empty()) {
        co_await fetched(std::move(unread));
    }
}

asio::awaitable<void> Loop::fetched(std::string_view mapped) {
    if (store_.in_memory(mapped)) {
        co_return;
    }
    asio::steady_timer there(context_, Clock::time_point::max());
    bool done = false;
    fetches_->begin(store_, *this, mapped, [&there, &done] {
        done = true;
        there.cancel();
    });
    while (!done) {
        asio::error_code cancelled;
        co_await there.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
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
        // What became visible before the flag was set is seen here, what does later wakes us.
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

void Loop::settled(storage::Ticket through, bool ok, Errc why) noexcept {
    if (waiters_->note(through, ok, why)) {
        post([this] {
            waiters_->wake();
            if (!waiters_->watchers.empty()) {
                wake_watchers();
            }
        });
    }
}

void Loop::erased(storage::Ticket through, bool ok, Errc why) noexcept {
    if (erased_->note(through, ok, why)) {
        post([waiters = erased_.get()] { waiters->wake(); });
    }
}

void spawn(Loop& loop, const char* name, asio::awaitable<void> task) {
    asio::co_spawn(loop.context(), std::move(task), [name](const std::exception_ptr& failure) {
        if (failure == nullptr) {
            return;
        }
        const char* what = "unknown exception";
        try {
            std::rethrow_exception(failure);
        } catch (const std::exception& error) {
            what = error.what();
            log_error(fmt::format("coroutine {} ended by an exception: {}", name, what));
        } catch (...) {
            log_error(fmt::format("coroutine {} ended by an {}", name, what));
        }
        std::abort();
    });
}

}  // namespace annals::core
