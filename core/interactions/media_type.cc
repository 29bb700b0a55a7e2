#include "core/interactions/media_type.h"

#include "core/base/ascii.h"

#include <algorithm>

namespace annals::core {

std::string_view next_part(std::string_view& rest, char separator) {
    bool quoted = false;
    for (std::size_t i = 0; i < rest.size(); ++i) {
        if (rest[i] == '"') {
            quoted = !quoted;
        } else if (quoted && rest[i] == '\\') {
            ++i;
        } else if (!quoted && rest[i] == separator) {
            const std::string_view part = rest.substr(0, i);
            rest.remove_prefix(i + 1);
            return trimmed(part);
        }
    }
    const std::string_view part = rest;
    rest = {};
    return trimmed(part);
}

std::string_view unquoted(std::string_view text) noexcept {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
        return text.substr(1, text.size() - 2);
    }
    return text;
}

int read_quality(std::string_view text) noexcept {
    const std::size_t point = std::min(text.find('.'), text.size());
    const std::string_view whole = text.substr(0, point);
    const std::string_view fraction = text.substr(std::min(point + 1, text.size()));
    // RFC 9110 section 12.4.2 requires the zero before the point; some clients omit it.
    if (whole != "0" && whole != "1" && (!whole.empty() || fraction.empty())) {
        return kQualityMax;
    }
    int quality = whole == "1" ? kQualityMax : 0;
    int place = kQualityMax / 10;
    for (const char c : fraction) {
        if (!is_digit(c)) {
            return kQualityMax;
        }
        quality += (c - '0') * place;
        place /= 10;
    }
    return quality > kQualityMax ? kQualityMax : quality;
}

MediaType read_media_type(std::string_view text) {
    MediaType media;
    media.name = next_part(text, ';');
    while (!text.empty()) {
        std::string_view value = next_part(text, ';');
        const std::string_view name = next_part(value, '=');
        value = unquoted(trimmed(value));
        if (equal_ignoring_case(name, "q")) {
            media.quality = read_quality(value);
        } else if (equal_ignoring_case(name, "fhirVersion")) {
            media.fhir_version = value;
        } else if (equal_ignoring_case(name, "charset")) {
            media.charset = value;
        }
    }
    return media;
}

std::string with_plus(std::string_view text) {
    std::string out(text);
    // Blanks beside separators stay: "text/json; q=1, text/xml".
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        if (text[i] == ' ' && is_token(text.substr(i - 1, 1)) && is_token(text.substr(i + 1, 1))) {
            out[i] = '+';
        }
    }
    return out;
}

bool is_media_type(std::string_view text) noexcept {
    std::string_view subtype = next_part(text, ';');
    const std::string_view type = subtype.substr(0, subtype.find('/'));
    subtype.remove_prefix(std::min(type.size() + 1, subtype.size()));
    if (!is_token(type) || !is_token(subtype) || type == "*" || subtype == "*") {
        return false;
    }
    while (!text.empty()) {
        std::string_view value = next_part(text, ';');
        if (value.empty()) {
            continue;  // allowed by RFC 9110 section 5.6.6
        }
        const std::string_view name = value.substr(0, value.find('='));
        value.remove_prefix(std::min(name.size() + 1, value.size()));
        if (!is_token(name) || (unquoted(value) == value && !is_token(value))) {
            return false;
        }
    }
    return true;
}

bool covers(std::string_view range, std::string_view name) noexcept {
    if (range == "*/*" || range == "*") {
        return true;
    }
    if (range.ends_with("/*")) {
        range.remove_suffix(1);
        return equal_ignoring_case(range, name.substr(0, range.size()));
    }
    return equal_ignoring_case(range, name);
}

}  // namespace annals::core
