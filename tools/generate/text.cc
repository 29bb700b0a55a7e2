#include "tools/generate/text.h"

namespace annals::generate {

void put_one(std::string& out, Decimal decimal) {
    if (decimal.value < 0) {
        out.push_back('-');
        decimal.value = -decimal.value;
    }
    char digits[32];
    const char* const end = std::to_chars(digits, digits + sizeof digits, decimal.value).ptr;
    auto length = static_cast<int>(end - digits);
    if (decimal.digits == 0) {
        out.append(digits, static_cast<std::size_t>(end - digits));
        return;
    }
    if (length <= decimal.digits) {
        out.append("0.");
        out.append(static_cast<std::size_t>(decimal.digits - length), '0');
        out.append(digits, static_cast<std::size_t>(end - digits));
        return;
    }
    length -= decimal.digits;
    out.append(digits, static_cast<std::size_t>(length));
    out.push_back('.');
    out.append(digits + length, static_cast<std::size_t>(end - digits - length));
}

void put_one(std::string& out, Date date) {
    char text[kInstantChars];
    write_instant(date.at, text);
    out.append(text, 10);
}

void put_one(std::string& out, DateTime time) {
    char text[kInstantChars];
    write_instant(time.at, text);
    text[19] = 'Z';
    out.append(text, 20);
}

void put_one(std::string& out, Stamp stamp) {
    char text[kInstantChars];
    write_instant(stamp.at, text);
    out.append(text, kInstantChars);
}

void put_one(std::string& out, Uuid id) {
    constexpr char kHex[] = "0123456789abcdef";
    const std::uint64_t high = (mix(id.seed ^ 0x6964) & ~0xf000ULL) | 0x4000ULL;
    const std::uint64_t low = (mix(id.seed + 0x6964) & ~(3ULL << 62)) | 1ULL << 63;
    char text[36];
    char* at = text;
    for (unsigned digit = 0; digit < 32; ++digit) {
        if (digit == 8 || digit == 12 || digit == 16 || digit == 20) {
            *at++ = '-';
        }
        const std::uint64_t word = digit < 16 ? high : low;
        *at++ = kHex[word >> (60 - 4 * (digit % 16)) & 15];
    }
    out.append(text, sizeof text);
}

void put_one(std::string& out, const Code& code) {
    put(out, R"({"system":")", system_uri(code.system), R"(","code":")", code.code,
        R"(","display":")", code.display, "\"}");
}

}  // namespace annals::generate
