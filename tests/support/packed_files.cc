#include "tests/support/packed_files.h"

#include "storage/packed_segment.h"

#include <gtest/gtest.h>

namespace annals::test {

using storage::PackedSegment;
using storage::SegmentFormat;

bool is_packed(std::string_view file) {
    const auto header = storage::decode_segment_header(file, "file");
    return header && header->format == SegmentFormat::packed;
}

std::string unpacked(std::string_view file) {
    std::string all(file);
    if (!is_packed(file)) {
        return all;
    }
    const auto header = storage::decode_segment_header(file, "file");
    const std::shared_ptr<const char> data(all.data(), [](const char*) {});
    const auto packed = PackedSegment::open(*header, data, all.size());
    if (!packed) {
        ADD_FAILURE() << packed.error().detail;
        return all;
    }
    const auto image = (*packed)->image();
    const auto dictionary = (*packed)->dictionary();
    if (!image || !dictionary) {
        ADD_FAILURE() << "a packed segment that is not whole";
        return all;
    }
    std::string text(*dictionary);
    text.append(image->get(), (*packed)->image_bytes());
    return all + text;
}

}  // namespace annals::test
