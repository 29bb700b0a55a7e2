#include "storage/compaction.h"

#include "core/base/bytes.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "storage/segment_writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::storage {
namespace {

/// Read by one step: what an erasure, and whoever shares the device, may have to wait for.
constexpr std::uint64_t kStepBytes = 1 << 20;

/// Written between two syncs, so that no sync is long.
constexpr std::uint64_t kSyncedBytes = 4 << 20;

}  // namespace

// ---- one segment ----

Result<std::unique_ptr<SegmentRewrite>> SegmentRewrite::begin(FileSystem& fs,
                                                              const std::string& segments,
                                                              std::uint64_t number) {
    std::unique_ptr<SegmentRewrite> rewrite(new SegmentRewrite(fs, segments));
    const std::string path = segments + "/" + segment_name(number);
    {
        ANNALS_TRY(const auto file, fs.open(path, FileSystem::Mode::read));
        ANNALS_TRY(const std::uint64_t bytes, file->size());
        ANNALS_TRY(rewrite->data_, file->map(bytes));
        rewrite->source_ = {rewrite->data_.get(), bytes};
    }
    ANNALS_TRY(rewrite->header_, decode_segment_header(rewrite->source_, path));
    ANNALS_TRY(const FooterReader footer, FooterReader::open(rewrite->source_, rewrite->header_));
    rewrite->frames_end_ = footer.offset();
    rewrite->last_instant_ = footer.last_instant();
    footer.for_each([&](const Hint& hint) { rewrite->hints_.push_back(hint); });
    rewrite->old_salt_ = rewrite->header_.salt;
    rewrite->header_.salt = random_u64();
    rewrite->footer_.emplace(rewrite->header_.first_position);
    if (fs.exists(rewrite->draft_)) {
        ANNALS_TRY_VOID(fs.remove(rewrite->draft_));
    }
    ANNALS_TRY(rewrite->file_, fs.open(rewrite->draft_, FileSystem::Mode::create));
    rewrite->pending_.resize(kSegmentHeaderBytes);
    encode_segment_header(rewrite->header_, rewrite->pending_.data());
    return rewrite;
}

SegmentRewrite::~SegmentRewrite() {
    if (file_ != nullptr && !finished_) {
        file_.reset();
        (void)fs_.remove(draft_);  // If not, the next opening does.
    }
}

Result<bool> SegmentRewrite::step(std::uint64_t bytes) {
    const std::uint64_t until = read_ + bytes;
    while (read_ < frames_end_ && read_ < until) {
        ANNALS_TRY_VOID(copy_frame());
    }
    if (pending_.size() >= kSyncedBytes) {
        ANNALS_TRY_VOID(flush());
    }
    return read_ >= frames_end_;
}

Result<void> SegmentRewrite::copy_frame() {
    const auto frame = decode_frame(source_.substr(0, frames_end_).substr(read_), old_salt_);
    if (!frame) {
        // Somebody blanks it just now, or it is damaged.
        return Error{Errc::corrupt,
                     fmt::format("segments/{}: offset {}: no whole frame",
                                 segment_name(header_.number), read_),
                     {}};
    }
    const std::size_t start = pending_.size();
    pending_.append(kFrameHeaderBytes, '\0');
    RecordReader reader(source_, read_, *frame);
    FrameHeader header = *frame;
    header.record_count = 0;
    header.synced_offset = kSegmentHeaderBytes;
    while (true) {
        ANNALS_TRY(const std::optional<Record> read, reader.next());
        if (!read) {
            break;
        }
        if (next_hint_ == hints_.size() || hints_[next_hint_].offset != reader.offset()) {
            return Error{Errc::corrupt,
                         fmt::format("segments/{}: offset {}: the footer knows no record here",
                                     segment_name(header_.number), reader.offset()),
                         {}};
        }
        Hint hint = hints_[next_hint_++];
        const std::size_t at = pending_.size();
        if (read->bodiless && !read->body.empty()) {
            append_record(*read, {}, pending_);
        } else {
            pending_.append(source_.substr(reader.offset(), reader.size()));
        }
        hint.offset = written_ + at;
        hint.size = static_cast<std::uint32_t>(pending_.size() - at);
        footer_->add(hint);
        ++header.record_count;
    }
    if (header.record_count == 0) {
        pending_.resize(start);  // A mark: its work is done.
    } else {
        header.length = pending_.size() - start;
        finish_frame(header, header_.salt, pending_.data() + start);
    }
    read_ += frame->length;
    return {};
}

Result<void> SegmentRewrite::flush() {
    ANNALS_TRY_VOID(file_->write(written_, pending_));
    ANNALS_TRY_VOID(file_->sync());
    written_ += pending_.size();
    pending_.clear();
    return {};
}

Result<Segment> SegmentRewrite::finish() {
    if (next_hint_ != hints_.size()) {
        return Error{Errc::corrupt,
                     fmt::format("segments/{}: the footer knows more records than there are",
                                 segment_name(header_.number)),
                     {}};
    }
    pending_ += footer_->build(written_ + pending_.size(), last_instant_, header_.salt);
    ANNALS_TRY_VOID(flush());
    ANNALS_TRY(std::shared_ptr<const char> data, file_->map(written_));
    ANNALS_TRY_VOID(fs_.rename(draft_, segments_ + "/" + segment_name(header_.number)));
    finished_ = true;
    ANNALS_TRY_VOID(fs_.sync_directory(segments_));
    return Segment{header_, std::move(data), written_};
}

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
    // The positions of a segment are those up to the next one's, and all of them are visible.
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

// ---- all of them ----

Compaction::Compaction(FileSystem& fs, std::string directory, SegmentTable& table, Index& index,
                       SegmentWriter& writer, Eraser& eraser)
    : fs_(fs),
      segments_(std::move(directory) + "/segments"),
      table_(table),
      index_(index),
      writer_(writer),
      eraser_(eraser) {
    count_dead();
}

void Compaction::measure_all() {
    const std::uint64_t open = writer_.open_number();
    for (std::uint64_t number = 1; open != 0 && number < open; ++number) {
        eraser_.set_dead_bytes(number, measure_dead(table_, index_, number));
    }
}

std::optional<std::uint64_t> Compaction::next_segment() const {
    const std::uint64_t open = writer_.open_number();
    for (const auto& [number, dead] : eraser_.dead_bytes()) {
        const auto slot = table_.slot_of(number);
        if (number <= passed_over_ || number >= open || !slot) {
            continue;
        }
        const auto share = static_cast<double>(dead) / static_cast<double>(std::max<std::uint64_t>(
                                                           1, table_.find(*slot)->bytes));
        if (whole_ || share >= kDeadShare) {
            return number;
        }
    }
    return std::nullopt;
}

Result<bool> Compaction::step() {
    if (asked_.exchange(false)) {
        whole_ = true;
        passed_over_ = 0;
        running_ = true;
        measure_all();
    }
    if (rewrite_ == nullptr) {
        count_dead();
        const auto number = next_segment();
        running_ = number.has_value();
        if (!number) {
            whole_ = false;
            passed_over_ = 0;
            return false;
        }
        auto begun = SegmentRewrite::begin(fs_, segments_, *number);
        if (!begun) {
            passed_over_ = *number;
            return std::move(begun.error());
        }
        rewrite_ = *std::move(begun);
        return true;
    }
    const std::uint64_t before = rewrite_->done();
    const auto copied = rewrite_->step(kStepBytes);
    bytes_read_ += rewrite_->done() - before;
    if (copied && !*copied) {
        return true;
    }
    // Whatever became of it, it is over.
    const std::unique_ptr<SegmentRewrite> rewrite = std::move(rewrite_);
    const std::uint64_t number = rewrite->number();
    passed_over_ = std::max(passed_over_, number);
    if (!copied) {
        return copied.error();
    }
    auto finished = rewrite->finish();
    broken_ = rewrite->finished() && !finished;
    ANNALS_TRY(Segment segment, std::move(finished));
    const std::uint64_t freed = rewrite->bytes() - segment.bytes;
    ANNALS_TRY_VOID(switch_segment(table_, index_, std::move(segment)));
    eraser_.set_dead_bytes(number, 0);
    writer_.add_log_bytes(0 - freed);
    bytes_freed_ += freed;
    ++segments_done_;
    count_dead();
    return true;
}

void Compaction::erasing(std::span<const Position> erased) {
    if (rewrite_ == nullptr) {
        return;
    }
    const auto slot = table_.slot_of(rewrite_->number());
    const bool touched = std::ranges::any_of(
        erased, [&](Position position) { return index_.location(position).segment == *slot; });
    if (touched) {
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
    // What is dead in the open segment stays until that is sealed.
    const bool open = newest_ != 0 && newest_ == writer_.open_number();
    return {.running = running_ || asked_,
            .segments_done = segments_done_,
            .segments_left = segments_left_ - (open ? 1 : 0),
            .bytes_read = bytes_read_,
            .bytes_freed = bytes_freed_,
            .dead_bytes = dead_bytes_ - (open ? newest_dead_bytes_.load() : 0)};
}

}  // namespace annals::storage
