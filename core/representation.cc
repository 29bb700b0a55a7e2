#include "core/representation.h"

#include "codec/xml/reader.h"
#include "core/base/parts.h"
#include "core/base/text.h"
#include "core/interactions/binary.h"
#include "core/transform.h"

#include <fmt/format.h>

#include <utility>

namespace annals::core {

namespace {

bool is_read(const Request& request, const Target& target) {
    return (request.method == HttpMethod::get || request.method == HttpMethod::head) &&
           (target.level == Level::instance || target.level == Level::version);
}

// Whether the answer is a Bundle of matches or versions.
bool has_count(const Request& request, const Target& target) {
    switch (target.level) {
        case Level::system_history:
        case Level::type_history:
        case Level::instance_history:
        case Level::system_search:
        case Level::type_search:
        case Level::compartment:
        case Level::compartment_search:
            return true;
        case Level::root:
        case Level::type:
            return request.method == HttpMethod::get || request.method == HttpMethod::head;
        case Level::metadata:
        case Level::openapi:
        case Level::changes:
        case Level::system_operation:
        case Level::type_operation:
        case Level::instance:
        case Level::version:
        case Level::instance_operation:
        case Level::version_operation:
        case Level::job:
        case Level::job_file:
            return false;
    }
    return false;
}

// Whether the query may have one of these parameters; their names might be percent-encoded.
bool may_say_something(std::string_view query) {
    for (const std::string_view name : {"_format", "_pretty", "_summary", "_elements", "%"}) {
        if (query.find(name) != std::string_view::npos) {
            return true;
        }
    }
    return false;
}

Result<bool> read_pretty(std::string_view value) {
    if (value != "true" && value != "false") {
        return Error{Errc::invalid, fmt::format("_pretty: '{}' is neither true nor false", value)};
    }
    return value == "true";
}

// Reads all parameters except the format.
Result<void> read_parameters(const Parameters& parameters, const Request& request,
                             Representation& out) {
    std::optional<std::string_view> summary;
    for (const auto& [name, value] : parameters) {
        if (value.empty()) {
            continue;  // Forms send fields that were left empty.
        }
        if (name == "_pretty" && !request.inside_bundle) {
            ANNALS_TRY(out.pretty, read_pretty(value));
        } else if (name == "_summary") {
            if (summary && *summary != value) {
                return Error{Errc::invalid, "_summary is given more than once"};
            }
            summary = value;
            ANNALS_TRY(out.subset.summary, read_summary(value));
        } else if (name == "_elements") {
            ANNALS_TRY_VOID(read_elements(value, out.subset.elements));
        }
    }
    if (out.subset.summary != Summary::none && !out.subset.elements.empty()) {
        out.subset = {};
        return Error{Errc::invalid, "_summary and _elements cannot be combined"};
    }
    return {};
}

// The format of the answer to a malformed query: from _format if that can be read on its own, else from Accept.
void read_format_of_malformed(const Request& request, Representation& out) {
    Result<AnswerFormat> chosen = read_accept(request);
    std::string_view rest = request.query;
    while (!rest.empty()) {
        const Result<Parameters> one = parse_query(take_until(rest, '&'));
        if (one && one->size() == 1 && one->front().first == "_format" &&
            !one->front().second.empty()) {
            chosen = read_format_parameter(one->front().second);
            break;
        }
    }
    if (chosen) {
        out.format = *chosen;
    }
}

void name_type(const Representation& asked, Response& response) {
    response.content_type =
        asked.format.format == Format::xml ? ContentType::fhir_xml : ContentType::fhir_json;
    if (asked.format.says_version) {
        response.media_type = asked.format.format == Format::xml
                                  ? "application/fhir+xml; fhirVersion=4.0; charset=utf-8"
                                  : "application/fhir+json; fhirVersion=4.0; charset=utf-8";
    }
}

// Moves all parameters of a search by POST to the query.
Result<std::unique_ptr<ConvertedRequest>> convert_form(const Request& request) {
    auto converted = std::make_unique<ConvertedRequest>();
    converted->request = request;
    if (!request.body.empty()) {
        if (!is_search_form(request)) {
            return Error{Errc::unsupported_media,
                         "A search by POST must be application/x-www-form-urlencoded"};
        }
        if (request.body.size() > kFormBytesMax) {
            return Error{Errc::body_too_large, "The parameters of the search are too long"};
        }
    }
    converted->query = request.query;
    if (!converted->query.empty() && !request.body.empty()) {
        converted->query += '&';
    }
    converted->query += request.body;
    converted->request.query = converted->query;
    converted->request.body = {};
    return converted;
}

}  // namespace

bool is_form(const Request& request) {
    std::string_view type = request.header("Content-Type").value_or("");
    return equal_ignoring_case(next_part(type, ';'), "application/x-www-form-urlencoded");
}

bool is_search_form(const Request& request) {
    // HAPI's client sends no Content-Type when it compresses the form. A body that begins like a resource is no form; read as
    // one, it would match everything.
    return is_form(request) || (!request.header("Content-Type") && !request.body.starts_with('{') &&
                                !request.body.starts_with('<'));
}

Result<void> read_representation(const Request& request, const Target& target,
                                 Representation& out) {
    if (target.level == Level::changes) {
        return {};  // no resource: core/interactions/changes.cc determines the format
    }
    if (target.level == Level::job_file || target.level == Level::openapi) {
        // The file itself is never converted; an OperationOutcome sent instead of it is.
        if (const Result<AnswerFormat> format = read_accept(request);
            format && !request.inside_bundle) {
            out.format = *format;
        }
        return {};
    }
    // Searches and histories of Binary return Bundles, as for any other type.
    const bool gets = request.method == HttpMethod::get || request.method == HttpMethod::head;
    const bool binary = is_binary(target) && (target.level != Level::type || !gets);
    // A result of GraphQL is JSON, whatever is asked for; an OperationOutcome sent instead is not.
    const bool graphql = target.operation == "$graphql";
    if (request.query.empty() && !binary && !graphql && !request.inside_bundle) {
        ANNALS_TRY(out.format, read_accept(request));
        return {};
    }
    const bool may_be_raw = binary && is_read(request, target);
    Parameters parameters;
    const std::string* format = nullptr;
    if (may_say_something(request.query)) {
        Result<Parameters> parsed = parse_query(request.query);
        if (!parsed) {
            if (!request.inside_bundle) {
                read_format_of_malformed(request, out);
            }
            return std::move(parsed.error());
        }
        parameters = *std::move(parsed);
        for (const auto& [name, value] : parameters) {
            if (name == "_format" && !value.empty() && format == nullptr) {
                format = &value;
            }
        }
    }

    if (!request.inside_bundle) {
        Result<AnswerFormat> chosen =
            format != nullptr ? read_format_parameter(*format) : read_accept(request);
        if (chosen) {
            out.format = *chosen;
        } else if (!graphql &&
                   (!binary || (format != nullptr && format->find('/') == std::string::npos))) {
            return std::move(chosen.error());
        }
        if (may_be_raw && !chosen) {
            out.raw = Representation::Raw::must;
        } else if (may_be_raw && format == nullptr && request.header("Accept") &&
                   (out.format.close != Naming::fhir || out.format.quality < kQualityMax)) {
            out.raw = Representation::Raw::maybe;
        }
    }
    ANNALS_TRY_VOID(read_parameters(parameters, request, out));
    if (out.pretty || !out.subset.whole()) {
        out.raw = Representation::Raw::no;
    }
    if (out.subset.summary == Summary::count) {
        // The handler of the search or history leaves the entries out.
        out.subset.summary = Summary::none;
        if (!has_count(request, target)) {
            return Error{Errc::invalid, "_summary=count is for searches and histories"};
        }
    }
    return {};
}

void represent_changed(const Representation& asked, const Request& request, Response& response) {
    if (response.content_type != ContentType::fhir_json || response.body.empty()) {
        return;
    }
    const bool success = response.status < 300;
    if (asked.raw != Representation::Raw::no && response.status == 200 &&
        make_raw(request, asked.raw == Representation::Raw::must ? nullptr : &asked.format,
                 response)) {
        return;
    }
    name_type(asked, response);
    Representation wanted = asked;
    if (!success) {
        wanted.subset = {};
    }
    if (wanted.subset.whole() && !wanted.pretty && wanted.format.format == Format::json) {
        return;
    }
    // A response without a version of its own is a Bundle of resources, if it is a Bundle at all.
    Look look{.format = wanted.format.format,
              .pretty = wanted.pretty,
              .bundle = !response.etag &&
                        response.body.piece(0).starts_with(R"({"resourceType":"Bundle")"),
              .subset = std::move(wanted.subset)};
    auto transformed =
        transform(std::move(look), std::exchange(response.body, Body()), std::move(response.more));
    if (transformed->next(response.body)) {
        response.more = std::move(transformed);
    }
}

void represent_error(const Request& request, Response& response) {
    Representation asked;
    const Result<void> read = read_representation(request, Target(), asked);
    static_cast<void>(read);  // what could be read applies
    asked.subset = {};
    represent(asked, request, response);
}

ConvertedRequest::ConvertedRequest() = default;
ConvertedRequest::~ConvertedRequest() = default;

bool is_json_or_none(const Request& request) {
    if (request.method == HttpMethod::delete_) {
        return true;
    }
    const Result<BodyFormat> format = read_content_type(request);
    return format && *format == BodyFormat::json && !request.body.starts_with(kByteOrderMark);
}

Result<std::unique_ptr<ConvertedRequest>> convert_body(const Request& request,
                                                       const Target& target) {
    const bool writes = request.method == HttpMethod::post || request.method == HttpMethod::put ||
                        request.method == HttpMethod::patch;
    if (!writes) {
        return std::unique_ptr<ConvertedRequest>();
    }
    if (is_search_by_post(target.level)) {
        return convert_form(request);
    }
    if (request.inside_bundle) {
        return std::unique_ptr<ConvertedRequest>();
    }
    const bool content = is_content(request, target);
    BodyFormat format = BodyFormat::other;
    if (!content) {
        ANNALS_TRY(format, read_content_type(request));
    }
    std::unique_ptr<ConvertedRequest> converted;
    if (content) {
        converted = std::make_unique<ConvertedRequest>();
        ANNALS_TRY(converted->body, binary_json(request, target));
    } else if (format == BodyFormat::xml) {
        thread_local xml::Reader reader;
        converted = std::make_unique<ConvertedRequest>();
        ANNALS_TRY(converted->body, target.level == Level::root
                                        ? reader.read_entries(request.body, converted->unreadable)
                                        : reader.read(request.body));
    } else if (request.body.starts_with(kByteOrderMark) &&
               (format == BodyFormat::json || request.method == HttpMethod::patch)) {
        converted = std::make_unique<ConvertedRequest>();
        converted->request = request;
        converted->request.body.remove_prefix(kByteOrderMark.size());
        return converted;
    }
    if (converted == nullptr) {
        return converted;
    }
    converted->request = request;
    converted->request.body = converted->body;
    converted->request.unreadable =
        converted->unreadable.empty() ? nullptr : &converted->unreadable;
    for (Header& header : converted->request.headers) {
        if (equal_ignoring_case(header.name, "Content-Type")) {
            header.value = "application/fhir+json";
        }
    }
    return converted;
}

}  // namespace annals::core
