#include "storage/compaction.h"

#include "core/base/random.h"
#include "storage/pack_dictionary.h"
#include "storage/segment_writer.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::storage {
namespace {

/// Read by one step: an erasure, or whoever shares the device, may have to wait for it.
constexpr std::uint64_t kStepBytes = 1 << 20;

/// Written between two syncs, so that no sync is long.
constexpr std::uint64_t kSyncedBytes = 4 << 20;

/// How much of a segment's bodies is examined for its dictionary, in samples of at most kSampleBytesMax.
constexpr std::uint64_t kSampledBytes = 8 << 20;
constexpr std::uint64_t kSampleBytesMax = 64 << 10;

/// How many blocks are sampled: what they contain beside bodies is much the same in all.
constexpr std::size_t kSampledBlocks = 128;

/// The largest dictionary, also as a share of what it is for.
constexpr std::uint64_t kDictionaryBytes = 112 << 10;
constexpr std::uint64_t kDictionaryShare = 8;

/// If packing leaves a larger share of a segment, it is not worth the cost of reading through zstd.
constexpr double kPackedShareMax = 0.9;

}  // namespace

// ---- one segment ----

Result<std::unique_ptr<SegmentRewrite>> SegmentRewrite::begin(FileSystem& fs,
                                                              const std::string& segments,
                                                              std::uint64_t number, bool packed) {
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
    rewrite->header_.format = packed ? SegmentFormat::packed : SegmentFormat::plain;
    rewrite->footer_.emplace(rewrite->header_.first_position);
    ANNALS_TRY(rewrite->file_, create_anew(fs, rewrite->draft_));
    rewrite->image_ = kSegmentHeaderBytes;
    if (!packed) {
        rewrite->pending_.resize(kSegmentHeaderBytes);
        encode_segment_header(rewrite->header_, rewrite->pending_.data());
    }
    return rewrite;
}

SegmentRewrite::~SegmentRewrite() {
    if (file_ != nullptr && !finished_) {
        file_.reset();
        (void)fs_.remove(draft_);  // If that fails, the next opening does it.
    }
}

void SegmentRewrite::begin_packing() {
    std::vector<PackSample> samples;
    std::vector<std::string> blocks;
    const std::size_t every = frames_end_ / kSampledBytes + 1;
    const std::size_t every_block = hints_.size() / kSampledBlocks + 1;
    for (std::size_t i = 0; i < hints_.size(); i += every) {
        const auto record = decode_record(source_, hints_[i].offset);
        if (record && record->kind == RecordKind::version && !record->bodiless &&
            !record->body.empty() && record->body.size() <= kSampleBytesMax) {
            samples.push_back({hints_[i].offset, record->body});
        }
    }
    for (std::size_t i = 0; i < hints_.size(); i += every_block) {
        blocks.emplace_back(
            source_.substr(0, frames_end_).substr(hints_[i].offset, kPackBlockBytes));
    }
    PackDictionary dictionary = choose_dictionary(
        samples, blocks, std::min(kDictionaryBytes, frames_end_ / kDictionaryShare), kPackLevel);
    old_sources_ = std::move(dictionary.sources);
    packer_ = std::make_unique<SegmentPacker>(header_, std::move(dictionary.bytes));
}

Result<bool> SegmentRewrite::step(std::uint64_t bytes) {
    if (packs() && packer_ == nullptr) {
        begin_packing();
        return false;
    }
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
        // It is being blanked right now, or it is damaged.
        return damaged_at(header_.number, read_, "no intact frame");
    }
    frame_.assign(kFrameHeaderBytes, '\0');
    RecordReader reader(source_, read_, *frame);
    FrameHeader header = *frame;
    header.record_count = 0;
    header.synced_offset = kSegmentHeaderBytes;
    while (true) {
        const auto next = reader.next();
        if (!next) {
            return at_record("segments/" + segment_name(header_.number), reader.offset(),
                             next.error());
        }
        const std::optional<Record>& read = *next;
        if (!read) {
            break;
        }
        if (next_hint_ == hints_.size() || hints_[next_hint_].offset != reader.offset()) {
            return damaged_at(header_.number, reader.offset(), "the footer lists no record here");
        }
        Hint hint = hints_[next_hint_++];
        const std::size_t at = frame_.size();
        if (read->bodiless && !read->body.empty()) {
            append_record(*read, {}, frame_);
        } else {
            frame_.append(source_.substr(reader.offset(), reader.size()));
        }
        hint.offset = image_ + at;
        hint.size = static_cast<std::uint32_t>(frame_.size() - at);
        footer_->add(hint);
        if (std::ranges::binary_search(old_sources_, reader.offset())) {
            sources_.push_back(hint.offset);
        }
        ++header.record_count;
    }
    if (const std::string_view request = reader.request(); !request.empty()) {
        frame_.append(request);
        ++header.record_count;
    }
    read_ += frame->length;
    if (header.record_count == 0) {
        return {};  // A mark, which is no longer needed.
    }
    header.length = frame_.size();
    finish_frame(header, header_.salt, frame_.data());
    image_ += frame_.size();
    if (packer_ == nullptr) {
        pending_ += frame_;
    } else {
        packer_->add_frame(frame_);
        pending_ += packer_->take();
    }
    return {};
}

Result<void> SegmentRewrite::flush() {
    ANNALS_TRY_VOID(file_->write(written_, pending_));
    ANNALS_TRY_VOID(file_->sync());
    written_ += pending_.size();
    pending_.clear();
    return {};
}

Result<std::optional<Segment>> SegmentRewrite::finish() {
    if (next_hint_ != hints_.size()) {
        return Error{Errc::corrupt,
                     fmt::format("segments/{}: the footer lists more records than there are",
                                 segment_name(header_.number))};
    }
    const std::string footer = footer_->build(image_, last_instant_, header_.salt);
    pending_ += packer_ == nullptr ? footer : packer_->finish(footer, sources_);
    if (packs() && static_cast<double>(written_ + pending_.size()) >
                       kPackedShareMax * static_cast<double>(bytes())) {
        return std::optional<Segment>();
    }
    ANNALS_TRY_VOID(flush());
    ANNALS_TRY(std::shared_ptr<const char> data, file_->map(written_));
    ANNALS_TRY(Segment segment, make_segment(header_, std::move(data), written_));
    if (packs()) {
        // It replaces the only copy: read everything back before trusting it.
        ANNALS_TRY(const std::uint64_t content, segment.packed->content());
        ANNALS_TRY(const std::string unpacked, segment.packed->footer());
        if (content != packer_->content() || unpacked != footer) {
            return Error{Errc::corrupt, fmt::format("segments/{}: packed, it is another one",
                                                    segment_name(header_.number))};
        }
    }
    ANNALS_TRY_VOID(fs_.rename(draft_, segments_ + "/" + segment_name(header_.number)));
    finished_ = true;
    file_.reset();  // The directory needs a descriptor, and there is no way back.
    ANNALS_TRY_VOID(fs_.sync_directory(segments_));
    return std::optional(std::move(segment));
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

// ---- all of them ----

Compaction::Compaction(const OpenLog& log, Eraser& eraser, PackPolicy packing)
    : log_(log),
      segments_(log.directory + "/segments"),
      eraser_(eraser),
      packing_(std::move(packing)) {
    count_dead();
}

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
    std::unique_lock lock(log_.files);
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
