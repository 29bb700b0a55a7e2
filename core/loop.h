// Loop: one network thread's event loop, and the way from a submitted commit to an awaited one.
//
// Layer:   core (Asio's io_context for core/interactions and net; storage stays without it).
// Threads: a Loop belongs to the thread that runs it, and nothing in it is locked: others come in by post() alone.

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

/// What somebody who waits for a commit does while the device is busy with it. Lifetime: until the wait returns.
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
    /// Throws std::system_error where the process is out of descriptors or memory: what must not end by that is given a loop by
    /// OwnLoop (core/own_loop.h).
    explicit Loop(storage::Store& store);
    ~Loop() override;
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    /// What sockets and timers are made with. Threads: this loop's, or before run() and after it.
    asio::io_context& context() noexcept { return context_; }

    /// Runs `work` on this loop, soon; in the order of the calls. What is left when the loop ends is dropped. Any thread.
    void post(std::function<void()> work);

    /// Runs until stop(); then it can be run again. Between turns it hands what was submitted to the log writer: as soon as the loop
    /// has nothing else ready (Store::flush_idle()), or when it has been busy for a few syncs' time.
    void run();

    /// Ends run() soon. Any thread.
    void stop();

    /// Waits until `ticket` has settled; at once if it is 0 or settled already. Waiters resume in the order
    /// in which they came.
    /// `meanwhile`: called once at most, when what was submitted has been handed to the log writer and the loop has nothing else
    /// ready; not at all if that doesn't come before the end of the wait.
    /// Requires: the ticket was handed out after this loop was made.
    /// Errors: no_store (the commit was dropped). Threads: a coroutine on this loop.
    asio::awaitable<Result<void>> settled_ticket(storage::Ticket ticket,
                                                 Meanwhile* meanwhile = nullptr);

    /// Waits until `ticket` has settled and no byte of what it erased is left on the disk. Otherwise as settled_ticket().
    /// Requires: the commit erased something.
    /// Errors: no_store, corrupt, io too: it is erased, but the bytes go when the store is opened again.
    asio::awaitable<Result<void>> erased_ticket(storage::Ticket ticket);

    /// Waits until what stands at `positions` is in memory (Store::fetch()); read side by side, while others run.
    asio::awaitable<void> fetched(std::vector<Position> positions);

    /// The same for those of `versions` that are on the device only (Store::unread()). They live until it returns.
    asio::awaitable<void> fetched(std::span<const storage::VersionInfo> versions);

    /// The same for bytes of any mapping, where they are not in memory yet. Lifetime: they stay mapped until it returns.
    asio::awaitable<void> fetched(std::string_view mapped);

    /// The same for what the next next() of `source` is about to read. Lifetime: of `source`, until it returns.
    asio::awaitable<void> fetched_next(BodySource& source);

    /// Lets other coroutines of this loop run before it returns: for long work in slices.
    asio::awaitable<void> yield();

    /// Lets so much time pass, in which others run.
    asio::awaitable<void> pause(std::chrono::milliseconds time);

    /// Waits until something after `seen` is visible; at most `limit`, and no longer than until end_waits().
    /// True if it is. Threads: a coroutine on this loop.
    asio::awaitable<bool> news_after(Position seen, std::chrono::milliseconds limit);

    /// Ends all waits for news, and those that begin later, at once: the server stops. Threads: this loop's.
    void end_waits();

    /// Ends what takes turns (Turns) as if its time were over: nobody waits for its answer any more. Threads: this loop's.
    void give_up() noexcept { given_up_ = true; }

    bool given_up() const noexcept { return given_up_; }

  private:
    void settled(storage::Ticket through, bool ok, Errc why) noexcept override;
    void erased(storage::Ticket through, bool ok, Errc why) noexcept override;

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
