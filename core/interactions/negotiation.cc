#include "core/interactions/negotiation.h"

#include <fmt/format.h>

#include <string>

namespace annals::core {

namespace {

bool is_r4(std::string_view fhir_version) {
    return fhir_version.empty() || fhir_version == "4.0" || fhir_version == "4.0.1";
}

bool is_utf8_charset(std::string_view charset) {
    return charset.empty() || equal_ignoring_case(charset, "utf-8") ||
           equal_ignoring_case(charset, "utf8") || equal_ignoring_case(charset, "us-ascii");
}

// How specifically a range names a format; 0: not at all.
using Closeness = int;

constexpr Closeness kFhirType = 5;     // application/fhir+json, DSTU2's application/json+fhir
constexpr Closeness kGenericType = 4;  // application/json
constexpr Closeness kBrowserType = 3;  // text/html: browsers ask for it first; they get JSON
constexpr Closeness kSubtypes = 2;     // application/*
constexpr Closeness kAnything = 1;     // */*

Closeness closeness(Format format, std::string_view name) {
    const bool json = format == Format::json;
    if (equal_ignoring_case(name, json ? "application/fhir+json" : "application/fhir+xml") ||
        equal_ignoring_case(name, json ? "application/json+fhir" : "application/xml+fhir")) {
        return kFhirType;
    }
    if (equal_ignoring_case(name, json ? "application/json" : "application/xml") ||
        equal_ignoring_case(name, json ? "text/json" : "text/xml")) {
        return kGenericType;
    }
    if (json && equal_ignoring_case(name, "text/html")) {
        return kBrowserType;
    }
    if (equal_ignoring_case(name, "application/*") || equal_ignoring_case(name, "text/*")) {
        return kSubtypes;
    }
    return name == "*/*" || name == "*" ? kAnything : 0;
}

// The range that applies to a format.
struct MediaMatch {
    Closeness close = 0;
    int quality = 0;
    bool says_version = false;

    void consider(Closeness here, const MediaType& media) {
        if (here > close || (here == close && close > 0 && media.quality > quality)) {
            close = here;
            quality = media.quality;
            says_version = !media.fhir_version.empty();
        }
    }

    bool is_better_than(const MediaMatch& other) const {
        return quality != other.quality ? quality > other.quality : close > other.close;
    }
};

Error not_acceptable(std::string_view what, std::string_view value) {
    return {Errc::not_acceptable,
            fmt::format("{} '{}' cannot be met: this server returns application/fhir+json and "
                        "application/fhir+xml (FHIR 4.0)",
                        what, value)};
}

AnswerFormat answer_format(Format format, const MediaMatch& match) {
    const Naming close = match.close == kFhirType      ? Naming::fhir
                         : match.close == kGenericType ? Naming::generic
                                                       : Naming::range;
    return {.format = format,
            .close = close,
            .says_version = match.says_version,
            .quality = match.quality};
}

}  // namespace

std::optional<Format> format_of(std::string_view media_type) {
    for (const Format format : {Format::json, Format::xml}) {
        if (closeness(format, media_type) >= kGenericType) {
            return format;
        }
    }
    return {};
}

Result<AnswerFormat> read_accept(const Request& request) {
    bool any = false;
    std::string_view said;
    MediaMatch json;
    MediaMatch xml;
    for (const Header& header : request.headers) {
        if (!equal_ignoring_case(header.name, "Accept")) {
            continue;
        }
        if (!any && header.value == "application/fhir+json") {
            return AnswerFormat{.close = Naming::fhir};
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
            if (is_r4(media.fhir_version) && is_utf8_charset(media.charset)) {
                json.consider(closeness(Format::json, media.name), media);
                xml.consider(closeness(Format::xml, media.name), media);
            }
        }
    }
    if (!any) {
        return AnswerFormat{};
    }
    if (xml.close > 0 && xml.quality > 0 && xml.is_better_than(json)) {
        return answer_format(Format::xml, xml);
    }
    if (json.close > 0 && json.quality > 0) {
        return answer_format(Format::json, json);
    }
    return not_acceptable("Accept", said);
}

Result<AnswerFormat> read_format_parameter(std::string_view value) {
    const std::string text = with_plus(value);
    const MediaType media = read_media_type(text);
    if (!is_r4(media.fhir_version) || !is_utf8_charset(media.charset)) {
        return not_acceptable("_format", value);
    }
    AnswerFormat answer{.close = Naming::fhir, .says_version = !media.fhir_version.empty()};
    const std::optional<Format> format = format_of(media.name);
    const bool range = closeness(Format::json, media.name) == kAnything;
    if (range || equal_ignoring_case(media.name, "json") || format == Format::json) {
        return answer;
    }
    if (equal_ignoring_case(media.name, "xml") || format == Format::xml) {
        answer.format = Format::xml;
        return answer;
    }
    return not_acceptable("_format", value);
}

Result<BodyFormat> read_content_type(const Request& request) {
    const std::optional<std::string_view> value = request.header("Content-Type");
    if (!value || value->empty() || *value == "application/fhir+json") {
        return BodyFormat::json;
    }
    const MediaType media = read_media_type(*value);
    const std::optional<Format> format = format_of(media.name);
    if (!format) {
        return BodyFormat::other;
    }
    ANNALS_TRY_VOID(check_parameters(media));
    return format == Format::json ? BodyFormat::json : BodyFormat::xml;
}

Result<void> check_parameters(const MediaType& media) {
    if (!is_r4(media.fhir_version)) {
        return Error{
            Errc::unsupported_media,
            fmt::format("FHIR version '{}' is not supported: send 4.0", media.fhir_version)};
    }
    if (!is_utf8_charset(media.charset)) {
        return Error{Errc::unsupported_media,
                     fmt::format("Character set '{}' is not supported: send UTF-8", media.charset)};
    }
    return {};
}

Result<void> check_content_type(const Request& request) {
    ANNALS_TRY(const BodyFormat format, read_content_type(request));
    if (format != BodyFormat::json) {
        return Error{Errc::unsupported_media,
                     fmt::format("Content-Type '{}' is not supported here: send "
                                 "application/fhir+json or application/fhir+xml",
                                 request.header("Content-Type").value_or(""))};
    }
    return {};
}

Preference read_preference(const Request& request) {
    Preference preference;
    for (const Header& header : request.headers) {
        if (!equal_ignoring_case(header.name, "Prefer")) {
            continue;
        }
        // RFC 7240 separates preferences by commas; some clients use semicolons.
        std::string_view list = header.value;
        while (!list.empty()) {
            std::string_view part = next_part(list, ',');
            while (!part.empty()) {
                std::string_view value = next_part(part, ';');
                const std::string_view name = next_part(value, '=');
                value = unquoted(trimmed(value));  // RFC 7240 allows blanks on both sides of '='
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
                } else if (equal_ignoring_case(name, "respond-async")) {
                    preference.respond_async = true;
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
