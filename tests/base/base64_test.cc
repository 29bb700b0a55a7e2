#include "core/base/base64.h"

#include <gtest/gtest.h>

namespace annals {
namespace {

std::string encoded(std::string_view bytes) {
    std::string out;
    append_base64(bytes, out);
    return out;
}

std::string decoded(std::string_view text, std::size_t piece) {
    Base64Decoder decoder;
    std::string out;
    for (std::size_t i = 0; i < text.size(); i += piece) {
        decoder.add(text.substr(i, piece), out);
    }
    return out;
}

TEST(Base64, EncodesAsTheStandardSays) {
    EXPECT_EQ(encoded(""), "");
    EXPECT_EQ(encoded("f"), "Zg==");
    EXPECT_EQ(encoded("fo"), "Zm8=");
    EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
    EXPECT_EQ(encoded("\xff\xfe\xfd\xfc"), "//79/A==");
}

TEST(Base64, DecodesWhatItEncoded) {
    std::string bytes;
    for (int i = 0; i < 7000; ++i) {
        // From 3,072 bytes on, it is encoded block by block.
        if (i > 1000 && i < 3060) {
            bytes += static_cast<char>(i * 37 + i / 256);
            continue;
        }
        const std::string text = encoded(bytes);
        ASSERT_EQ(text.size(), base64_chars(bytes.size()));
        ASSERT_EQ(base64_size(text), bytes.size());
        ASSERT_EQ(decoded(text, 1 + static_cast<std::size_t>(i % 7)), bytes);
        bytes += static_cast<char>(i * 37 + i / 256);
    }
}

TEST(Base64, PassesOverWhiteSpace) {
    EXPECT_EQ(base64_size(" Zm9v\r\nYmFy\t"), 6U);
    EXPECT_EQ(decoded(" Zm9v\r\nYmFy\t", 4), "foobar");
}

TEST(Base64, TakesEveryByteWhereverItStandsForTheSame) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::string whole = encoded(std::string(150, '\xa5'));
    ASSERT_EQ(whole.size(), 200U);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (int byte = 0; byte < 256; ++byte) {
            std::string text = whole;
            text[at] = static_cast<char>(byte);
            const bool digit = byte != 0 && kDigits.find(text[at]) != std::string_view::npos;
            const bool end = text[at] == '=' && at + 1 == text.size();
            EXPECT_EQ(base64_size(text).has_value(), digit || end) << at << ' ' << byte;
        }
        // White space between any two characters changes nothing.
        std::string spaced = whole;
        spaced.insert(at, "\r\n");
        ASSERT_EQ(base64_size(spaced), 150U);
        ASSERT_EQ(decoded(spaced, 1 + at), decoded(whole, 1 + at));
    }
}

TEST(Base64, RefusesWhatIsNone) {
    for (const char* text :
         {"Z", "Zg", "Zg=", "Zm9", "Z===", "Zg==Zg==", "Zm9-", "Zm9*", "====", "Zm9v="}) {
        EXPECT_FALSE(base64_size(text)) << text;
    }
}

TEST(Base64, KnowsTheAlphabetOfUrls) {
    EXPECT_EQ(encode_base64url("\xff\xfe\xfd\xfc"), "__79_A");
    EXPECT_EQ(decode_base64url("__79_A"), "\xff\xfe\xfd\xfc");
    EXPECT_EQ(decode_base64url(""), "");
    for (const char* text : {"_", "//79/A", "__79_A==", "__79 _A", "Zm9*", "__79_B", "__79_P", "Zh",
                             "Zg9", "Zm9v_B"}) {
        EXPECT_FALSE(decode_base64url(text)) << text;
    }
    EXPECT_EQ(decode_base64("//79 /A=="), "\xff\xfe\xfd\xfc");
    EXPECT_FALSE(decode_base64("__79_A"));
}

}  // namespace
}  // namespace annals
