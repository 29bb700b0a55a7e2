#include "storage/segment_rewrite.h"

#include "core/base/random.h"
#include "storage/pack_dictionary.h"
#include "storage/packed_segment.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace annals::storage {
namespace {

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

}  // namespace annals::storage
