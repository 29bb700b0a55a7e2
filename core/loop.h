// Loop: one network thread's event loop, and the way from a submitted commit to an awaited one.
//
// Layer:   core (Asio's io_context for core/interactions and net; storage stays without it).
// Threads: a Loop belongs to the thread that runs it, and nothing in it is locked: other threads use post() only.

#pragma once

#include "core/base/result.h"
#include "storage/store.h"

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace annals::core {

class BodySource;

/// Work for a waiter to do while the device is busy with its commit. Lifetime: until the wait returns.
class Meanwhile {
  public:
    virtual void prepare() = 0;

  protected:
    ~Meanwhile() = default;
};

/// Runs coroutines and wakes those that wait for durability, once per settled batch.
class Loop : private storage::SettleListener {
  public:
    /// Registers with `store` for settled commits. Lifetime: `store` outlives the loop.
    /// Throws std::system_error if the process is out of descriptors or memory. Callers that must survive
    /// that use OwnLoop (core/own_loop.h).
    explicit Loop(storage::Store& store);
    ~Loop() override;
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    /// What sockets and timers are made with. Threads: this loop's, or before run() and after it.
    asio::io_context& context() noexcept { return context_; }

    /// Queues `work` to run on this loop, in the order of the calls. Work left when the loop ends is dropped.
    /// Any thread.
    void post(std::function<void()> work);

    /// Runs until stop(); it can then be run again. Hands submitted commits to the log writer as soon as
    /// nothing else is ready (Store::flush_idle()), or once it has been busy for the time of a few syncs.
    void run();

    /// Ends run() soon. Any thread.
    void stop();

    /// Waits until `ticket` has settled; at once if it is 0 or settled already. Waiters resume in the order
    /// in which they came.
    /// `meanwhile`: called at most once, after the commit was handed to the log writer and when nothing else
    /// is ready; not at all if the wait ends before that.
    /// Requires: the ticket was handed out after this loop was made.
    /// Errors: no_store (the commit was dropped). Threads: a coroutine on this loop.
    asio::awaitable<Result<void>> settled_ticket(storage::Ticket ticket,
                                                 Meanwhile* meanwhile = nullptr);

    /// As settled_ticket(), and waits until no byte of what it erased is left on disk.
    /// Requires: the commit erased something.
    /// Errors: also io: the erasure is in the log, but the bytes are only removed when the store is next opened; corrupt: those of
    ///         a damaged record stay. After no_store it is tried again.
    asio::awaitable<Result<void>> erased_ticket(storage::Ticket ticket);

    /// Waits until no byte is left on disk of anything that is erased by now, whoever erased it, except in damaged records: for
    /// answers that something is gone. Errors: no_store, io: bytes are left, because the last attempt failed.
    asio::awaitable<Result<void>> all_erased();

    /// Waits until the versions at `positions` are in memory (Store::fetch()), which are read in parallel.
    asio::awaitable<void> fetched(std::vector<Position> positions);

    /// The same for those of `versions` that are not in memory (Store::unread()).
    /// Lifetime: `versions` live until it returns.
    asio::awaitable<void> fetched(std::span<const storage::VersionInfo> versions);

    /// The same for bytes of any mapping. Lifetime: they stay mapped until it returns.
    asio::awaitable<void> fetched(std::string_view mapped);

    /// The same for what the next next() of `source` is about to read. Lifetime: of `source`, until it returns.
    asio::awaitable<void> fetched_next(BodySource& source);

    /// Lets other coroutines of this loop run before it returns: for long work in slices.
    asio::awaitable<void> yield();

    /// Suspends the caller for `time` while others run.
    asio::awaitable<void> pause(std::chrono::milliseconds time);

    /// Waits until a version after `seen` is visible, until `limit` has passed, or until end_waits().
    /// Returns whether there is one. Threads: a coroutine on this loop.
    asio::awaitable<bool> news_after(Position seen, std::chrono::milliseconds limit);

    /// Ends all waits for news, including those that begin later: the server is stopping. Threads: this loop's.
    void end_waits();

    /// Ends long work (Turns) as if its time were up, because nobody waits for its result any more.
    /// Threads: this loop's.
    void give_up() noexcept { given_up_ = true; }

    bool given_up() const noexcept { return given_up_; }

  private:
    void settled(storage::Ticket through, std::optional<Errc> why_not) noexcept override;
    void erased(storage::Ticket through, std::optional<Errc> why_not) noexcept override;

    void wake_watchers();

    struct Posts;
    struct Waiters;
    struct Fetches;

    storage::Store& store_;
    asio::io_context context_;
    std::unique_ptr<Posts> posts_;
    std::unique_ptr<Waiters> waiters_;  ///< for settled()
    std::unique_ptr<Waiters> erased_;   ///< for erased()
    std::unique_ptr<Fetches> fetches_;
    std::atomic<bool> stopping_{false};
    bool given_up_ = false;
};

/// Starts `task` on `loop`; names it, and logs and aborts if an exception escapes it.
/// Threads: the loop's, or before it runs; from others by Loop::post().
void spawn(Loop& loop, const char* name, asio::awaitable<void> task);

}  // namespace annals::core
