#include "core/interactions/negotiation.h"

#include "core/target.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

// Cuts the part before `separator` off `rest`; separators inside of quotes do not count.
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

std::string_view unquoted(std::string_view text) {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
        return text.substr(1, text.size() - 2);
    }
    return text;
}

// A media type or range with the parameters that matter here.
struct MediaType {
    std::string_view name;  // type/subtype
    std::string_view fhir_version;
    std::string_view charset;
    bool refused = false;  // q=0
};

MediaType read_media_type(std::string_view text) {
    MediaType media;
    media.name = next_part(text, ';');
    while (!text.empty()) {
        std::string_view value = next_part(text, ';');
        const std::string_view name = next_part(value, '=');
        value = unquoted(value);
        if (equal_ignoring_case(name, "q")) {
            media.refused = value.find_first_not_of("0.") == std::string_view::npos;
        } else if (equal_ignoring_case(name, "fhirVersion")) {
            media.fhir_version = value;
        } else if (equal_ignoring_case(name, "charset")) {
            media.charset = value;
        }
    }
    return media;
}

bool is_r4(std::string_view fhir_version) {
    return fhir_version.empty() || fhir_version == "4.0" || fhir_version == "4.0.1";
}

bool is_fhir_json(std::string_view name) {
    return equal_ignoring_case(name, "application/fhir+json") ||
           equal_ignoring_case(name, "application/json") || equal_ignoring_case(name, "text/json");
}

bool is_xml(std::string_view name) {
    return equal_ignoring_case(name, "application/fhir+xml") ||
           equal_ignoring_case(name, "application/xml") || equal_ignoring_case(name, "text/xml") ||
           equal_ignoring_case(name, "xml");
}

// Browsers ask for text/html first and take anything; they get JSON.
bool is_range_over_json(std::string_view name) {
    return name == "*/*" || name == "*" || equal_ignoring_case(name, "application/*") ||
           equal_ignoring_case(name, "text/*") || equal_ignoring_case(name, "text/html");
}

Error not_acceptable(std::string_view what, std::string_view value) {
    return {Errc::not_acceptable,
            fmt::format("{} '{}' cannot be met: this server answers application/fhir+json "
                        "(FHIR 4.0)",
                        what, value),
            ""};
}

Error xml_not_supported() {
    return {Errc::not_acceptable, "XML is not supported: this server answers application/fhir+json",
            ""};
}

Result<void> check_format(std::string_view format) {
    // An unescaped + of application/fhir+json arrives as a blank.
    std::string text(format);
    if (const std::size_t blank = text.find("fhir "); blank != std::string::npos) {
        text[blank + 4] = '+';
    }
    const MediaType media = read_media_type(text);
    if (is_xml(media.name)) {
        return xml_not_supported();
    }
    if ((equal_ignoring_case(media.name, "json") || is_fhir_json(media.name)) &&
        is_r4(media.fhir_version)) {
        return {};
    }
    return not_acceptable("_format", format);
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    if (a.size() != b.size()) {
        return false;
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (lower(a[i]) != lower(b[i])) {
            return false;
        }
    }
    return true;
}

std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
        text.remove_prefix(1);
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
        text.remove_suffix(1);
    }
    return text;
}

Result<void> check_accept(const Request& request) {
    if (request.query.find("_format") != std::string_view::npos) {
        ANNALS_TRY(const Parameters parameters, parse_query(request.query));
        for (const auto& [name, value] : parameters) {
            if (name == "_format") {
                return check_format(value);
            }
        }
    }

    bool any = false;
    bool xml = false;
    std::string_view said;
    for (const Header& header : request.headers) {
        if (!equal_ignoring_case(header.name, "Accept")) {
            continue;
        }
        if (header.value == "application/fhir+json" || header.value == "*/*") {
            return {};
        }
        std::string_view rest = header.value;
        while (!rest.empty()) {
            const std::string_view range = next_part(rest, ',');
            if (range.empty()) {
                continue;
            }
            any = true;
            said = said.empty() ? range : said;
            const MediaType media = read_media_type(range);
            xml = xml || is_xml(media.name);
            if (!media.refused && is_r4(media.fhir_version) &&
                (is_fhir_json(media.name) || is_range_over_json(media.name))) {
                return {};
            }
        }
    }
    if (!any) {
        return {};
    }
    if (xml) {
        return xml_not_supported();
    }
    return not_acceptable("Accept", said);
}

Result<void> check_content_type(const Request& request) {
    const std::optional<std::string_view> value = request.header("Content-Type");
    if (!value || value->empty() || *value == "application/fhir+json") {
        return {};
    }
    const MediaType media = read_media_type(*value);
    if (is_xml(media.name)) {
        return Error{Errc::unsupported_media, "XML is not supported: send application/fhir+json",
                     ""};
    }
    if (!is_fhir_json(media.name)) {
        return Error{
            Errc::unsupported_media,
            fmt::format("Content-Type '{}' is not supported: send application/fhir+json", *value),
            ""};
    }
    if (!is_r4(media.fhir_version)) {
        return Error{
            Errc::unsupported_media,
            fmt::format("FHIR version '{}' is not supported: send 4.0", media.fhir_version), ""};
    }
    if (!media.charset.empty() && !equal_ignoring_case(media.charset, "utf-8") &&
        !equal_ignoring_case(media.charset, "utf8") &&
        !equal_ignoring_case(media.charset, "us-ascii")) {
        return Error{Errc::unsupported_media,
                     fmt::format("Character set '{}' is not supported: send UTF-8", media.charset),
                     ""};
    }
    return {};
}

Preference read_preference(const Request& request) {
    Preference preference;
    for (const Header& header : request.headers) {
        if (!equal_ignoring_case(header.name, "Prefer")) {
            continue;
        }
        // RFC 7240 separates preferences by commas; clients separate them by semicolons, too.
        std::string_view list = header.value;
        while (!list.empty()) {
            std::string_view part = next_part(list, ',');
            while (!part.empty()) {
                std::string_view value = next_part(part, ';');
                const std::string_view name = next_part(value, '=');
                value = unquoted(value);
                using Return = Preference::Return;
                if (equal_ignoring_case(name, "return") &&
                    preference.return_form == Return::unsaid) {
                    if (equal_ignoring_case(value, "minimal")) {
                        preference.return_form = Return::minimal;
                    } else if (equal_ignoring_case(value, "representation")) {
                        preference.return_form = Return::representation;
                    } else if (equal_ignoring_case(value, "OperationOutcome")) {
                        preference.return_form = Return::operation_outcome;
                    }
                } else if (equal_ignoring_case(name, "handling") && !preference.strict &&
                           !preference.lenient) {
                    preference.strict = equal_ignoring_case(value, "strict");
                    preference.lenient = equal_ignoring_case(value, "lenient");
                }
            }
        }
    }
    return preference;
}

}  // namespace annals::core
