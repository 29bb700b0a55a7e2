// The frame reader: however the bytes are split, it gives the same messages or the same fault, within its bounds.

#include "codec/json/unicode.h"
#include "core/base/check.h"
#include "net/websocket.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using annals::net::FrameReader;

constexpr std::size_t kMessageBytesMax = 512;

std::string read(std::string_view bytes, std::size_t step) {
    FrameReader reader(kMessageBytesMax);
    std::string all;
    for (;;) {
        const FrameReader::Event event = reader.next();
        if (event == FrameReader::Event::need_bytes) {
            if (bytes.empty()) {
                return all;
            }
            reader.feed(bytes.substr(0, step));
            bytes.remove_prefix(std::min(step, bytes.size()));
            continue;
        }
        all += static_cast<char>(event);
        if (event == FrameReader::Event::close || event == FrameReader::Event::failed) {
            ANNALS_CHECK(reader.next() == event);
            return all + std::to_string(static_cast<unsigned>(reader.fault()));
        }
        ANNALS_CHECK(reader.payload().size() <=
                     (event == FrameReader::Event::text ? kMessageBytesMax : 125));
        ANNALS_CHECK(event != FrameReader::Event::text || annals::json::is_utf8(reader.payload()));
        all += reader.payload();
        all += '\1';
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    ANNALS_CHECK(read(bytes, bytes.size() + 1) == read(bytes, data[0] % 16 + 1));
    return 0;
}
