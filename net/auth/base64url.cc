#include "net/auth/base64url.h"

#include "core/base/base64.h"

namespace annals::net::auth {

std::optional<std::string> decode_base64url(std::string_view text) {
    std::string base64(text);
    for (char& c : base64) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (c == '-') {
            c = '+';
        } else if (c == '_') {
            c = '/';
        } else if (!letter && !(c >= '0' && c <= '9')) {
            return std::nullopt;
        }
    }
    if (base64.size() % 4 == 1) {
        return std::nullopt;
    }
    base64.append((4 - base64.size() % 4) % 4, '=');
    if (!base64_size(base64)) {
        return std::nullopt;
    }
    std::string bytes;
    Base64Decoder().add(base64, bytes);
    return bytes;
}

std::string encode_base64url(std::string_view bytes) {
    std::string text;
    append_base64(bytes, text);
    while (text.ends_with('=')) {
        text.pop_back();
    }
    for (char& c : text) {
        c = c == '+' ? '-' : c == '/' ? '_' : c;
    }
    return text;
}

}  // namespace annals::net::auth
