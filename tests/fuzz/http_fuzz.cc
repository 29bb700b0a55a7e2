// The request reader: however the bytes are split, it gives the same requests or refuses.

#include "core/base/check.h"
#include "core/base/limits.h"
#include "net/request_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using annals::net::RequestReader;

constexpr std::uint64_t kBodyBytesMax = 1 << 16;

struct Reading {
    std::string requests;
    bool refused = false;
};

void check_request(RequestReader& reader, Reading& reading) {
    const annals::core::Request& request = reader.request();
    ANNALS_CHECK(request.body.size() <= kBodyBytesMax);
    ANNALS_CHECK(request.headers.size() <= annals::kHeaderCountMax);
    ANNALS_CHECK(request.path.size() + request.query.size() <= annals::kPageTargetBytesMax);
    const std::string_view line_ends("\r\n\0", 3);
    for (const annals::core::Header& header : request.headers) {
        ANNALS_CHECK(!header.name.empty());
        ANNALS_CHECK(header.name.find_first_of(line_ends) == std::string_view::npos);
        ANNALS_CHECK(header.value.find_first_of(line_ends) == std::string_view::npos);
        reading.requests.append(header.name).append("\1").append(header.value).append("\1");
    }
    ANNALS_CHECK(reader.http_1_0() || !reader.host().empty());
    ANNALS_CHECK(request.header("transfer-encoding").has_value() !=
                     request.header("content-length").has_value() ||
                 !request.header("content-length").has_value());
    reading.requests.append(annals::core::method_name(request.method)).append("\1");
    reading.requests.append(request.path).append("\1").append(request.query).append("\1");
    reading.requests.append(reader.host()).append("\1").append(request.body).append("\2");
}

Reading read(std::string_view bytes, std::size_t step) {
    RequestReader reader(kBodyBytesMax, true);
    Reading reading;
    for (;;) {
        switch (reader.next()) {
            case RequestReader::Step::request:
                check_request(reader, reading);
                break;
            case RequestReader::Step::head:
                static_cast<void>(reader.head());
                break;
            case RequestReader::Step::refused:
                ANNALS_CHECK(!reader.refusal().text.empty());
                reading.refused = true;
                return reading;
            case RequestReader::Step::need_bytes:
            case RequestReader::Step::expects_continue: {
                if (bytes.empty()) {
                    return reading;
                }
                const std::span<char> room = reader.room();
                ANNALS_CHECK(!room.empty());
                const std::size_t count = std::min({step, bytes.size(), room.size()});
                bytes.copy(room.data(), count);
                bytes.remove_prefix(count);
                reader.filled(count);
                break;
            }
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::size_t step = data[0] % 64 + 1;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    const Reading whole = read(bytes, bytes.size() + 1);
    const Reading pieces = read(bytes, step);
    ANNALS_CHECK(whole.requests == pieces.requests);
    ANNALS_CHECK(whole.refused == pieces.refused);
    return 0;
}
