#include "storage/log_writer.h"

#include "core/base/log.h"
#include "core/base/thread_name.h"
#include "storage/short_turns.h"

#include <fmt/format.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <span>

namespace annals::storage {
namespace {

constexpr int kWriterNice = -10;
constexpr double kNsPerSecond = 1e9;
constexpr std::size_t kAddedAtOnce = 1024;  // Keeps memory for them small.

/// Whether one of these frames has an erase record.
bool erases(const Batch& batch, std::size_t begin, std::size_t end) {
    const std::size_t first = batch.frames[begin].first_record;
    const BatchFrame& last = batch.frames[end - 1];
    const auto records =
        std::span(batch.records).subspan(first, last.first_record + last.record_count - first);
    return std::ranges::any_of(records,
                               [](const Hint& record) { return record.kind == RecordKind::erase; });
}

}  // namespace

LogWriter::LogWriter(const Parts& parts, Options options)
    : sequencer_(parts.sequencer),
      segments_(parts.segments),
      index_(parts.index),
      search_(parts.search),
      housekeeper_(parts.housekeeper),
      listeners_(parts.listeners),
      options_(options),
      written_(index_.last_position()),
      instant_(sequencer_.last_instant()) {
    if (segments_.is_open()) {
        end_ = {segments_.number(), segments_.end(), written_, instant_};
    }
    thread_ = std::thread([this] { run(); });
}

LogWriter::~LogWriter() {
    (void)stop();
}

Result<void> LogWriter::stop() {
    if (thread_.joinable()) {
        sequencer_.stop();
        thread_.join();
    }
    // What is acknowledged only after a sync is on the device, whatever failed later.
    if (options_.durability != Durability::commit && sequencer_.state() == WriteState::failed) {
        return Error{Errc::io, "the most recent writes may not be on the device"};
    }
    return {};
}

Result<void> LogWriter::wait(Ticket ticket) {
    std::unique_lock lock(settle_mutex_);
    settled_wake_.wait(lock, [&] { return settled_ >= ticket; });
    if (const auto why = dropped_.why(ticket)) {
        return Error{*why, "the commit could not be stored"};
    }
    return {};
}

LogEnd LogWriter::end() const {
    const std::lock_guard lock(end_mutex_);
    return end_;
}

Sequencer::Clock::duration LogWriter::write_wait() const noexcept {
    const auto since = writing_since_.load(std::memory_order_relaxed);
    return since == Sequencer::Clock::time_point() ? Sequencer::Clock::duration::zero()
                                                   : Sequencer::Clock::now() - since;
}

void LogWriter::count(StoreMetrics& metrics) const noexcept {
    const auto relaxed = std::memory_order_relaxed;
    metrics.commits = commits_.load(relaxed);
    metrics.versions_written = versions_.load(relaxed);
    metrics.bytes_written = bytes_.load(relaxed);
    metrics.syncs = syncs_.load(relaxed);
    metrics.sync_seconds = static_cast<double>(sync_ns_.load(relaxed)) / kNsPerSecond;
}

void LogWriter::run() {
    name_thread("log writer");
    // On a saturated core a thread of normal priority waits milliseconds for its turn after each sync, many times what the sync
    // itself takes, while this one needs a core for only microseconds.
    take_short_turns();
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kWriterNice);

    Batch batch;
    while (true) {
        auto deadline = next_sync();
        if (const auto due = next_probe(); due && (!deadline || *due < *deadline)) {
            deadline = due;
        }
        const Sequencer::Taken taken = sequencer_.take(batch, deadline);
        if (taken == Sequencer::Taken::stopped) {
            break;
        }
        writing_since_.store(Sequencer::Clock::now(), std::memory_order_relaxed);
        if (taken == Sequencer::Taken::batch) {
            write_batch(batch);
        }
        if (const auto due = next_sync(); due && *due <= Sequencer::Clock::now()) {
            if (auto synced = sync(); !synced) {
                fail(synced.error());
            }
        }
        if (const auto due = next_probe(); due && *due <= Sequencer::Clock::now()) {
            probe();
        }
        writing_since_.store({}, std::memory_order_relaxed);
    }
    if (sequencer_.state() != WriteState::failed && segments_.is_open()) {
        if (auto done = segments_.sync(); !done) {
            fail(done.error());
        } else if (auto marked = segments_.mark({written_.value + 1}, instant_); !marked) {
            log_warning(fmt::format("log: the end could not be marked: {}", marked.error().detail));
        }
    }
}

std::optional<Sequencer::Clock::time_point> LogWriter::next_sync() const {
    if (options_.durability != Durability::interval || !segments_.is_open() ||
        segments_.synced() == segments_.end() || sequencer_.state() == WriteState::failed) {
        return std::nullopt;
    }
    return last_sync_ + std::chrono::milliseconds(options_.sync_interval_ms);
}

/// probe() doesn't delay the commits of others: they may need less than it asks for.
std::optional<Sequencer::Clock::time_point> LogWriter::next_probe() const {
    const auto due = sequencer_.next_probe();
    return due ? std::optional(std::max(*due, last_probe_ + Sequencer::kProbeInterval))
               : std::nullopt;
}

void LogWriter::probe() {
    const auto found = segments_.probe(instant_);
    last_probe_ = Sequencer::Clock::now();
    if (found) {
        take_writes_again();
    } else if (found.error().code != Errc::no_store) {
        fail(found.error());
    }
}

void LogWriter::write_batch(Batch& batch) {
    // Those who wait for this batch are notified once, even if it is split across two segments: notified separately, its
    // writers would come back separately, and share syncs with fewer from then on.
    Ticket stored;
    std::size_t begin = 0;
    while (begin < batch.frames.size()) {
        const auto grown = [&](SegmentWriter::Need need, std::size_t i) {
            const BatchFrame& frame = batch.frames[i];
            need.bytes += frame.length;
            need.records += frame.record_count;
            return need;
        };
        SegmentWriter::Need need = grown({}, begin);
        Result<void> done = segments_.clean();
        if (done) {
            done = segments_.make_room(need, batch.frames[begin].first_position, instant_);
        }
        std::size_t end = begin + 1;
        while (done && end < batch.frames.size() && segments_.fits(grown(need, end))) {
            need = grown(need, end);
            ++end;
        }
        if (done) {
            follow_end();
            done = write_run(batch, begin, end);
        }
        if (!done) {
            settle(stored, true);
            fail(done.error());
            return;
        }
        stored = batch.frames[end - 1].ticket;
        begin = end;
    }
    settle(stored, true);
}

/// Moves the log's end to the beginning of a new segment, even if nothing is written to it for a while: the previous segment
/// may be compacted then, and its frames end elsewhere.
void LogWriter::follow_end() {
    if (end_.segment != segments_.number()) {  // Only this thread changes it.
        const std::lock_guard lock(end_mutex_);
        end_ = {segments_.number(), segments_.end(), written_, instant_};
    }
}

Result<void> LogWriter::write_run(Batch& batch, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        const BatchFrame& frame = batch.frames[i];
        finish_frame({.length = frame.length,
                      .first_position = frame.first_position,
                      .instant = frame.instant,
                      .synced_offset = segments_.synced(),
                      .record_count =
                          static_cast<std::uint32_t>(frame.record_count + (frame.request ? 1 : 0))},
                     segments_.salt(), batch.bytes.data() + frame.offset);
    }
    const BatchFrame& last = batch.frames[end - 1];
    const std::uint64_t from = batch.frames[begin].offset;
    const std::uint64_t length = last.offset + last.length - from;
    const std::uint64_t file_offset = segments_.end();
    ANNALS_TRY_VOID(segments_.write(std::string_view(batch.bytes).substr(from, length)));
    // Erasures are synced first: once they are published, files derived from the log leave out what was erased and the journal
    // of erasures marks it as done, and either may be durable before the log is.
    if (options_.durability == Durability::commit || erases(batch, begin, end)) {
        ANNALS_TRY_VOID(sync());
    }
    publish(batch, begin, end, file_offset);
    take_writes_again();
    commits_.fetch_add(end - begin, std::memory_order_relaxed);
    bytes_.fetch_add(length, std::memory_order_relaxed);
    return {};
}

Result<void> LogWriter::sync() {
    const auto start = Sequencer::Clock::now();
    ANNALS_TRY_VOID(segments_.sync());
    last_sync_ = Sequencer::Clock::now();
    const auto ns = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(last_sync_ - start).count());
    syncs_.fetch_add(1, std::memory_order_relaxed);
    sync_ns_.fetch_add(ns, std::memory_order_relaxed);
    return {};
}

void LogWriter::publish(Batch& batch, std::size_t begin, std::size_t end,
                        std::uint64_t file_offset) {
    if (search_ != nullptr) {
        publish_search(batch, begin, end);
    }
    const std::uint64_t moved = file_offset - batch.frames[begin].offset;  // Modulo 2^64.
    std::uint64_t versions = 0;
    for (std::size_t i = begin; i < end; ++i) {
        const BatchFrame& frame = batch.frames[i];
        bool continues = false;
        for (std::size_t r = frame.first_record; r < frame.first_record + frame.record_count; ++r) {
            Hint& record = batch.records[r];
            record.offset += moved;
            segments_.footer().add(record);
            if (record.kind == RecordKind::erase) {
                add_to_index();
                erase(record, frame.ticket);
                continue;
            }
            added_.push_back({.key = record.key,
                              .type = record.type,
                              .position = record.position,
                              .version = record.version,
                              .instant = record.instant,
                              .deletion = record.deletion,
                              .continues = continues,
                              .location = {segments_.slot(), record.offset}});
            if (added_.size() == kAddedAtOnce) {
                add_to_index();
            }
            continues = true;
            ++versions;
        }
    }
    add_to_index();
    const BatchFrame& last = batch.frames[end - 1];
    index_.publish(last.last_position);
    {
        const std::lock_guard lock(end_mutex_);
        end_ = {segments_.number(), segments_.end(), last.last_position, last.instant};
    }
    versions_.fetch_add(versions, std::memory_order_relaxed);
    written_ = last.last_position;
    instant_ = last.instant;
    sequencer_.release(batch, begin, end);
}

/// Must precede any publication by the index: a search must find what a read finds.
void LogWriter::publish_search(Batch& batch, std::size_t begin, std::size_t end) {
    const Position first = batch.frames[begin].first_position;
    const auto document_of = [&](Position position) -> const BatchDocument& {
        return batch.documents[position.value - batch.frames.front().first_position.value];
    };
    const auto each_version = [&](const auto& call) {
        for (std::size_t i = begin; i < end; ++i) {
            const BatchFrame& frame = batch.frames[i];
            for (std::size_t r = 0; r < frame.record_count; ++r) {
                if (const Hint& record = batch.records[frame.first_record + r];
                    record.kind == RecordKind::version) {
                    call(record, document_of(record.position));
                }
            }
        }
    };
    bool any_died_here = false;
    each_version([&](const Hint& record, const BatchDocument& document) {
        if (document.superseded >= first) {
            any_died_here = true;
        } else if (document.superseded.value != 0) {
            search_->died(record.type, document.superseded, record.position);
        }
    });
    each_version([&](const Hint& record, const BatchDocument& document) {
        if (document.entries != BatchDocument::kNone) {
            search_->add(record.type, record.position, record.key.low,
                         batch.entries[document.entries]);
        }
    });
    search_->publish();
    if (!any_died_here) {
        return;
    }
    // A query for the store at a position may mean one between two versions of the same publication.
    each_version([&](const Hint& record, const BatchDocument& document) {
        if (document.superseded >= first) {
            search_->died(record.type, document.superseded, record.position);
        }
    });
}

/// Adds what was gathered: in a batch, memory is waited for less often.
void LogWriter::add_to_index() {
    index_.add_batch(added_);
    added_.clear();
}

void LogWriter::erase(const Hint& record, Ticket ticket) {
    erased_.clear();
    housekeeper_.announce(ticket);
    index_.erase({record.key, record.scope, record.version}, &erased_);
    housekeeper_.add(erased_);
    if (search_ != nullptr) {
        for (const Position position : erased_) {
            search_->erased(record.type, position);
        }
    }
}

void LogWriter::take_writes_again() {
    if (sequencer_.recovered()) {
        log_info("log: writes are accepted again");
    }
}

void LogWriter::fail(const Error& error) {
    Error cause = error;
    if (cause.code == Errc::no_store) {
        // Dropped commits must not come back after a crash, so what they left is removed at once if possible.
        if (auto cleaned = segments_.clean(); !cleaned && cleaned.error().code != Errc::no_store) {
            cause = cleaned.error();
        }
    }
    const bool passing = cause.code == Errc::no_store;
    const WriteState state = passing ? WriteState::no_space : WriteState::failed;
    if (sequencer_.state() != state) {
        log_error(fmt::format("log: {}: {}", cause.detail,
                              passing ? "writes are refused until this is resolved"
                                      : "writes are refused until the store is opened again"));
    }
    settle(sequencer_.drop(state), false);
}

void LogWriter::settle(Ticket through, bool ok) {
    if (through.value == 0) {
        return;
    }
    {
        const std::lock_guard lock(settle_mutex_);
        if (!ok && through > settled_) {
            dropped_.add({settled_.value + 1}, through, Errc::no_store);
        }
        settled_ = std::max(settled_, through);
    }
    settled_wake_.notify_all();
    listeners_.settled(through, ok ? std::nullopt : std::optional(Errc::no_store));
    if (ok) {
        housekeeper_.wake();
    }
}

}  // namespace annals::storage
