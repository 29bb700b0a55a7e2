#include "net/coding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace annals::net {
namespace {

constexpr Coding kCodings[] = {Coding::gzip, Coding::zstd};

std::string sample(std::size_t size) {
    std::string text;
    unsigned number = 1;
    while (text.size() < size) {
        number = number * 1'664'525U + 1'013'904'223U;
        text += "patient " + std::to_string(number >> 20) + ", ";
    }
    text.resize(size);
    return text;
}

std::string encoded(Coding coding, std::string_view text, std::size_t portion = 10'000) {
    const EncoderPointer encoder = take_encoder(coding);
    std::string out;
    for (std::size_t i = 0; i < text.size(); i += portion) {
        encoder->add(text.substr(i, portion), Encoder::Then::more, out);
    }
    encoder->add({}, Encoder::Then::end, out);
    return out;
}

TEST(ChooseCoding, TakesTheHighestQuality) {
    EXPECT_EQ(choose_coding("gzip"), Coding::gzip);
    EXPECT_EQ(choose_coding("zstd"), Coding::zstd);
    EXPECT_EQ(choose_coding("gzip, deflate, br, zstd"), Coding::zstd);
    EXPECT_EQ(choose_coding("gzip;q=1.0, zstd;q=0.9"), Coding::gzip);
    EXPECT_EQ(choose_coding("GZIP;Q=0.5"), Coding::gzip);
    EXPECT_EQ(choose_coding("*"), Coding::zstd);
    EXPECT_EQ(choose_coding("zstd;q=0, *;q=0.1"), Coding::gzip);
    EXPECT_EQ(choose_coding("x-gzip"), Coding::gzip);
}

TEST(ChooseCoding, LeavesTheBodyAloneWhereThatIsLikedBetter) {
    EXPECT_EQ(choose_coding(""), Coding::identity);
    EXPECT_EQ(choose_coding("br"), Coding::identity);
    EXPECT_EQ(choose_coding("identity"), Coding::identity);
    EXPECT_EQ(choose_coding("gzip;q=0, zstd;q=0.000"), Coding::identity);
    EXPECT_EQ(choose_coding("identity, gzip;q=0.5"), Coding::identity);
    EXPECT_EQ(choose_coding("gzip;q=0.5, *;q=0"), Coding::gzip);
}

TEST(CodingNamed, KnowsOneCodingAtATime) {
    EXPECT_EQ(coding_named("gzip"), Coding::gzip);
    EXPECT_EQ(coding_named(" Zstd"), Coding::zstd);
    EXPECT_EQ(coding_named("identity"), Coding::identity);
    EXPECT_FALSE(coding_named("br"));
    EXPECT_FALSE(coding_named("gzip, gzip"));
}

TEST(Coding, DecodesWhatItEncoded) {
    for (const Coding coding : kCodings) {
        for (const std::size_t size : {0U, 1U, 1000U, 32U << 10, 300'000U}) {
            const std::string text = sample(size);
            const std::string bytes = encoded(coding, text);
            for (const std::size_t portion : {1U, 7U, 4096U, 1U << 20}) {
                const auto decoder = make_decoder(coding);
                std::string out;
                for (std::size_t i = 0; i < bytes.size(); i += portion) {
                    ASSERT_EQ(
                        decoder->add(std::string_view(bytes).substr(i, portion), 1 << 20, out),
                        Decoder::Step::taken);
                }
                EXPECT_TRUE(decoder->complete());
                EXPECT_EQ(out, text) << coding_name(coding) << ' ' << size << ' ' << portion;
            }
        }
    }
}

TEST(Coding, DecodesWhatFillsItsRoomBeforeTheEndHasCome) {
    const std::string text(64 << 10, 'x');
    for (const Coding coding : kCodings) {
        const std::string bytes = encoded(coding, text);
        for (std::size_t end = 1; end < 18; ++end) {
            const auto decoder = make_decoder(coding);
            std::string out;
            const std::string_view all = bytes;
            ASSERT_EQ(decoder->add(all.substr(0, all.size() - end), 1 << 20, out),
                      Decoder::Step::taken)
                << end;
            ASSERT_EQ(decoder->add(all.substr(all.size() - end), 1 << 20, out),
                      Decoder::Step::taken);
            EXPECT_TRUE(decoder->complete());
            EXPECT_EQ(out, text);
        }
    }
}

TEST(Coding, FlushesWhatItWasGiven) {
    for (const Coding coding : kCodings) {
        const EncoderPointer encoder = take_encoder(coding);
        const auto decoder = make_decoder(coding);
        std::string expected;
        std::string decoded;
        for (int i = 0; i < 5; ++i) {
            const std::string text = sample(1000 + static_cast<std::size_t>(i));
            expected += text;
            std::string bytes;
            encoder->add(text, Encoder::Then::flush, bytes);
            ASSERT_EQ(decoder->add(bytes, 1 << 20, decoded), Decoder::Step::taken);
            EXPECT_EQ(decoded, expected);
            EXPECT_FALSE(decoder->complete());
        }
    }
}

TEST(Coding, StopsAtTheBound) {
    const std::string zeros(64 << 20, '\0');
    for (const Coding coding : kCodings) {
        const std::string bomb = encoded(coding, zeros, zeros.size());
        EXPECT_LT(bomb.size(), 128U << 10);
        const auto decoder = make_decoder(coding);
        std::string out;
        EXPECT_EQ(decoder->add(bomb, 1 << 20, out), Decoder::Step::too_large);
        EXPECT_LE(out.size(), (1U << 20) + (64U << 10));
    }
}

TEST(Coding, CountsTheWindowThatAFrameAsksFor) {
    EXPECT_GT(make_decoder(Coding::gzip)->memory(), 32U << 10);
    const auto decoder = make_decoder(Coding::zstd);
    EXPECT_LT(decoder->memory(), 1U << 20);
    std::string out;
    // A frame of unknown size with a window of 8 MiB, and a block that is yet to come.
    ASSERT_EQ(decoder->add(std::string_view("\x28\xb5\x2f\xfd\x00\x68\x00\x00", 8), 100, out),
              Decoder::Step::taken);
    EXPECT_GT(decoder->memory(), 8U << 20);
}

TEST(Coding, RefusesZstdWithAWindowOfMoreThan8Mebibytes) {
    // RFC 8878 section 3.1.1.1.2: the second byte of the header is the window; a raw block of one byte follows.
    const auto step_with_window = [](char window) {
        std::string frame("\x28\xb5\x2f\xfd\x00?\x09\x00\x00x", 10);
        frame[5] = window;
        std::string out;
        return make_decoder(Coding::zstd)->add(frame, 100, out);
    };
    EXPECT_EQ(step_with_window(13 << 3), Decoder::Step::taken);
    EXPECT_EQ(step_with_window(14 << 3), Decoder::Step::corrupt);
}

TEST(Coding, RefusesWhatIsDamaged) {
    const std::string text = sample(10'000);
    for (const Coding coding : kCodings) {
        std::string bytes = encoded(coding, text);
        bytes[0] = 'x';
        std::string out;
        EXPECT_EQ(make_decoder(coding)->add(bytes, 1 << 20, out), Decoder::Step::corrupt);
        out.clear();
        EXPECT_EQ(make_decoder(coding)->add("no coding at all, this", 1 << 20, out),
                  Decoder::Step::corrupt);
        out.clear();
        const auto decoder = make_decoder(coding);
        EXPECT_EQ(decoder->add(encoded(coding, text).substr(0, 500), 1 << 20, out),
                  Decoder::Step::taken);
        EXPECT_FALSE(decoder->complete());
    }
}

TEST(Coding, RefusesZstdOfBeforeTheStandardInWhateverPortions) {
    const std::string legacy("\x25\xb5\x2f\xfd\x04XH\xb1\xabP", 10);
    for (const std::size_t portion : {1U, 2U, 10U}) {
        for (const std::string& before : {std::string(), encoded(Coding::zstd, "a frame")}) {
            const auto decoder = make_decoder(Coding::zstd);
            const std::string bytes = before + legacy;
            std::string out;
            auto step = Decoder::Step::taken;
            for (std::size_t i = 0; i < bytes.size() && step == Decoder::Step::taken;
                 i += portion) {
                step = decoder->add(std::string_view(bytes).substr(i, portion), 1 << 20, out);
            }
            EXPECT_EQ(step, Decoder::Step::corrupt) << portion;
        }
    }
}

TEST(Coding, PassesOverSkippableZstdFrames) {
    const std::string bytes =
        std::string("\x5a\x2a\x4d\x18\x03\0\0\0abc", 11) + encoded(Coding::zstd, "the body");
    for (const std::size_t portion : {1U, 3U, 64U}) {
        const auto decoder = make_decoder(Coding::zstd);
        std::string out;
        for (std::size_t i = 0; i < bytes.size(); i += portion) {
            ASSERT_EQ(decoder->add(std::string_view(bytes).substr(i, portion), 1 << 20, out),
                      Decoder::Step::taken);
        }
        EXPECT_TRUE(decoder->complete());
        EXPECT_EQ(out, "the body");
    }
}

TEST(Coding, JudgesAZstdFrameOfAWrongSizeAlikeInWhateverPortions) {
    // A frame that claims 126 bytes and contains none, with a matching checksum.
    const std::string bytes("\x28\xb5\x2f\xfd\x24\x7e\x01\0\0\x99\xe9\xd8\x51", 13);
    const auto decoder = make_decoder(Coding::zstd);
    std::string out;
    const Decoder::Step whole = decoder->add(bytes, 1 << 20, out);
    for (const std::size_t portion : {1U, 3U, 12U}) {
        const auto other = make_decoder(Coding::zstd);
        auto step = Decoder::Step::taken;
        for (std::size_t i = 0; i < bytes.size() && step == Decoder::Step::taken; i += portion) {
            step = other->add(std::string_view(bytes).substr(i, portion), 1 << 20, out);
        }
        EXPECT_EQ(step, whole) << portion;
        EXPECT_EQ(other->complete(), decoder->complete()) << portion;
    }
    EXPECT_EQ(out, "");
}

TEST(Coding, TakesManyMembersOrFramesOnlyWithMuchInThem) {
    const auto decoded = [](Coding coding, const std::string& part, int parts,
                            std::size_t portion) {
        std::string bytes;
        for (int i = 0; i < parts; ++i) {
            bytes += part;
        }
        const auto decoder = make_decoder(coding);
        std::string out;
        auto step = Decoder::Step::taken;
        for (std::size_t i = 0; i < bytes.size() && step == Decoder::Step::taken; i += portion) {
            step = decoder->add(std::string_view(bytes).substr(i, portion), 1 << 24, out);
        }
        return step == Decoder::Step::taken && decoder->complete();
    };
    std::string random(4000, '\0');
    std::minstd_rand engine(1);
    std::generate(random.begin(), random.end(), [&] { return static_cast<char>(engine() >> 8); });
    for (const Coding coding : kCodings) {
        const std::string empty = encoded(coding, "");
        for (const std::size_t portion : {1U, 1000U, 1U << 20}) {
            EXPECT_TRUE(decoded(coding, empty, 60, portion));
            EXPECT_FALSE(decoded(coding, empty, 1000, portion));
            EXPECT_TRUE(decoded(coding, encoded(coding, random), 200, portion));
        }
    }
    EXPECT_FALSE(decoded(Coding::zstd, std::string("\x50\x2a\x4d\x18\0\0\0\0", 8), 1000, 99));
}

TEST(Coding, RefusesGzipWhoseSumIsWrong) {
    std::string bytes = encoded(Coding::gzip, sample(1000));
    bytes[bytes.size() - 8] = static_cast<char>(bytes[bytes.size() - 8] ^ 1);
    std::string out;
    EXPECT_EQ(make_decoder(Coding::gzip)->add(bytes, 1 << 20, out), Decoder::Step::corrupt);
}

TEST(Coding, TakesMembersThatFollowEachOther) {
    for (const Coding coding : kCodings) {
        const auto decoder = make_decoder(coding);
        std::string out;
        ASSERT_EQ(decoder->add(encoded(coding, "one, ") + encoded(coding, "two"), 100, out),
                  Decoder::Step::taken);
        EXPECT_EQ(out, "one, two");
        EXPECT_TRUE(decoder->complete());
    }
}

TEST(Coding, UsesAnEncoderAgainFromItsStart) {
    for (const Coding coding : kCodings) {
        {
            const EncoderPointer abandoned = take_encoder(coding);
            std::string out;
            abandoned->add(sample(100'000), Encoder::Then::more, out);
        }
        const auto decoder = make_decoder(coding);
        std::string out;
        ASSERT_EQ(decoder->add(encoded(coding, "fresh"), 100, out), Decoder::Step::taken);
        EXPECT_EQ(out, "fresh");
    }
}

}  // namespace
}  // namespace annals::net
