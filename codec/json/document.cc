#include "codec/json/document.h"

#include "codec/json/unicode.h"

#include <simdjson.h>

#include <array>

namespace annals::json {

std::string Value::string() const {
    const std::string_view raw = raw_string();
    if (!is_string() || !node().escaped) {
        return std::string(raw);
    }
    std::string text;
    text.reserve(raw.size());
    append_unescaped(text, raw);
    return text;
}

bool Value::equals(std::string_view text) const {
    if (!is_string()) {
        return false;
    }
    return node().escaped ? string() == text : raw_string() == text;
}

Value Value::operator[](std::string_view key) const {
    for (const Member member : members()) {
        if (member.key.equals(key)) {
            return member.value;
        }
    }
    return {};
}

bool is_too_deep(Value value) noexcept {
    if (!value || !value.tree().deep()) {
        return false;
    }
    const std::span<const Node> nodes = value.tree().nodes();
    std::array<std::uint32_t, kJsonDepthMax> ends;  // of the open objects and arrays
    std::size_t open = 0;
    for (std::uint32_t i = value.index(); i < value.node().next; ++i) {
        while (open > 0 && ends[open - 1] <= i) {
            --open;
        }
        if (nodes[i].kind == Kind::object || nodes[i].kind == Kind::array) {
            if (open == ends.size()) {
                return true;
            }
            ends[open++] = nodes[i].next;
        }
    }
    return false;
}

void append_quoted(std::string& out, std::string_view text) {
    out.push_back('"');
    if (simdjson::validate_utf8(text.data(), text.size())) {
        append_escaped(out, text);
    } else {
        while (!text.empty()) {
            const std::size_t length = utf8_length(text);
            if (length == 0) {
                append_utf8(out, 0xfffd);
                text.remove_prefix(1);
            } else {
                append_escaped(out, text.substr(0, length));
                text.remove_prefix(length);
            }
        }
    }
    out.push_back('"');
}

std::string quoted(std::string_view text) {
    std::string out;
    out.reserve(text.size() + 2);
    append_quoted(out, text);
    return out;
}

}  // namespace annals::json
