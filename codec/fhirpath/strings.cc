// Functions on strings.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "String Manipulation" and the additional string functions of its later drafts.

#include "codec/fhirpath/machine.h"
#include "codec/fhirpath/text.h"
#include "codec/json/unicode.h"
#include "core/base/ascii.h"
#include "core/base/base64.h"

#include <algorithm>

namespace annals::fhirpath {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

/// "urlbase64" is written with padding, unlike base64url proper, and read with or without.
std::string encode_base64(std::string_view text, bool url) {
    std::string out;
    append_base64(text, out);
    if (url) {
        std::ranges::replace(out, '+', '-');
        std::ranges::replace(out, '/', '_');
    }
    return out;
}

std::optional<std::string> decode_base64(std::string_view text, bool url) {
    std::string digits(text.substr(0, text.find_last_not_of('=') + 1));
    if (!url) {
        if (digits.find_first_of("-_") != std::string::npos) {
            return std::nullopt;
        }
        std::ranges::replace(digits, '+', '-');
        std::ranges::replace(digits, '/', '_');
    }
    return decode_base64url(digits);
}

std::optional<std::string> decode_hex(std::string_view text) {
    if (text.size() % 2 != 0) {
        return std::nullopt;
    }
    std::string out;
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const int high = json::hex_value(text[i]);
        const int low = json::hex_value(text[i + 1]);
        if (high < 0 || low < 0) {
            return std::nullopt;
        }
        out += static_cast<char>(high * 16 + low);
    }
    return out;
}

struct HtmlRow {
    char character;
    std::string_view entity;
};

constexpr auto kHtml = std::to_array<HtmlRow>(
    {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}, {'\'', "&#39;"}});

std::string escape_html(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto row = std::ranges::find(kHtml, c, &HtmlRow::character);
        if (row == kHtml.end()) {
            out += c;
        } else {
            out += row->entity;
        }
    }
    return out;
}

std::string unescape_html(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const auto row = std::ranges::find_if(
            kHtml, [&](const HtmlRow& r) { return text.substr(i).starts_with(r.entity); });
        if (row == kHtml.end()) {
            out += text[i++];
        } else {
            out += row->character;
            i += row->entity.size();
        }
    }
    return out;
}

std::optional<std::string> unescape_json(std::string_view text) {
    std::string out;
    const bool sound = !unescape(text, {"\"\\/bfnrt", "\"\\/\b\f\n\r\t"}, out);
    return sound ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace

bool Machine::encode(Function function, std::string_view text, std::string_view format) {
    std::optional<std::string> out;
    switch (function) {
        case Function::encode:
            if (format == "hex") {
                out.emplace();
                for (const char c : text) {
                    const auto byte = static_cast<unsigned char>(c);
                    *out += kHex[byte >> 4];
                    *out += kHex[byte & 15];
                }
            } else if (format == "base64" || format == "urlbase64") {
                out = encode_base64(text, format == "urlbase64");
            }
            break;
        case Function::decode:
            if (format == "hex") {
                out = decode_hex(text);
            } else if (format == "base64" || format == "urlbase64") {
                out = decode_base64(text, format == "urlbase64");
            }
            // Strings are UTF-8; other bytes decode to nothing.
            if (out && !json::is_utf8(*out)) {
                out.reset();
            }
            break;
        case Function::escape:
            if (format == "html") {
                out = escape_html(text);
            } else if (format == "json") {
                out.emplace();
                json::append_escaped(*out, text);
            }
            break;
        default:
            if (format == "html") {
                out = unescape_html(text);
            } else if (format == "json") {
                out = unescape_json(text);
            }
            break;
    }
    return step(text.size() / 16) && (!out || push_text(*out));
}

bool Machine::join(const Node& node, const Scope& scope, Range input) {
    std::optional<std::string_view> separator;
    if (node.count > 0 && !string_argument(node, 0, scope, separator)) {
        return false;
    }
    std::string out;
    bool any = false;
    for (std::uint32_t i = input.begin; i < input.end; ++i) {
        std::optional<Item> value;
        if (!step() || !system_value(at(i), value)) {
            return false;
        }
        if (!value) {
            continue;
        }
        if (value->kind() != Item::Kind::string) {
            return fail("join() of items that are not strings");
        }
        out += any && separator ? *separator : std::string_view();
        out += value->as_string();
        any = true;
        if (out.size() > environment_->limits.string_bytes) {
            return fail(Errc::too_costly, "a string is too long");
        }
    }
    return !any || push_text(out);
}

bool Machine::substring(const Node& node, const Scope& scope, std::string_view text) {
    std::optional<std::int64_t> start;
    std::optional<std::int64_t> length;
    if (!integer_argument(node, 0, scope, start) ||
        (node.count > 1 && !integer_argument(node, 1, scope, length))) {
        return false;
    }
    if (!start || *start < 0) {
        return true;
    }
    const std::size_t begin = character_offset(text, static_cast<std::size_t>(*start));
    if (begin == text.size()) {
        return true;
    }
    const std::string_view rest = text.substr(begin);
    if (!length) {
        return push(Item::string(rest));
    }
    const std::size_t count =
        *length <= 0 ? 0 : character_offset(rest, static_cast<std::size_t>(*length));
    return push(Item::string(rest.substr(0, count)));
}

bool Machine::split(std::string_view text, std::string_view separator) {
    if (separator.empty()) {
        return push(Item::string(text));
    }
    while (true) {
        const std::size_t end = std::min(text.find(separator), text.size());
        if (!step() || !push(Item::string(text.substr(0, end)))) {
            return false;
        }
        if (end == text.size()) {
            return true;
        }
        text.remove_prefix(end + separator.size());
    }
}

bool Machine::replace(std::string_view text, std::string_view pattern,
                      std::string_view substitution) {
    std::string out;
    const std::size_t limit = environment_->limits.string_bytes;
    std::size_t at = 0;
    while (at < text.size() && out.size() <= limit) {
        if (pattern.empty()) {
            const std::size_t length = character_offset(text.substr(at), 1);
            out.append(substitution).append(text.substr(at, length));
            at += length;
            continue;
        }
        const std::size_t found = std::min(text.find(pattern, at), text.size());
        out += text.substr(at, found - at);
        at = found;
        if (found < text.size()) {
            out += substitution;
            at += pattern.size();
        }
    }
    out += pattern.empty() ? substitution : std::string_view();
    return push_text(out);
}

bool Machine::on_string(const Node& node, const Scope& scope, Range input) {
    if (node.function == Function::join) {
        return join(node, scope, input);
    }
    std::optional<Item> value;
    if (!single(input, value, "a string")) {
        return false;
    }
    if (value && value->kind() != Item::Kind::string) {
        return fail("a function of strings on " + type_name(*value));
    }
    std::string_view text = value ? value->as_string() : std::string_view();
    if (!step(text.size() / 64)) {
        return false;
    }
    switch (node.function) {
        case Function::length:
            return !value || push(Item::integer(static_cast<std::int64_t>(character_count(text))));
        case Function::upper:
        case Function::lower: {
            if (!value) {
                return true;
            }
            std::string out;
            append_case(out, text, node.function == Function::upper);
            return step(text.size() / 16) && push_text(out);
        }
        case Function::trim:
            return !value || push(Item::string(trimmed(text)));
        case Function::to_chars:
            while (!text.empty()) {
                const std::size_t length = character_offset(text, 1);
                if (!step() || !push(Item::string(text.substr(0, length)))) {
                    return false;
                }
                text.remove_prefix(length);
            }
            return true;
        case Function::substring:
            return substring(node, scope, text);  // empty if the input is, as an empty string gives
        default:
            return with_strings(node, scope, value);
    }
}

bool Machine::with_strings(const Node& node, const Scope& scope,
                           const std::optional<Item>& string) {
    std::optional<std::string_view> first;
    std::optional<std::string_view> second = std::string_view();  // if the function takes one
    if (!string_argument(node, 0, scope, first) ||
        (node.count > 1 && !string_argument(node, 1, scope, second))) {
        return false;
    }
    if (!string || !first || !second) {
        return true;
    }
    const std::string_view text = string->as_string();
    // Searching one string in another costs the product of their sizes at worst.
    if (!step(text.size() / 16 + text.size() * first->size() / 1024)) {
        return false;
    }
    switch (node.function) {
        case Function::starts_with:
            return push(Item::boolean(text.starts_with(*first)));
        case Function::ends_with:
            return push(Item::boolean(text.ends_with(*first)));
        case Function::contains:
            return push(Item::boolean(text.find(*first) != std::string_view::npos));
        case Function::index_of:
        case Function::last_index_of: {
            const std::size_t found =
                node.function == Function::index_of ? text.find(*first) : text.rfind(*first);
            const std::int64_t index =
                found == std::string_view::npos
                    ? -1
                    : static_cast<std::int64_t>(character_count(text.substr(0, found)));
            return push(Item::integer(index));
        }
        case Function::split:
            return split(text, *first);
        case Function::replace:
            return replace(text, *first, *second);
        case Function::matches:
        case Function::matches_full:
        case Function::replace_matches:
            return matches(node, text, *first, *second);
        case Function::encode:
        case Function::decode:
        case Function::escape:
        case Function::unescape:
            return encode(node.function, text, *first);
        default:
            return fail("an unknown function");
    }
}

}  // namespace annals::fhirpath
