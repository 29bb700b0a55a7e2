#include "storage/segment.h"

#include "core/base/bytes.h"
#include "storage/packed_segment.h"
#include "storage/resident_pages.h"
#include "storage/segment_footer.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

namespace annals::storage {

SegmentTable::~SegmentTable() {
    for (auto& slot : chunks_) {
        const std::unique_ptr<Chunk> chunk(slot.load());
        if (chunk != nullptr) {
            for (auto& segment : *chunk) {
                delete segment.load();
            }
        }
    }
}

namespace {

/// Alone in its cache lines, so that its count is, too.
struct alignas(kCacheLineBytes) Hold {
    std::shared_ptr<const char> data;
    std::shared_ptr<const PackedSegment> packed;
};

void make_holds(Segment& segment) {
    for (std::shared_ptr<const char>& hold : segment.holds) {
        hold = {std::make_shared<Hold>(segment.data, segment.packed), segment.data.get()};
    }
}

}  // namespace

std::uint32_t SegmentTable::insert(Segment segment) {
    const std::uint64_t number = segment.header.number;
    const std::lock_guard lock(mutex_);
    std::uint32_t number_slot = next_slot_;
    if (free_.empty()) {
        ++next_slot_;
    } else {
        number_slot = free_.back();
        free_.pop_back();
    }
    ANNALS_CHECK(number_slot <= kSlotMax && number <= kSlotMax);
    auto& slot = chunks_[number_slot / kChunk];
    Chunk* chunk = slot.load(std::memory_order_relaxed);
    if (chunk == nullptr) {
        chunk = std::make_unique<Chunk>().release();
        slot.store(chunk, std::memory_order_release);
    }
    packed_ += segment.packed != nullptr ? 1 : 0;
    make_holds(segment);
    (*chunk)[number_slot % kChunk].store(std::make_unique<Segment>(std::move(segment)).release());
    if (slots_.size() <= number) {
        slots_.resize(number + 1, 0);
    }
    if (slots_[number] == 0) {
        size_.fetch_add(1, std::memory_order_relaxed);
    }
    slots_[number] = number_slot;
    return number_slot;
}

const Segment* SegmentTable::find(std::uint64_t slot) const noexcept {
    if (slot > kSlotMax) {
        return nullptr;
    }
    const Chunk* chunk = chunks_[slot / kChunk].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : (*chunk)[slot % kChunk].load();
}

std::optional<std::uint32_t> SegmentTable::slot_of(std::uint64_t number) const {
    const std::lock_guard lock(mutex_);
    return number < slots_.size() && slots_[number] != 0 ? std::optional(slots_[number])
                                                         : std::nullopt;
}

void SegmentTable::retire(std::uint32_t slot) {
    Chunk* chunk = chunks_[slot / kChunk].load(std::memory_order_acquire);
    const std::unique_ptr<const Segment> segment((*chunk)[slot % kChunk].exchange(nullptr));
    packed_ -= segment != nullptr && segment->packed != nullptr ? 1 : 0;
    // A reader that counts itself in from here on finds the slot empty: pointer and counts share one total order.
    readers_.await_none();
    const std::lock_guard lock(mutex_);
    free_.push_back(slot);
}

Segment::Holds SegmentTable::renew_holds(std::uint32_t slot) {
    auto& place = (*chunks_[slot / kChunk].load(std::memory_order_acquire))[slot % kChunk];
    auto renewed = std::make_unique<Segment>(*place.load());
    renewed->erased_from = true;
    make_holds(*renewed);
    const std::unique_ptr<const Segment> before(place.exchange(renewed.release()));
    readers_.await_none();
    return before->holds;
}

std::optional<FrameAt> find_frame(std::string_view bytes, std::uint64_t from, std::uint64_t salt) {
    for (std::uint64_t at = from; at + kFrameHeaderBytes <= bytes.size(); at += kAlignment) {
        if (const auto header = decode_frame(bytes.substr(at), salt)) {
            return FrameAt{at, *header};
        }
    }
    return std::nullopt;
}

std::optional<std::uint64_t> frame_around(std::string_view bytes, std::uint64_t offset,
                                          std::uint64_t salt) {
    for (std::uint64_t at = offset - kFrameHeaderBytes; at >= kSegmentHeaderBytes;
         at -= kAlignment) {
        const auto frame = peek_frame(bytes.substr(at), salt);
        if (frame && at + frame->length > offset) {
            return at;
        }
    }
    return std::nullopt;
}

Result<Segment> make_segment(const SegmentHeader& header, std::shared_ptr<const char> data,
                             std::uint64_t bytes) {
    Segment segment{header, std::move(data), bytes};
    if (header.format == SegmentFormat::packed) {
        ANNALS_TRY(segment.packed, PackedSegment::open(header, segment.data, bytes));
    }
    return segment;
}

Result<void> switch_segment(SegmentTable& table, Index& index, Segment segment) {
    ANNALS_TRY(const FooterReader footer, FooterReader::open(segment));
    const auto old = table.slot_of(segment.header.number);
    const std::uint32_t slot = table.insert(std::move(segment));
    footer.for_each([&](const Hint& hint) {
        if (hint.kind == RecordKind::version) {
            index.relocate(hint.position, {slot, hint.offset});
        }
    });
    if (old) {
        table.retire(*old);
    }
    return {};
}

namespace {

/// How many versions are checked under one Reader, during which no segment can be retired.
constexpr std::size_t kLookedAtTogether = 128;

/// How many times a record that is not whole is read if another process may be writing there, and the pause in between.
constexpr int kLooks = 5;
constexpr auto kBetweenLooks = std::chrono::microseconds(100);

/// Where a version is, and what keeps its bytes.
struct Place {
    Location location;
    SegmentHeader header;
    std::shared_ptr<const char> hold;
    std::string_view bytes;
    const PackedSegment* packed;  ///< null: plain
    bool erased_from;

    std::uint64_t at;  ///< where the record begins, in `bytes` or in the image

    /// The record at `offset`; sets `unpacked` to the owner of its bytes if they are not the mapping's.
    Result<Record> record(std::uint64_t offset, std::shared_ptr<const char>& unpacked) const {
        if (packed == nullptr) {
            return decode_record(bytes, offset);
        }
        ANNALS_TRY(ImagePart part, packed->read(offset));
        unpacked = std::move(part.data);
        return parse_record({unpacked.get(), part.bytes}, offset - part.offset);
    }
};

/// None if the version was erased and its segment is gone.
std::optional<Place> find_place(const SegmentTable& segments, const Index& index,
                                Position position) {
    for (;;) {
        const SegmentTable::Reader reader(segments);
        const Location location = index.location(position);
        if (const Segment* segment = segments.find(location.segment)) {
            return Place{location,        segment->header,       segment->hold(),
                         segment->view(), segment->packed.get(), segment->erased_from,
                         location.offset};
        }
        if (index.location(position).segment == location.segment) {
            return std::nullopt;
        }
    }
}

/// Whether everything that reads of the record at `offset` touch is in memory.
bool is_resident(std::string_view bytes, const PackedSegment* packed, std::uint64_t offset,
                 ResidentPages& pages, ResidentPages::Time now) {
    if (packed != nullptr) {
        return pages.have(packed->packed(offset), now);
    }
    if (offset > bytes.size() || !pages.have(bytes.substr(offset, kRecordHeaderBytes), now)) {
        return false;
    }
    const auto length = record_length(bytes, offset);
    if (!length) {
        return true;
    }
    // The header's page is in memory; a record shorter than a page touches only one more, its last.
    const std::uint64_t from = *length > kPageBytes ? 0 : *length - 1;
    return pages.have(bytes.substr(offset + from, *length - from), now);
}

Error was_erased() {
    return {Errc::not_found, "the version was erased"};
}

/// The version at `place`.
Result<StoredVersion> load(const Index& index, const VersionInfo& info, Place place,
                           bool read_only) {
    const auto failed = [&](std::string_view why) {
        // A version erased during the read may be seen half blanked.
        return index.link(info.position).erased
                   ? was_erased()
                   : damaged_at(place.header.number, place.location.offset, why);
    };
    if (place.erased_from && index.link(info.position).erased) {
        return was_erased();
    }
    std::shared_ptr<const char> unpacked;
    const Result<Record> record = place.record(place.at, unpacked);
    if (!record) {
        return failed(place.packed == nullptr ? "damaged record" : "damaged block");
    }
    if (record->kind != RecordKind::version || record->version != info.version ||
        record->instant != info.instant || record->deletion != info.deletion ||
        record->type != resource_type_name(info.type)) {
        return failed("the record is of another version");
    }
    if (record->bodiless) {
        // If the index knows every erasure, none without it is legitimate.
        return read_only ? was_erased() : failed("the body was erased");
    }
    return StoredVersion{.info = info,
                         .id = record->id,
                         .body = record->body,
                         .pin = std::move(unpacked != nullptr ? unpacked : place.hold),
                         .method = record->method};
}

/// The version at `place` while another process may be writing. It blanks bodies without waiting for readers here, so a copy is
/// checked and returned.
[[gnu::noinline]] Result<StoredVersion> load_copy(const Index& index, const VersionInfo& info,
                                                  const Place& place) {
    for (int looks = 1;; ++looks) {
        Place copied = place;
        const auto length =
            place.packed == nullptr ? record_length(place.bytes, place.at) : std::nullopt;
        if (length) {
            const auto copy = std::make_shared_for_overwrite<char[]>(*length);
            std::memcpy(copy.get(), place.bytes.data() + place.at, *length);
            copied.hold = {copy, copy.get()};
            copied.bytes = {copy.get(), *length};
            copied.at = 0;
        }
        Result<StoredVersion> loaded = load(index, info, std::move(copied), true);
        // Half of it may be blanked right now; real damage remains.
        if (loaded || loaded.error().code != Errc::corrupt || looks == kLooks) {
            return loaded;
        }
        std::this_thread::sleep_for(kBetweenLooks);
    }
}

}  // namespace

Result<StoredVersion> load_version(const SegmentTable& segments, const Index& index,
                                   const VersionInfo& info, bool read_only) {
    std::optional<Place> place = find_place(segments, index, info.position);
    if (!place) {
        return was_erased();
    }
    if (read_only) [[unlikely]] {
        return load_copy(index, info, *place);
    }
    return load(index, info, *std::move(place), false);
}

Result<StoredVersion> load_resident(const SegmentTable& segments, const Index& index,
                                    const VersionInfo& info, ResidentPages& pages, bool read_only) {
    std::optional<Place> place = find_place(segments, index, info.position);
    if (!place) {
        return was_erased();
    }
    if (!is_resident(place->bytes, place->packed, place->location.offset, pages,
                     ResidentPages::time())) {
        StoredVersion unread;
        unread.unread = true;
        return unread;
    }
    if (read_only) [[unlikely]] {
        return load_copy(index, info, *place);
    }
    return load(index, info, *std::move(place), false);
}

std::vector<Position> find_unread(const SegmentTable& segments, const Index& index,
                                  std::span<const VersionInfo> versions, ResidentPages& pages) {
    std::vector<Position> unread;
    const Position last = index.last_position();
    const ResidentPages::Time now = ResidentPages::time();
    while (!versions.empty()) {
        const SegmentTable::Reader reader(segments);
        const auto some = versions.first(std::min(versions.size(), kLookedAtTogether));
        versions = versions.subspan(some.size());
        for (const VersionInfo& info : some) {
            if (info.position > last) {
                continue;
            }
            const Location location = index.location(info.position);
            const Segment* const segment = segments.find(location.segment);
            // A segment that has just replaced another was written recently.
            if (segment != nullptr &&
                !is_resident(segment->view(), segment->packed.get(), location.offset, pages, now)) {
                unread.push_back(info.position);
            }
        }
    }
    return unread;
}

void bring_in(const SegmentTable& segments, const Index& index, Position position,
              ResidentPages& pages) {
    const std::optional<Place> place = find_place(segments, index, position);
    if (!place) {
        return;
    }
    const std::uint64_t offset = place->location.offset;
    if (place->packed != nullptr) {
        pages.bring_in(place->packed->packed(offset));
        return;
    }
    if (offset > place->bytes.size()) {
        return;
    }
    // Most records are not longer than a page. What follows the record may be being written, and is not read.
    pages.will_read(place->bytes.substr(offset, kPageBytes));
    pages.bring_in(place->bytes.substr(offset, kRecordHeaderBytes));
    if (const auto length = record_length(place->bytes, offset)) {
        pages.bring_in(place->bytes.substr(offset, *length));
    }
}

std::optional<CommitRequest> find_request(const SegmentTable& segments, const Index& index,
                                          Position last) {
    const std::optional<Place> place = find_place(segments, index, last);
    if (!place) {
        return std::nullopt;
    }
    // It follows the last version. If the next frame begins there instead, no record fits: its magic is too large for a length.
    std::shared_ptr<const char> unpacked;
    const Result<Record> version = place->record(place->at, unpacked);
    if (!version) {
        return std::nullopt;
    }
    const std::uint64_t behind =
        place->location.offset + record_bytes(*version, version->body.size());
    const Result<Record> record = place->record(behind, unpacked);
    if (!record || record->kind != RecordKind::request || record->bodiless) {
        return std::nullopt;
    }
    return CommitRequest{{place->location.segment, behind}, std::string(record->body)};
}

namespace {

/// The end of the last nonzero byte.
std::uint64_t end_of_content(std::string_view bytes) {
    // The tail is mostly zeros: compare whole words where possible.
    constexpr std::uint64_t kWord = sizeof(std::uint64_t);
    std::uint64_t at = bytes.size();
    while (at > 0 && at % kWord != 0 && bytes[at - 1] == '\0') {
        --at;
    }
    while (at >= kWord && load_le<std::uint64_t>(bytes.data() + at - kWord) == 0) {
        at -= kWord;
    }
    while (at > 0 && bytes[at - 1] == '\0') {
        --at;
    }
    return at;
}

}  // namespace

SegmentScan scan_segment(std::string_view bytes, const SegmentHeader& header) {
    // The tail first, which takes longer than a commit: what it contains then belongs to frames that are found whole
    // below, or to the one write under way. Scanned after the frames, it would include frames that arrived meanwhile.
    const std::uint64_t content_end = end_of_content(bytes);
    SegmentScan scan;
    scan.end = kSegmentHeaderBytes;
    while (scan.end < bytes.size()) {
        const auto frame = decode_frame(bytes.substr(scan.end), header.salt);
        if (!frame) {
            break;
        }
        scan.frames.push_back({scan.end, *frame});
        scan.end += frame->length;
    }

    scan.garbage_end = std::max(content_end, scan.end);
    const std::string_view garbage =
        bytes.substr(0, std::min(padded(scan.garbage_end), bytes.size()));
    auto frame = find_frame(garbage, scan.end, header.salt);
    while (frame && frame->header.synced_offset <= scan.end) {
        frame = find_frame(garbage, frame->offset + kAlignment, header.salt);
    }
    if (frame) {
        scan.witness = frame->offset;
    }
    return scan;
}

}  // namespace annals::storage
