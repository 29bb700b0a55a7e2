#include "storage/packed_segment.h"

#include "core/base/bytes.h"
#include "core/base/digest.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace annals::storage {
namespace {

/// Larger blocks are not cached: they hold one record, which is not asked for twice in a row.
constexpr std::uint64_t kCachedBlockMax = 16 << 10;
constexpr std::size_t kCachedBlocks = 512;  // per thread; most are 4 KiB

}  // namespace

PackedSegment::PackedSegment(const SegmentHeader& header) : header_(header) {
    static std::atomic<std::uint64_t> serials{0};
    serial_ = ++serials;
}

PackedSegment::~PackedSegment() = default;

Error PackedSegment::damaged(std::uint64_t offset, std::string_view why) const {
    return damaged_at(header_.number, offset, why);
}

Result<std::shared_ptr<const PackedSegment>> PackedSegment::open(const SegmentHeader& header,
                                                                 std::shared_ptr<const char> data,
                                                                 std::uint64_t bytes,
                                                                 const OnDamage& on_damage) {
    const std::shared_ptr<PackedSegment> segment(new PackedSegment(header));
    segment->data_ = std::move(data);
    segment->bytes_ = bytes;
    ANNALS_TRY_VOID(segment->open_parts(on_damage));
    return std::shared_ptr<const PackedSegment>(segment);
}

Result<void> PackedSegment::open_parts(const OnDamage& on_damage) {
    const auto damaged = [&](std::uint64_t offset, std::string_view why) {
        if (on_damage) {
            on_damage(offset, why);
        }
        return this->damaged(offset, why);
    };
    const std::string_view file(data_.get(), bytes_);
    if (bytes_ < kSegmentHeaderBytes + kPackEndBytes) {
        return damaged(bytes_, "too short for a packed segment");
    }
    const std::uint64_t end_at = bytes_ - kPackEndBytes;
    const auto end = read_pack_end(file, header_.salt);
    if (!end) {
        return damaged(end_at, end.error().detail);
    }
    const std::uint64_t parts = end->dictionary_packed +
                                std::uint64_t{end->sources} * kPackSourceBytes +
                                std::uint64_t{end->blocks} * kPackBlockEntryBytes;
    if (end->image_bytes > kImageBytesMax || end->frames_end > end->image_bytes ||
        end->frames_end < kSegmentHeaderBytes || end->frames_end % kAlignment != 0 ||
        end->blocks_end < kSegmentHeaderBytes || end->blocks_end > end_at ||
        end->dictionary_bytes > kPackDictionaryBytesMax || end->footer_packed > bytes_ ||
        end->blocks_end + parts + end->footer_packed != end_at) {
        return damaged(end_at, "end whose parts do not add up");
    }
    if (hash64(file.substr(end->blocks_end, parts), header_.salt) != end->parts_checksum) {
        return damaged(end->blocks_end, "damaged dictionary or table");
    }
    image_bytes_ = end->image_bytes;
    frames_end_ = end->frames_end;
    blocks_end_ = end->blocks_end;
    block_count_ = end->blocks;
    footer_at_ = end_at - end->footer_packed;

    dictionary_packed_ = file.substr(blocks_end_, end->dictionary_packed);
    dictionary_bytes_ = end->dictionary_bytes;
    const auto dictionary = this->dictionary();
    if (!dictionary || (!dictionary->empty() && !blocks_.set_dictionary(*dictionary))) {
        return damaged(blocks_end_, "an invalid dictionary");
    }
    const std::uint64_t sources_at = blocks_end_ + end->dictionary_packed;
    if (!read_sources(file.data() + sources_at, end->sources)) {
        return damaged(sources_at, "sources that do not ascend");
    }
    table_at_ = sources_at + std::uint64_t{end->sources} * kPackSourceBytes;
    table_ = file.data() + table_at_;
    const std::string_view fault = fault_of_table();
    if (!fault.empty()) {
        return damaged(table_at_, fault);
    }
    return {};
}

/// Reads the places in the plain file that the dictionary's pieces come from; false if they don't ascend.
bool PackedSegment::read_sources(const char* at, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint64_t source =
            std::uint64_t{load_le<std::uint32_t>(at + i * kPackSourceBytes)} * kAlignment;
        if (source >= frames_end_ || (!sources_.empty() && source <= sources_.back())) {
            return false;
        }
        sources_.push_back(source);
    }
    return true;
}

/// What is wrong with the table of blocks; empty: nothing.
std::string_view PackedSegment::fault_of_table() const {
    std::uint64_t image = kSegmentHeaderBytes;
    std::uint64_t at = kSegmentHeaderBytes;
    for (std::uint64_t i = 0; i < block_count_; ++i) {
        const Block here = block(i);
        // Nothing wraps: the table's numbers are below 2^35 each.
        if (here.image_offset != image || here.file_offset != at ||
            here.image_offset + here.image_bytes > frames_end_ ||
            here.image_bytes < kRecordHeaderBytes || here.file_bytes <= kPackChecksumBytes ||
            here.file_offset + here.file_bytes > blocks_end_) {
            return "table whose blocks are not contiguous";
        }
        image += here.image_bytes;
        at += here.file_bytes;
    }
    if (image != frames_end_ || at != blocks_end_) {
        return "table that lacks blocks";
    }
    return {};
}

PackedSegment::Block PackedSegment::block(std::uint64_t index) const noexcept {
    const char* entry = table_ + index * kPackBlockEntryBytes;
    Block block{.image_offset = std::uint64_t{load_le<std::uint32_t>(entry)} * kAlignment,
                .file_offset = load_le<std::uint32_t>(entry + 4)};
    const bool last = index + 1 == block_count_;
    const char* next = entry + kPackBlockEntryBytes;
    // If the table doesn't ascend, these wrap and exceed any limit.
    block.image_bytes =
        (last ? frames_end_ : std::uint64_t{load_le<std::uint32_t>(next)} * kAlignment) -
        block.image_offset;
    block.file_bytes =
        (last ? blocks_end_ : std::uint64_t{load_le<std::uint32_t>(next + 4)}) - block.file_offset;
    return block;
}

std::uint64_t PackedSegment::block_of(std::uint64_t image_offset) const noexcept {
    std::uint64_t low = 0;
    std::uint64_t high = block_count_;
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        const auto begin = load_le<std::uint32_t>(table_ + middle * kPackBlockEntryBytes);
        (std::uint64_t{begin} * kAlignment <= image_offset ? low : high) = middle;
    }
    return low;
}

Result<void> PackedSegment::unpack(const Block& block, char* out) const {
    const std::string_view file(data_.get(), bytes_);
    const std::string_view packed = file.substr(block.file_offset, block.file_bytes);
    const std::string_view content = packed.substr(kPackChecksumBytes);
    if (load_le<std::uint64_t>(packed.data()) != hash64(content, header_.salt) ||
        !blocks_.unpack(content, out, block.image_bytes)) {
        return damaged(block.file_offset, "damaged block");
    }
    return {};
}

Result<ImagePart> PackedSegment::read(std::uint64_t offset) const {
    struct Cached {
        std::uint64_t serial = 0;
        std::uint64_t index = 0;
        ImagePart part;
    };

    thread_local std::array<Cached, kCachedBlocks> cache;

    if (block_count_ == 0 || offset < kSegmentHeaderBytes || offset >= frames_end_) {
        return damaged(table_at_, "no such record");
    }
    const std::uint64_t index = block_of(offset);
    Cached& cached = cache[(index + serial_) % kCachedBlocks];
    if (cached.serial == serial_ && cached.index == index) {
        return cached.part;
    }
    const Block found = block(index);
    // Records are at multiples of 8, also in memory.
    auto words = std::make_shared_for_overwrite<std::uint64_t[]>(found.image_bytes / kAlignment);
    char* const out = reinterpret_cast<char*>(words.get());
    ANNALS_TRY_VOID(unpack(found, out));
    ImagePart part{
        .data = {std::move(words), out}, .offset = found.image_offset, .bytes = found.image_bytes};
    if (found.image_bytes <= kCachedBlockMax) {
        cached = {.serial = serial_, .index = index, .part = part};
    }
    return part;
}

std::string_view PackedSegment::packed(std::uint64_t offset) const noexcept {
    if (block_count_ == 0 || offset < kSegmentHeaderBytes || offset >= frames_end_) {
        return {};
    }
    const Block found = block(block_of(offset));
    if (found.file_offset > bytes_ || found.file_bytes > bytes_ - found.file_offset) {
        return {};
    }
    return {data_.get() + found.file_offset, found.file_bytes};
}

Result<std::string> PackedSegment::footer() const {
    const std::string_view packed(data_.get() + footer_at_, bytes_ - kPackEndBytes - footer_at_);
    const auto checksum = load_le<std::uint64_t>(data_.get() + bytes_ - kPackEndBytes + 64);
    std::string columns(image_bytes_ - frames_end_, '\0');
    if (checksum != hash64(packed, header_.salt) ||
        !parts_.unpack(packed, columns.data(), columns.size())) {
        return damaged(footer_at_, "damaged footer");
    }
    auto footer = hints_to_rows(columns);
    if (!footer) {
        return damaged(footer_at_, footer.error().detail);
    }
    return footer;
}

Result<std::shared_ptr<const char>> PackedSegment::image(const OnDamage& on_damage) const {
    auto words = std::make_shared<std::uint64_t[]>(image_bytes_ / kAlignment + 1);
    char* const out = reinterpret_cast<char*>(words.get());
    SegmentHeader header = header_;
    header.format = SegmentFormat::plain;
    encode_segment_header(header, out);
    bool whole = true;
    for (std::uint64_t i = 0; i < block_count_; ++i) {
        const Block here = block(i);
        if (auto done = unpack(here, out + here.image_offset); !done) {
            if (!on_damage) {
                return std::move(done.error());
            }
            whole = false;
            std::memset(out + here.image_offset, 0, here.image_bytes);
            on_damage(here.file_offset, "damaged block");
        }
    }
    // If a block is missing, so may be the start of a frame: continue with the next frame that begins with a block.
    std::uint64_t at = kSegmentHeaderBytes;
    std::uint64_t index = 0;
    while ((at = restore_checksums(out, at, frames_end_, header_.salt)) < frames_end_) {
        if (!on_damage) {
            return damaged(block(block_of(at)).file_offset, "no frame here");
        }
        if (whole) {
            whole = false;
            on_damage(block(block_of(at)).file_offset, "no frame here");
        }
        while (index < block_count_ && block(index).image_offset <= at) {
            ++index;
        }
        if (index == block_count_) {
            break;
        }
        at = block(index).image_offset;
    }
    auto footer = this->footer();
    if (footer) {
        std::memcpy(out + frames_end_, footer->data(), footer->size());
    } else if (!on_damage) {
        return std::move(footer.error());
    } else {
        on_damage(footer_at_, "damaged footer");
    }
    return std::shared_ptr<const char>(std::move(words), out);
}

Result<std::string> PackedSegment::dictionary() const {
    std::string text(dictionary_bytes_, '\0');
    if (dictionary_bytes_ != 0 &&
        !parts_.unpack(dictionary_packed_, text.data(), dictionary_bytes_)) {
        return damaged(blocks_end_, "damaged dictionary");
    }
    return text;
}

Result<std::uint64_t> PackedSegment::content() const {
    std::uint64_t content = 0;
    std::string image;
    for (std::uint64_t i = 0; i < block_count_; ++i) {
        const Block here = block(i);
        image.resize(here.image_bytes);
        ANNALS_TRY_VOID(unpack(here, image.data()));
        content = hash64(image, content);
    }
    return content;
}

Result<std::string> PackedSegment::without(std::span<const std::uint64_t> records) const {
    for (const std::uint64_t record : records) {
        if (std::ranges::binary_search(sources_, record)) {
            return std::string();
        }
    }
    const std::string_view file(data_.get(), bytes_);
    ANNALS_TRY(const std::string dictionary, this->dictionary());
    const PackCompression compression(dictionary);
    std::string out(file.substr(0, kSegmentHeaderBytes));
    std::string table;
    std::size_t next = 0;
    std::string image;
    for (std::uint64_t i = 0; i < block_count_; ++i) {
        const Block here = block(i);
        append_table_entry(here.image_offset, out.size(), table);
        const std::uint64_t end = here.image_offset + here.image_bytes;
        if (next == records.size() || records[next] >= end) {
            out.append(file.substr(here.file_offset, here.file_bytes));
            continue;
        }
        image.resize(here.image_bytes);
        ANNALS_TRY_VOID(unpack(here, image.data()));
        for (; next < records.size() && records[next] < end; ++next) {
            const std::uint64_t at = records[next] - here.image_offset;
            if (!parse_record(image, at)) {
                return damaged(here.file_offset, "damaged record");
            }
            blank_record(image, at);
            store_le(image.data() + at, std::uint64_t{0});
        }
        compression.append_block(image, header_.salt, out);
    }
    ANNALS_TRY(PackEnd end, read_pack_end(file, header_.salt));
    const std::uint64_t parts_at = out.size();
    end.blocks_end = parts_at;
    out.append(file.substr(blocks_end_, table_at_ - blocks_end_)).append(table);
    end.parts_checksum = hash64(std::string_view(out).substr(parts_at), header_.salt);
    out.append(file.substr(footer_at_, bytes_ - kPackEndBytes - footer_at_));
    append_pack_end(end, header_.salt, out);
    return out;
}

}  // namespace annals::storage
