#include "storage/compaction.h"

#include "storage/segment_rewrite.h"
#include "storage/segment_writer.h"

#include <algorithm>
#include <cstdlib>

namespace annals::storage {
namespace {

/// Read by one step: an erasure, or whoever shares the device, may have to wait for it.
constexpr std::uint64_t kStepBytes = 1 << 20;

}  // namespace

std::uint64_t measure_dead(const SegmentTable& table, const Index& index, std::uint64_t number) {
    std::optional<std::uint32_t> slot;
    Segment segment;
    {
        const SegmentTable::Reader reader(table);
        slot = table.slot_of(number);
        const Segment* found = slot ? table.find(*slot) : nullptr;
        if (found == nullptr) {
            return 0;
        }
        segment = *found;
    }
    if (segment.packed != nullptr) {
        return 0;  // Its erased bodies are zeros, which take no space.
    }
    // A segment's positions reach up to the next segment's, and all of them are visible.
    std::uint64_t dead = 0;
    const std::uint64_t last = index.last_position().value;
    for (std::uint64_t p = segment.header.first_position.value; p <= last; ++p) {
        const Location place = index.location({p});
        if (place.segment != *slot) {
            break;
        }
        if (index.link({p}).erased) {
            const auto record = decode_record(segment.view(), place.offset);
            dead += record ? record->body.size() : 0;
        }
    }
    return dead;
}

Compaction::Compaction(const OpenLog& log, Eraser& eraser, PackPolicy packing)
    : log_(log),
      segments_(log.directory + "/segments"),
      eraser_(eraser),
      packing_(std::move(packing)) {
    count_dead();
}

Compaction::~Compaction() = default;

void Compaction::measure_all() {
    const std::uint64_t newest = log_.writer.newest_number();
    for (std::uint64_t number = 1; number < newest; ++number) {
        eraser_.set_dead_bytes(number, measure_dead(log_.table, log_.index, number));
    }
}

bool Compaction::to_pack(std::uint64_t number, const Segment& segment) const {
    if (!packing_.enabled || segment.packed != nullptr || segment.bytes > kImageBytesMax ||
        incompressible_.contains(number)) {
        return false;
    }
    if (!whole_ && eraser_.is_warm(number, packing_.after)) {
        return false;
    }
    if (whole_ || packing_.after.count() == 0) {
        return true;
    }
    const auto next = log_.table.slot_of(number + 1);
    if (!next) {
        return false;
    }
    // Ahead of the clock it is if the clock was wrong then; so are all later commits, until the clock has caught up.
    const std::int64_t age = packing_.clock().us - log_.table.find(*next)->header.last_instant.us;
    return std::abs(age) >= packing_.after.count();
}

void Compaction::note_damage(const Error& error, std::uint64_t number) {
    if (error.code == Errc::corrupt) {
        damaged_.insert(number);
    }
}

std::optional<Compaction::Task> Compaction::next_task() const {
    const std::uint64_t newest = log_.writer.newest_number();
    const auto& dead = eraser_.dead_bytes();
    for (std::uint64_t number = passed_over_ + 1; number < newest; ++number) {
        const auto slot = log_.table.slot_of(number);
        const Segment* segment = slot ? log_.table.find(*slot) : nullptr;
        if (segment == nullptr || segment->packed != nullptr ||
            (!whole_ && (damaged_.contains(number) || given_up_.contains(number)))) {
            continue;
        }
        const auto found = dead.find(number);
        const double share =
            found == dead.end()
                ? 0
                : static_cast<double>(found->second) /
                      static_cast<double>(std::max<std::uint64_t>(1, segment->bytes));
        const bool pack = to_pack(number, *segment);
        if (pack || share >= kDeadShare || (whole_ && share > 0)) {
            return Task{number, pack};
        }
    }
    return std::nullopt;
}

Result<bool> Compaction::begin_next() {
    count_dead();
    std::erase_if(given_up_, [now = std::chrono::steady_clock::now(), this](const auto& one) {
        return now >= one.second + packing_.after;
    });
    const auto task = next_task();
    running_ = task && (whole_ || !task->pack);
    if (!task) {
        whole_ = false;
        passed_over_ = 0;
        return false;
    }
    auto begun = SegmentRewrite::begin(log_.fs, segments_, task->number, task->pack);
    if (!begun) {
        passed_over_ = task->number;
        note_damage(begun.error(), task->number);
        return std::move(begun.error());
    }
    rewrite_ = *std::move(begun);
    return true;
}

// Makes the new file the segment, if that is worth it.
Result<void> Compaction::put_in_place(SegmentRewrite& rewrite) {
    const std::uint64_t number = rewrite.number();
    std::unique_lock lock(log_.files.mutex);
    auto finished = rewrite.finish();
    lock.unlock();
    broken_ = rewrite.finished() && !finished;
    ANNALS_TRY(std::optional<Segment> segment, std::move(finished));
    if (!segment) {
        incompressible_.insert(number);
        return {};
    }
    const std::uint64_t bytes = segment->bytes;
    const std::uint64_t freed = rewrite.bytes() - bytes;
    if (auto switched = switch_segment(log_.table, log_.index, *std::move(segment)); !switched) {
        broken_ = true;
        return std::move(switched.error());
    }
    const auto& dead_by_segment = eraser_.dead_bytes();
    const auto found = dead_by_segment.find(number);
    const std::uint64_t dead = found == dead_by_segment.end() ? 0 : found->second;
    eraser_.set_dead_bytes(number, 0);
    log_.writer.add_log_bytes(0 - freed);
    if (rewrite.packs()) {
        pack_bytes_written_ += bytes;
        ++segments_packed_;
    }
    if (dead != 0 || !rewrite.packs()) {
        bytes_freed_ += rewrite.packs() ? dead : freed;
        ++segments_done_;
    }
    count_dead();
    return {};
}

Result<bool> Compaction::step() {
    packed_last_ = false;
    if (ended_) {
        return false;
    }
    if (asked_) {
        // In this order, so that progress() always sees one of the two as true.
        running_ = true;
        asked_ = false;
        whole_ = true;
        passed_over_ = 0;
        measure_all();
    }
    if (rewrite_ == nullptr) {
        return begin_next();
    }
    packed_last_ = rewrite_->packs();
    const std::uint64_t before = rewrite_->done();
    const auto copied = rewrite_->step(kStepBytes);
    (rewrite_->packs() ? pack_bytes_read_ : bytes_read_) += rewrite_->done() - before;
    if (copied && !*copied) {
        return true;
    }
    // Finished or failed: it is over.
    const std::unique_ptr<SegmentRewrite> rewrite = std::move(rewrite_);
    const std::uint64_t number = rewrite->number();
    passed_over_ = std::max(passed_over_, number);
    if (!copied) {
        note_damage(copied.error(), number);
        return copied.error();
    }
    ANNALS_TRY_VOID(put_in_place(*rewrite));
    return true;
}

void Compaction::erasing(std::span<const Position> erased) {
    if (rewrite_ == nullptr) {
        return;
    }
    const auto slot = log_.table.slot_of(rewrite_->number());
    const bool touched = std::ranges::any_of(
        erased, [&](Position position) { return log_.index.location(position).segment == *slot; });
    if (touched) {
        const std::uint64_t number = rewrite_->number();
        // Whoever asked for all of them waits for the others, too.
        if (!given_up_.insert_or_assign(number, std::chrono::steady_clock::now()).second) {
            passed_over_ = std::max(passed_over_, number);
        }
        rewrite_.reset();
    }
}

void Compaction::count_dead() noexcept {
    std::uint64_t dead = 0;
    for (const auto& [number, bytes] : eraser_.dead_bytes()) {
        dead += bytes;
    }
    dead_bytes_ = dead;
    segments_left_ = eraser_.dead_bytes().size();
    newest_ = dead == 0 ? 0 : eraser_.dead_bytes().rbegin()->first;
    newest_dead_bytes_ = dead == 0 ? 0 : eraser_.dead_bytes().rbegin()->second;
}

CompactionProgress Compaction::progress() const noexcept {
    // Dead bytes in the open segment stay until the next segment begins.
    const bool open = newest_ != 0 && newest_ == log_.writer.newest_number();
    return {.running = !ended_ && (asked_ || running_),
            .ended = ended_,
            .segments_done = segments_done_,
            .segments_left = segments_left_ - (open ? 1 : 0),
            .bytes_read = bytes_read_,
            .bytes_freed = bytes_freed_,
            .dead_bytes = dead_bytes_ - (open ? newest_dead_bytes_.load() : 0),
            .segments_packed = segments_packed_,
            .pack_bytes_read = pack_bytes_read_,
            .pack_bytes_written = pack_bytes_written_};
}

}  // namespace annals::storage
