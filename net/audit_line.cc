// The line of the audit log for one request and its answer.

#include "codec/json/document.h"
#include "core/service.h"
#include "core/target.h"
#include "net/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace annals::net {

namespace {

using core::HttpMethod;
using core::Level;

/// Names of parameters that are told, and how much of each.
constexpr std::size_t kNamesMax = 64;
constexpr std::size_t kNameBytesMax = 100;

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

/// "Patient/1/_history/2", as much of it as there is.
std::string reference_of(const core::Target& target, const core::Response& response) {
    // What a write made says its answer best.
    for (const std::string* const place : {&response.location, &response.content_location}) {
        const std::size_t below = place->find("/fhir/");
        if (below != std::string::npos) {
            return place->substr(below + 6);
        }
    }
    if (target.id.empty()) {
        return {};
    }
    std::string reference = fmt::format("{}/{}", resource_type_name(target.type), target.id);
    if (!target.version.empty()) {
        fmt::format_to(std::back_inserter(reference), "/_history/{}", target.version);
    } else if (response.etag && target.level == Level::instance) {
        fmt::format_to(std::back_inserter(reference), "/_history/{}", response.etag->value);
    }
    return reference;
}

void append_entity(std::string& line, std::string_view members) {
    line += line.ends_with('[') ? "{" : ",{";
    line += members;
    line += '}';
}

void append_detail(std::string& details, std::string_view type, std::string_view text) {
    fmt::format_to(std::back_inserter(details), R"({}{{"type":"{}","valueString":)",
                   details.empty() ? "" : ",", type);
    json::append_quoted(details, text);
    details += '}';
}

/// The names in a query or a form, not what they are asked for.
void append_names(std::string& details, std::string_view query) {
    for (std::size_t i = 0; i < kNamesMax && !query.empty(); ++i) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view pair = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        std::string name(pair.substr(0, pair.find('=')).substr(0, kNameBytesMax));
        // A body need not be text.
        std::erase_if(name, [](char c) { return c < 0x20 || c > 0x7e; });
        if (!name.empty()) {
            append_detail(details, "parameter", name);
        }
    }
}

}  // namespace

std::string audit_line(const core::Request& request, const core::Response& response,
                       std::string_view address, Instant time) {
    const Result<core::Target> parsed = core::parse_target(request.path);
    const core::Target target = parsed ? *parsed : core::Target();
    std::string line;
    line.reserve(700);
    line += R"({"resourceType":"AuditEvent","type":{"system":)"
            R"("http://terminology.hl7.org/CodeSystem/audit-event-type","code":"rest"})";
    if (request.path == core::Config::Auth::TokenEndpoint::kPath) {
        line +=
            R"(,"subtype":[{"system":"http://dicom.nema.org/resources/ontology/DCM","code":"110122","display":"Login"}],"action":"E")";
    } else if (parsed) {
        fmt::format_to(
            std::back_inserter(line),
            R"(,"subtype":[{{"system":"http://hl7.org/fhir/restful-interaction","code":"{}"}}],"action":"{}")",
            interaction_of(request.method, target), action_of(request.method, target.level));
    }
    fmt::format_to(std::back_inserter(line),
                   R"(,"recorded":"{}","outcome":"{}","outcomeDesc":"{}","agent":[{{)",
                   format_instant(time), outcome_of(response.status), response.status);
    if (request.principal != nullptr) {
        line += R"("who":{"identifier":{"value":)";
        json::append_quoted(line, request.principal->name());
        line += "}},";
    }
    fmt::format_to(
        std::back_inserter(line),
        R"("requestor":true,"network":{{"address":"{}","type":"2"}}}}],"source":{{"observer":{{"display":"Annals"}}}},"entity":[)",
        address);

    if (const std::string reference = reference_of(target, response); !reference.empty()) {
        append_entity(line, fmt::format(R"("what":{{"reference":{}}})", json::quoted(reference)));
    } else if (parsed && core::names_a_type(target.level)) {
        append_entity(line,
                      fmt::format(R"("what":{{"type":"{}"}})", resource_type_name(target.type)));
    }
    for (const core::EntryTrace& trace : response.entries) {
        append_entity(line,
                      fmt::format(R"("what":{{"reference":{}}},"name":"{}","description":"{}")",
                                  json::quoted(trace.reference), core::method_name(trace.method),
                                  trace.status));
    }
    std::string details;
    append_detail(details, "X-Request-Id", request.request_id);
    if (!target.operation.empty()) {
        append_detail(details, "operation", target.operation.substr(0, kNameBytesMax));
    }
    append_names(details, request.query);
    if (target.level == Level::type_search || target.level == Level::system_search) {
        append_names(details, request.body);
    }
    append_entity(line, fmt::format(R"("detail":[{}])", details));
    line += "]}";
    return line;
}

}  // namespace annals::net
