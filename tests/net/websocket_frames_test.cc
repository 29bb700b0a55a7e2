// The handshake and the frames of websockets.

#include "net/websocket.h"
#include "tests/support/websocket_client.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::net {
namespace {

using test::client_frame;
using test::close_frame;

/// Everything that these bytes result in: "text X", "ping X", "pong X", "close", "failed CODE".
std::vector<std::string> read(std::string_view bytes, std::size_t step = 1 << 20) {
    FrameReader reader(512);
    std::vector<std::string> all;
    for (;;) {
        switch (reader.next()) {
            case FrameReader::Event::need_bytes:
                if (bytes.empty()) {
                    return all;
                }
                reader.feed(bytes.substr(0, step));
                bytes.remove_prefix(std::min(step, bytes.size()));
                break;
            case FrameReader::Event::text:
                all.push_back("text " + std::string(reader.payload()));
                break;
            case FrameReader::Event::ping:
                all.push_back("ping " + std::string(reader.payload()));
                break;
            case FrameReader::Event::pong:
                all.push_back("pong " + std::string(reader.payload()));
                break;
            case FrameReader::Event::close:
                all.emplace_back("close");
                reader.feed(bytes);
                EXPECT_EQ(reader.next(), FrameReader::Event::close);
                return all;
            case FrameReader::Event::failed:
                all.push_back(fmt::format("failed {}", static_cast<unsigned>(reader.fault())));
                reader.feed(bytes);
                EXPECT_EQ(reader.next(), FrameReader::Event::failed);
                return all;
        }
    }
}

TEST(WebsocketHandshake, AnswersTheKeyOfTheStandard) {
    EXPECT_EQ(websocket_accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    for (const char* key :
         {"", "x", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZWE=",
          "dGhlIHNhbXBsZSBub2\r\nZQ==", "dGhlIHNhbXBs ZSBub25jZQ==", "!!!!!!!!!!!!!!!!!!!!!!=="}) {
        EXPECT_FALSE(websocket_accept(key)) << key;
    }
}

TEST(WebsocketFrames, AreReadHoweverTheyArrive) {
    std::string bytes = client_frame(0x81, "bind a") + client_frame(0x89, "x") +
                        client_frame(0x01, "fr") + client_frame(0x8a, "between") +
                        client_frame(0x00, "ag") + client_frame(0x80, "ment") +
                        client_frame(0x81, std::string(126, 'a')) + client_frame(0x81, "") +
                        client_frame(0x01, "") + client_frame(0x80, "\xc3\xa4") +
                        close_frame(1000, "bye") + client_frame(0x81, "after");
    const std::vector<std::string> expected{"text bind a",
                                            "ping x",
                                            "pong between",
                                            "text fragment",
                                            "text " + std::string(126, 'a'),
                                            "text ",
                                            "text \xc3\xa4",
                                            "close"};
    for (const std::size_t step : {1U, 2U, 3U, 5U, 7U, 1000U}) {
        EXPECT_EQ(read(bytes, step), expected) << step;
    }
    // A character may be split between two fragments.
    EXPECT_THAT(read(client_frame(0x01, "\xc3") + client_frame(0x80, "\xa4")),
                testing::ElementsAre("text \xc3\xa4"));
    EXPECT_THAT(read(client_frame(0x88, "")), testing::ElementsAre("close"));
}

TEST(WebsocketFrames, OfControlAreNoPartOfAMessageHoweverLong) {
    const std::string longest(125, 'x');
    const std::string whole(512, 'a');
    EXPECT_THAT(
        read(client_frame(0x01, whole) + client_frame(0x89, longest) + client_frame(0x80, "")),
        testing::ElementsAre("ping " + longest, "text " + whole));
}

TEST(WebsocketFrames, MayCloseForAnyReasonThatIsDefinedOrLeftToApplications) {
    for (const unsigned code : {1000U, 1001U, 1003U, 1007U, 1011U, 1014U, 3000U, 4000U, 4999U}) {
        EXPECT_THAT(read(close_frame(code, "why")), testing::ElementsAre("close")) << code;
    }
}

TEST(WebsocketFrames, ThatTheStandardForbidsEndTheConnection) {
    const std::string eight("\x81\xff\0\0\0\0\0\0\0\x05", 10);
    const std::string huge("\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10);
    const std::string large("\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff", 10);
    const std::string two("\x81\xfe\0\x05", 4);
    const std::string most_in_seven_bits("\x81\xfe\0\x7d", 4);
    const std::string most_in_two_bytes("\x81\xff\0\0\0\0\0\0\xff\xff", 10);
    const std::vector<std::pair<std::string, int>> cases{
        {client_frame(0x81, "x", false), 1002},  // no mask
        {client_frame(0xc1, "x"), 1002},         // an extension's bit
        {client_frame(0x91, "x"), 1002},
        {client_frame(0xa1, "x"), 1002},
        {client_frame(0x83, "x"), 1002},  // reserved opcodes
        {client_frame(0x87, "x"), 1002},
        {client_frame(0x8b, "x"), 1002},
        {client_frame(0x8f, "x"), 1002},
        {client_frame(0x80, "x"), 1002},  // nothing to continue
        {client_frame(0x00, "x"), 1002},
        {client_frame(0x01, "x") + client_frame(0x81, "y"), 1002},  // another message in between
        {client_frame(0x09, "x"), 1002},                            // control frames in fragments
        {client_frame(0x08, ""), 1002},
        {client_frame(0x89, std::string(126, 'x')), 1002},  // ... and too long
        {client_frame(0x88, "x"), 1002},                    // half a code
        {close_frame(0), 1002},
        {close_frame(999), 1002},
        {close_frame(1004), 1002},
        {close_frame(1005), 1002},
        {close_frame(1006), 1002},
        {close_frame(1015), 1002},
        {close_frame(2999), 1002},
        {close_frame(5000), 1002},
        {close_frame(1000, "\xff"), 1007},
        {client_frame(0x81, "\xff"), 1007},
        {client_frame(0x81, "\xed\xa0\x80"), 1007},  // a surrogate
        {client_frame(0x81, "\xc0\x80"), 1007},
        {client_frame(0x01, "\xc3") + client_frame(0x80, "x"), 1007},
        {client_frame(0x82, "x"), 1003},  // binary
        {two, 1002},                      // longer than necessary
        {most_in_seven_bits, 1002},
        {eight, 1002},
        {most_in_two_bytes, 1002},
        {huge, 1002},
        {large, 1009},
        {client_frame(0x81, std::string(513, 'x')), 1009},
        {client_frame(0x01, std::string(500, 'x')) + client_frame(0x00, std::string(13, 'x')),
         1009},
        {client_frame(0x01, std::string(512, 'x')) + client_frame(0x80, std::string(65536, 'x')),
         1009},
    };
    for (const auto& [bytes, code] : cases) {
        for (const std::size_t step : {1U, 1000000U}) {
            EXPECT_EQ(read(bytes, step).back(), fmt::format("failed {}", code))
                << testing::PrintToString(bytes.substr(0, 20));
        }
    }
    EXPECT_THAT(read(client_frame(0x81, std::string(512, 'x'))),
                testing::ElementsAre("text " + std::string(512, 'x')));
}

TEST(WebsocketFrames, OfTheServerAreNotMasked) {
    std::string out;
    append_frame(out, Opcode::text, "ping a");
    EXPECT_EQ(out, "\x81\x06ping a");
    out.clear();
    append_frame(out, Opcode::text, std::string(125, 'x'));
    EXPECT_EQ(out, "\x81\x7d" + std::string(125, 'x'));
    out.clear();
    append_frame(out, Opcode::text, std::string(300, 'x'));
    EXPECT_EQ(out.substr(0, 4), "\x81\x7e\x01\x2c");
    EXPECT_EQ(out.size(), 304U);
    out.clear();
    append_close(out, CloseCode::too_large);
    EXPECT_EQ(out, "\x88\x02\x03\xf1");
}

}  // namespace
}  // namespace annals::net
