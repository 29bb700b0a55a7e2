#include "storage/segment_packer.h"

#include "core/base/bytes.h"
#include "core/base/digest.h"

namespace annals::storage {

struct SegmentPacker::Compressor {
    std::string dictionary;
    PackCompression blocks;
    PackCompression plain;  ///< for what is compressed without a dictionary

    explicit Compressor(std::string text)
        : dictionary(std::move(text)), blocks(dictionary), plain({}) {}
};

SegmentPacker::SegmentPacker(const SegmentHeader& header, std::string dictionary)
    : header_(header),
      compressor_(std::make_unique<Compressor>(std::move(dictionary))),
      out_(kSegmentHeaderBytes, '\0') {
    ANNALS_CHECK(header.format == SegmentFormat::packed);
    encode_segment_header(header, out_.data());
}

SegmentPacker::~SegmentPacker() = default;

void SegmentPacker::end_block() {
    if (block_.empty()) {
        return;
    }
    append_table_entry(image_, file_ + out_.size(), table_);
    compressor_->blocks.append_block(block_, header_.salt, out_);
    content_ = hash64(block_, content_);
    image_ += block_.size();
    ++blocks_;
    block_.clear();
}

void SegmentPacker::add_frame(std::string_view frame) {
    const std::uint32_t records = read_frame_header(frame.data()).record_count;
    std::size_t begin = 0;
    std::size_t at = kFrameHeaderBytes;
    for (std::uint32_t i = 0; i < records; ++i) {
        const std::size_t end = at + padded(load_le<std::uint32_t>(frame.data() + at + 8));
        if (block_.size() + end - begin > kPackBlockBytes) {
            end_block();
        }
        const std::size_t start = block_.size();
        block_ += frame.substr(begin, end - begin);
        char* const record = block_.data() + start + (at - begin);
        if (begin == 0) {
            clear_frame_checksums(block_.data() + start);
        }
        store_le(record, std::uint64_t{0});
        begin = end;
        at = end;
    }
    ANNALS_CHECK(begin == frame.size());
}

std::string SegmentPacker::take() {
    std::string taken = std::move(out_);
    out_.clear();
    file_ += taken.size();
    return taken;
}

std::string SegmentPacker::finish(std::string_view footer, std::span<const std::uint64_t> sources) {
    end_block();
    std::string rest = std::move(out_);
    const std::uint64_t parts_at = rest.size();
    PackEnd end{.image_bytes = image_ + footer.size(),
                .frames_end = image_,
                .blocks_end = file_ + rest.size(),
                .dictionary_bytes = static_cast<std::uint32_t>(compressor_->dictionary.size()),
                .sources = static_cast<std::uint32_t>(sources.size()),
                .blocks = static_cast<std::uint32_t>(blocks_)};
    if (!compressor_->dictionary.empty()) {
        compressor_->plain.append(compressor_->dictionary, rest);
        end.dictionary_packed = static_cast<std::uint32_t>(rest.size() - parts_at);
    }
    for (const std::uint64_t source : sources) {
        append_le(rest, static_cast<std::uint32_t>(source / kAlignment));
    }
    rest += table_;
    end.parts_checksum = hash64(std::string_view(rest).substr(parts_at), header_.salt);

    const auto columns = hints_to_columns(footer);
    ANNALS_CHECK(columns.has_value());
    const std::size_t footer_at = rest.size();
    compressor_->plain.append(*columns, rest);
    end.footer_packed = rest.size() - footer_at;
    end.footer_checksum = hash64(std::string_view(rest).substr(footer_at), header_.salt);
    append_pack_end(end, header_.salt, rest);
    return rest;
}

}  // namespace annals::storage
