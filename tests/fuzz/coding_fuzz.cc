// Bodies in a content coding: the result doesn't depend on how they are split, and never exceeds the bounds.
// The first byte chooses the coding, the portions, and whether the rest is the encoded body or the decoded one.

#include "core/base/check.h"
#include "net/coding.h"
#include "net/request_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace annals::net;  // NOLINT: a fuzzer is one function

constexpr std::size_t kBytesMax = 1 << 16;
/// How far a decoder may exceed the bound before it checks.
constexpr std::size_t kStepBytes = 32 << 10;
/// The largest zstd window and what belongs to it, plus the decoded text.
constexpr std::size_t kMemoryMax = (8 << 20) + (1 << 20);

struct Decoded {
    bool refused =
        false;  ///< corrupt bodies that are too large may count as either, by their portions
    bool complete = false;
    std::string text;

    bool operator==(const Decoded&) const = default;
};

Decoded decode(Coding coding, std::string_view bytes, std::size_t portion) {
    const auto decoder = make_decoder(coding);
    Decoded decoded;
    while (!bytes.empty() && !decoded.refused) {
        const std::string_view part = bytes.substr(0, portion);
        bytes.remove_prefix(part.size());
        decoded.refused = decoder->add(part, kBytesMax, decoded.text) != Decoder::Step::taken;
        ANNALS_CHECK(decoded.text.size() <= kBytesMax + kStepBytes);
        ANNALS_CHECK(decoder->memory() <= kMemoryMax);
    }
    decoded.complete = !decoded.refused && decoder->complete();
    if (decoded.refused) {
        decoded.text.clear();  // how much came before depends on the portions
    }
    return decoded;
}

std::string encode(Coding coding, std::string_view text) {
    std::string bytes;
    take_encoder(coding)->add(text, Encoder::Then::end, bytes);
    return bytes;
}

/// The body of a request with `bytes` in `coding`; empty if the request was refused.
std::string request_body(Coding coding, std::string_view bytes, std::size_t portion) {
    const std::string head = fmt::format(
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Encoding: {}\r\nContent-Length: {}\r\n\r\n",
        coding_name(coding), bytes.size());
    const std::string message = head + std::string(bytes);
    RequestReader reader(kBytesMax);
    std::string_view left = message;
    for (;;) {
        switch (reader.next()) {
            case RequestReader::Step::request:
                ANNALS_CHECK(reader.request().body.size() <= kBytesMax);
                return std::string(reader.request().body);
            case RequestReader::Step::refused:
                return {};
            default:
                break;
        }
        ANNALS_CHECK(!left.empty());
        const std::span<char> room = reader.room();
        const std::size_t count = left.copy(room.data(), std::min(portion, room.size()));
        left.remove_prefix(count);
        reader.filled(count);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const Coding coding = data[0] % 2 == 0 ? Coding::gzip : Coding::zstd;
    const bool plain = data[0] / 2 % 2 == 1;
    const std::size_t portion = data[0] / 4 + 1;
    const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
    const std::string bytes = plain ? encode(coding, input) : std::string(input);

    const Decoded whole = decode(coding, bytes, bytes.size() + 1);
    ANNALS_CHECK(whole == decode(coding, bytes, portion));
    if (plain && input.size() <= kBytesMax) {
        ANNALS_CHECK(whole.complete && whole.text == input);
    }
    if (bytes.size() <= kBytesMax) {
        const std::string body = request_body(coding, bytes, portion);
        ANNALS_CHECK(body == (whole.complete ? whole.text : ""));
    }
    return 0;
}
