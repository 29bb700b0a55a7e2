// The audit log's line for one request and its response.

#include "codec/json/document.h"
#include "codec/json/unicode.h"
#include "codec/schema/primitive.h"
#include "core/base/parts.h"
#include "core/representation.h"
#include "core/target.h"
#include "net/audit.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <iterator>

namespace annals::net {

namespace {

using core::HttpMethod;
using core::Level;

/// The most parameter names in a line, and the most bytes of each.
constexpr std::size_t kNamesMax = 64;
constexpr std::size_t kNameBytesMax = 100;

bool is_job(Level level) {
    return level == Level::job || level == Level::job_file;
}

/// Create, read, update, delete, execute.
char action_of(HttpMethod method, Level level) {
    switch (level) {
        case Level::root:
            return method == HttpMethod::post ? 'E' : 'R';
        case Level::system_operation:
        case Level::type_operation:
        case Level::instance_operation:
        case Level::version_operation:
            return 'E';
        case Level::type_search:
        case Level::system_search:
        case Level::compartment_search:
            return 'R';
        default:
            break;
    }
    switch (method) {
        case HttpMethod::post:
            return 'C';
        case HttpMethod::put:
        case HttpMethod::patch:
            return 'U';
        case HttpMethod::delete_:
            return 'D';
        default:
            return 'R';
    }
}

/// http://hl7.org/fhir/restful-interaction
std::string_view interaction_of(HttpMethod method, const core::Target& target) {
    const bool reads = method == HttpMethod::get || method == HttpMethod::head;
    switch (target.level) {
        case Level::root:
            return reads ? "search-system" : "transaction";
        case Level::metadata:
            return "capabilities";
        case Level::system_history:
            return "history-system";
        case Level::system_search:
            return "search-system";
        case Level::type_history:
            return "history-type";
        case Level::type_search:
        case Level::compartment:
        case Level::compartment_search:
            return "search-type";
        case Level::instance_history:
            return reads ? "history-instance" : "delete";
        case Level::version:
            return reads ? "vread" : "delete";
        case Level::type:
            if (reads) {
                return "search-type";
            }
            break;
        case Level::instance:
            if (reads) {
                return "read";
            }
            break;
        default:
            return "operation";
    }
    switch (method) {
        case HttpMethod::post:
            return "create";
        case HttpMethod::put:
            return "update";
        case HttpMethod::patch:
            return "patch";
        case HttpMethod::delete_:
            return "delete";
        default:
            return "operation";
    }
}

/// http://hl7.org/fhir/audit-event-outcome: success, minor failure (the client's), serious failure (ours).
char outcome_of(int status) {
    return status < 400 ? '0' : status < 500 ? '4' : '8';
}

void append(std::string& out, std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts) {
        out += part;
    }
}

/// Requires: three digits.
void append_status(std::string& out, int status) {
    const std::array<char, 3> digits{static_cast<char>('0' + status / 100 % 10),
                                     static_cast<char>('0' + status / 10 % 10),
                                     static_cast<char>('0' + status % 10)};
    out.append(digits.data(), digits.size());
}

void append_number(std::string& out, std::uint64_t number) {
    std::array<char, 20> digits;
    const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

/// The id of the job whose status is at `place`; empty if there is none.
std::string_view job_at(std::string_view place) {
    for (const std::string_view jobs : {"_jobs/", "_export-status/"}) {
        if (place.starts_with(jobs)) {
            return place.substr(jobs.size());
        }
    }
    return {};
}

/// Where a response says that its resource or job is, below the root. The status URLs of $backup
/// and the like don't count.
std::string_view place_of(const core::Response& response) {
    constexpr std::string_view kBelow = "/fhir/";
    for (const std::string_view place :
         {std::string_view(response.location), std::string_view(response.content_location)}) {
        // There may be several, if base_url contains it, too.
        for (std::size_t at = place.find(kBelow); at != std::string_view::npos;
             at = place.find(kBelow, at + 1)) {
            const std::string_view below = place.substr(at + kBelow.size());
            if (find_resource_type(below.substr(0, below.find('/'))) || !job_at(below).empty()) {
                return below;
            }
        }
    }
    return {};
}

/// "Patient/1/_history/2" with its quotes, as far as it is known; nothing if it isn't. Its parts have no
/// characters that JSON would escape.
void append_reference(std::string& line, const core::Target& target, const core::Response& response,
                      std::string_view place) {
    if (!place.empty()) {
        // After a write, the response knows best.
        json::append_quoted(line, place);
        return;
    }
    append(line, {"\"", resource_type_name(target.type), "/", target.id});
    if (!target.version.empty()) {
        // It is verbatim from the path, so it may be anything: an event with such a reference could not be stored.
        if (is_resource_id(target.version)) {
            append(line, {"/_history/", target.version});
        }
    } else if (response.etag &&
               (target.level == Level::instance || target.level == Level::instance_operation)) {
        line += "/_history/";
        append_number(line, response.etag->value);
    }
    line += '"';
}

/// Whether `c` may be in a name or a URI. An event with a script in it could not be stored.
bool is_plain(char c) {
    return c > 0x20 && c < 0x7f && std::string_view(R"("<>{})").find(c) == std::string_view::npos;
}

/// The part of an entry's request, or of a response's location, that is allowed in a Reference.
std::string_view referable(std::string_view asked) {
    // "/", "metadata" and "#a" are allowed in a reference, too, but would mean nothing there.
    const auto names_a_resource = [](std::string_view text) {
        const bool absolute =
            text.starts_with("http://") || text.starts_with("https://") || text.starts_with("urn:");
        return absolute || (text.find(':') == std::string_view::npos &&
                            find_resource_type(text.substr(0, text.find('/'))));
    };
    while (!asked.empty() && !(schema::is_reference(asked) && names_a_resource(asked) &&
                               std::ranges::all_of(asked, is_plain))) {
        asked = asked.substr(0, std::min(asked.rfind('/'), asked.size()));
        if (asked.find('/') == std::string_view::npos) {
            return {};
        }
    }
    return asked;
}

/// Appends one entry of a bundle, or one resource deleted by criteria.
void append_trace(std::string& line, const core::EntryTrace& trace) {
    line += '{';
    const std::string_view asked = trace.reference;
    if (const std::string_view reference = referable(asked); !reference.empty()) {
        line += R"("what":{"reference":)";
        json::append_quoted(line, reference);
        line += "},";
    } else if (const std::string_view type = asked.substr(0, asked.find('/'));
               find_resource_type(type)) {
        append(line, {R"("what":{"type":")", type, R"("},)"});
    }
    append(line, {R"("name":")", core::method_name(trace.method), R"(","description":")"});
    append_status(line, trace.status);
    line += R"("},)";
}

/// Requires: another detail comes before.
void append_detail(std::string& line, std::string_view type, std::string_view text) {
    append(line, {R"(,{"type":")", type, R"(","valueString":)"});
    json::append_quoted(line, text);
    line += '}';
}

/// Whether it is a parameter's name: what is sent instead of a form, such as a resource, has none,
/// but contains personal data.
bool is_name(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, is_plain);
}

/// Appends the names in a query or form, without their values.
void append_names(std::string& line, std::string_view query) {
    for (std::size_t i = 0; i < kNamesMax && !query.empty(); ++i) {
        const std::string_view pair = take_until(query, '&');
        const std::string_view name = pair.substr(0, pair.find('=')).substr(0, kNameBytesMax);
        if (is_name(name)) {
            append_detail(line, "parameter", name);
        }
    }
}

void append_subtype(std::string& line, const core::Request& request, const core::Target* target) {
    if (request.path == core::Config::Auth::TokenEndpoint::kPath) {
        line +=
            R"(,"subtype":[{"system":"http://dicom.nema.org/resources/ontology/DCM","code":"110122","display":"Login"}],"action":"E")";
    } else if (target != nullptr) {
        const char action = action_of(request.method, target->level);
        append(line, {R"(,"subtype":[{"system":"http://hl7.org/fhir/restful-interaction","code":")",
                      interaction_of(request.method, *target), R"("}],"action":")",
                      std::string_view(&action, 1), "\""});
    }
}

void append_agent(std::string& line, const core::Request& request, std::string_view address) {
    line += R"(,"agent":[{)";
    if (request.principal != nullptr) {
        std::string_view name = request.principal->name();
        // FHIR's strings have no control characters, but a token's subject may have any.
        const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
        std::string cleaned;
        if (std::ranges::any_of(name, is_control)) {
            std::ranges::remove_copy_if(name, std::back_inserter(cleaned), is_control);
            name = cleaned;
        }
        if (!name.empty()) {
            line += R"("who":{"identifier":{"value":)";
            json::append_quoted(line, name);
            line += "}},";
        }
    }
    line += R"("requestor":true)";
    if (!address.empty()) {
        append(line, {R"(,"network":{"address":")", address, R"(","type":"2"})"});
    }
    line += "}]";
}

}  // namespace

// Every read waits for this, so the line is built by hand, in memory that is already allocated.
void audit_line(std::string& line, const core::Request& request, const core::Response& response,
                const AccessOrigin& origin, Instant time) {
    const Result<core::Target> parsed = core::parse_target(request.path);
    const core::Target target = parsed ? *parsed : core::Target();
    line = R"({"resourceType":"AuditEvent","type":{"system":)"
           R"("http://terminology.hl7.org/CodeSystem/audit-event-type","code":"rest"})";
    append_subtype(line, request, parsed ? &target : nullptr);
    std::array<char, kInstantChars> recorded;
    write_instant(time, recorded.data());
    const char outcome = outcome_of(response.status);
    append(line, {R"(,"recorded":")",
                  {recorded.data(), recorded.size()},
                  R"(","outcome":")",
                  {&outcome, 1},
                  R"(","outcomeDesc":")"});
    append_status(line, response.status);
    line += '"';
    append_agent(line, request, origin.address);
    line += R"(,"source":{"observer":{"display":"Annals"}},"entity":[)";

    // A job is not a resource, nor is the status of $backup and the like, so there is no reference to it.
    const std::string_view told = place_of(response);
    const std::string_view begun = job_at(told);
    const std::string_view place = referable(told);
    if (begun.empty() && !(place.empty() && target.id.empty()) && !is_job(target.level)) {
        line += R"({"what":{"reference":)";
        append_reference(line, target, response, place);
        line += "}},";
    } else if (parsed && core::names_a_type(target.level)) {
        append(line, {R"({"what":{"type":")", resource_type_name(target.type), R"("}},)"});
    }
    for (const core::EntryTrace& trace : response.entries) {
        append_trace(line, trace);
    }
    // Ids with characters that need escapes were not accepted.
    append(line,
           {R"({"detail":[{"type":"X-Request-Id","valueString":")", request.request_id, R"("})"});
    if (const std::string_view job = !begun.empty()         ? begun
                                     : is_job(target.level) ? target.id
                                                            : origin.job;
        !job.empty()) {
        append_detail(line, "job", job);
    }
    if (const std::string_view name = target.operation.substr(0, kNameBytesMax); is_name(name)) {
        append_detail(line, "operation", name);
    }
    append_names(line, request.query);
    if (core::is_search_by_post(target.level) && core::is_search_form(request)) {
        append_names(line, request.body);
    }
    line += "]}]}";
}

}  // namespace annals::net
