// The log writer's side of the sequencer: taking batches, releasing what is in the index, and dropping.

#include "storage/sequencer.h"

#include <algorithm>
#include <utility>

namespace annals::storage {
namespace {

/// If nobody has submitted for this long, a batch left open for returning clients is written without them.
constexpr auto kDeferredMax = std::chrono::milliseconds(10);
constexpr std::size_t kBufferBytesKept =
    16 << 20;  // A rare huge batch doesn't keep its memory for ever.

}  // namespace

void Sequencer::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
}

Sequencer::Taken Sequencer::take(Batch& batch, std::optional<Clock::time_point> deadline) {
    if (batch.bytes.capacity() > kBufferBytesKept ||
        batch.entries.capacity_bytes() > kBufferBytesKept) {
        Batch fresh;  // assignment would leave `bytes` its memory
        std::swap(batch, fresh);
    }
    batch.clear();
    std::unique_lock lock(mutex_);
    const auto ready = [&] { return stopping_ || (flush_wanted_ && !gathering_.frames.empty()); };
    writer_waits_ = true;
    if (flush_deferred_) {
        // Clients that return flush sooner, if there are any.
        std::size_t seen = 0;
        bool in_time = true;
        do {
            seen = gathering_.frames.size();
            const auto latest = Clock::now() + kDeferredMax;
            in_time = !deadline || latest < *deadline;
            wake_.wait_until(lock, in_time ? latest : *deadline, ready);
        } while (in_time && !ready() && gathering_.frames.size() != seen);
        flush_wanted_ = flush_wanted_ || in_time;
    } else if (deadline) {
        wake_.wait_until(lock, *deadline, ready);
    } else {
        wake_.wait(lock, ready);
    }
    writer_waits_ = false;
    if (!ready()) {
        return Taken::timeout;
    }
    if (gathering_.frames.empty()) {
        return Taken::stopped;
    }
    std::swap(batch, gathering_);
    taken_ = batch.frames.size();
    flush_wanted_ = false;
    flush_deferred_ = false;
    any_gathered_.store(false, std::memory_order_relaxed);
    return Taken::batch;
}

void Sequencer::release(const Batch& batch, std::size_t begin, std::size_t end) {
    std::uint64_t bytes = 0;
    const std::lock_guard lock(mutex_);
    for (std::size_t i = begin; i < end; ++i) {
        const BatchFrame& frame = batch.frames[i];
        bytes += frame.length + frame.search_bytes;
        released_ = frame.last_position;
        for (std::size_t r = frame.first_record; r < frame.first_record + frame.record_count; ++r) {
            heads_.land(batch.records[r].key, frame.ticket);
        }
    }
    taken_ -= end - begin;
    recent_.settle(released_);
    recent_erases_.settle(batch.frames[end - 1].ticket);
    unsettled_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

Ticket Sequencer::drop(WriteState state) {
    const std::lock_guard lock(mutex_);
    gathering_.clear();
    heads_.clear();
    last_position_ = released_;
    recent_.drop_after(released_);
    recent_erases_.drop();
    for (WriteWatch* const watch : watches_) {
        watch->since_ = std::min(watch->since_, released_);
        watch->newest_ = std::min(watch->newest_, released_);
    }
    taken_ = 0;
    flush_wanted_ = false;
    flush_deferred_ = false;
    any_gathered_.store(false, std::memory_order_relaxed);
    unsettled_bytes_.store(0, std::memory_order_relaxed);
    next_probe_ = Clock::now() + kProbeInterval;
    state_.store(state, std::memory_order_release);
    return last_ticket_;
}

bool Sequencer::recovered() noexcept {
    if (state_.load(std::memory_order_relaxed) != WriteState::no_space) {
        return false;
    }
    state_.store(WriteState::ready, std::memory_order_release);
    return true;
}

std::optional<Sequencer::Clock::time_point> Sequencer::next_probe() const {
    if (state() != WriteState::no_space) {
        return std::nullopt;
    }
    const std::lock_guard lock(mutex_);
    return next_probe_;
}

}  // namespace annals::storage
