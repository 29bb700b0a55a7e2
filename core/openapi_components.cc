#include "core/openapi_components.h"

#include "codec/json/document.h"
#include "codec/schema/search_type.h"
#include "core/base/ascii.h"
#include "core/base/resource_types.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

struct Line {
    std::string_view key;
    std::string_view in;  ///< "query", "header", "path"
    std::string_view description;
    std::string_view schema;
};

// Parameters that are the same everywhere.
constexpr Line kParameters[] = {
    {"type", "path", "A resource type", R"({"$ref":"#/components/schemas/type"})"},
    {"id", "path", "A resource's id", R"({"$ref":"#/components/schemas/id"})"},
    {"vid", "path", "A version's number", R"({"type":"string","pattern":"^[1-9][0-9]*$"})"},
    {"member", "path", "A resource type that the compartment can contain, or * for all",
     R"({"type":"string"})"},
    {"job", "path", "A job's id", R"({"$ref":"#/components/schemas/id"})"},
    {"file", "path", "The name of a file, from the job's manifest", R"({"type":"string"})"},
    {"If-Match", "header", "Versions, one of which must be the current one",
     R"({"type":"string"})"},
    {"If-None-Match", "header",
     "Versions that need not be sent again (reads), or must not be replaced (writes)",
     R"({"type":"string"})"},
    {"If-Modified-Since", "header",
     "An HTTP date; a resource not modified since need not be sent again", R"({"type":"string"})"},
    {"If-Unmodified-Since", "header", "An HTTP date; a resource modified since is not changed",
     R"({"type":"string"})"},
    {"If-None-Exist", "header", "Criteria: nothing is created if a resource matches them",
     R"({"type":"string"})"},
    {"Prefer", "header",
     "return=minimal, representation or OperationOutcome; handling=strict; respond-async",
     R"({"type":"string"})"},
    {"Range", "header", "The requested bytes of the file", R"({"type":"string"})"},
    {"_criteria", "query", "Search parameters with their modifiers, chains and _has",
     R"({"type":"object","additionalProperties":{"type":"string"}})"},
    {"_format", "query",
     "The format of the response, which overrides Accept: json, xml or a media type",
     R"({"type":"string"})"},
    {"_pretty", "query", "Whether the response is indented", R"({"type":"boolean"})"},
    {"_summary", "query", "Which elements are returned",
     R"({"enum":["true","text","data","count","false"]})"},
    {"_elements", "query", "Names of the elements to return, separated by commas",
     R"({"type":"string"})"},
    {"_asOf", "query", "An instant or a position: the response shows the store as it was then",
     R"({"type":"string"})"},
    {"_since", "query", "Only versions written at this instant or later", R"({"type":"string"})"},
    {"_at", "query", "Only versions that were current at this instant", R"({"type":"string"})"},
    {"_count", "query", "The maximum number of entries on a page; 0: only the total",
     R"({"type":"integer","minimum":0})"},
    {"_offset", "query", "The number of entries to skip", R"({"type":"integer","minimum":0})"},
    {"_cursor", "query", "Where to continue; taken from the link of the previous page",
     R"({"type":"string"})"},
    {"_sort", "query",
     "The order: names separated by commas, with a leading - for descending; further names if it "
     "is repeated",
     R"({"type":"string"})"},
    {"_total", "query", "How the total is determined",
     R"({"enum":["none","estimate","accurate"]})"},
    {"_include", "query", "Includes what matches refer to, as Type:parameter",
     R"({"type":"array","items":{"type":"string"}})"},
    {"_revinclude", "query", "Includes what refers to matches, as Type:parameter",
     R"({"type":"array","items":{"type":"string"}})"},
    {"_contained", "query", "Whether contained resources are found",
     R"({"enum":["true","false","both"]})"},
    {"_containedType", "query", "What is returned for contained matches",
     R"({"enum":["container","contained"]})"},
    {"_type", "query", "Resource types, separated by commas", R"({"type":"string"})"},
    {"after", "query", "A position; everything after it is returned",
     R"({"type":"integer","minimum":0})"},
    {"wait", "query", "Seconds to wait if there is nothing new",
     R"({"type":"integer","minimum":0,"maximum":60})"},
    {"mode", "query",
     "terminology: the TerminologyCapabilities; the other modes return the same "
     "CapabilityStatement",
     R"({"enum":["full","normative","terminology"]})"},
};

constexpr std::string_view kFhirContent =
    R"("content":{"application/fhir+json":{"schema":{"$ref":"#/components/schemas/%"}},)"
    R"("application/fhir+xml":{"schema":{"type":"string"}}})";

std::string fhir_content(std::string_view schema) {
    std::string out(kFhirContent);
    out.replace(out.find('%'), 1, schema);
    return out;
}

/// The same, or the content of a Binary in any media type.
std::string fhir_or_any_content(std::string_view schema) {
    std::string out = fhir_content(schema);
    out.insert(out.size() - 1, R"(,"*/*":{})");
    return out;
}

/// A response with leading comma, in FHIR's formats or as JSON that is no resource.
std::string fhir_or_json(std::string_view key, std::string_view description,
                         std::string_view schema) {
    std::string content = fhir_content(schema);
    content.insert(content.size() - 1, R"(,"application/json":{"schema":{"type":"object"}})");
    return fmt::format(R"("{}":{{"description":"{}",{}}},)", key, description, content);
}

std::string parameters_json() {
    std::string out;
    for (const Line& line : kParameters) {
        out += fmt::format(
            R"({0}"{1}":{{"name":"{2}","in":"{3}",{4}"description":"{5}","schema":{6}}})",
            out.empty() ? "" : ",", line.key, line.key == "job" ? "id" : line.key, line.in,
            line.in == "path" ? R"("required":true,)" : "", line.description, line.schema);
    }
    return out;
}

std::string request_bodies() {
    std::string out = fmt::format(
        R"("resource":{{"description":"The resource; for a Binary also its content",)"
        R"("required":true,{}}},"bundle":{{"required":true,{}}},)"
        R"("parameters":{{"description":"Parameters, or the resource that the operation is about",{}}},)",
        fhir_or_any_content("Resource"), fhir_content("Bundle"), fhir_content("Resource"));
    out += R"("patch":{"required":true,"content":{)"
           R"("application/json-patch+json":{"schema":{"$ref":"#/components/schemas/JsonPatch"}},)"
           R"("application/fhir+json":{"schema":{"$ref":"#/components/schemas/Parameters"}},)"
           R"("application/fhir+xml":{"schema":{"type":"string"}}}},)"
           R"("graphql":{"required":true,"content":{"application/json":{"schema":{"type":"object",)"
           R"("required":["query"],"properties":{"query":{"type":"string"},)"
           R"("operationName":{"type":"string"},"variables":{"type":"object"},)"
           R"("_asOf":{"type":"string"}}}},)"
           R"("application/graphql":{"schema":{"type":"string"}},)"
           R"("application/fhir+json":{"schema":{"$ref":"#/components/schemas/Parameters"}},)"
           R"("application/fhir+xml":{"schema":{"type":"string"}}}},)"
           R"("import":{"description":"Parameters that name files, or the resources themselves",)"
           R"("content":{"application/fhir+ndjson":{"schema":{"type":"string"}},)"
           R"("application/fhir+json":{"schema":{"$ref":"#/components/schemas/Parameters"}},)"
           R"("application/fhir+xml":{"schema":{"type":"string"}}}},)"
           R"("form":{"content":{"application/x-www-form-urlencoded":{"schema":)"
           R"({"type":"object","additionalProperties":{"type":"string"}}}}})";
    for (const std::string_view type : resource_type_names()) {
        if (type == "Parameters") {
            continue;
        }
        out += fmt::format(R"(,"{}":{{"required":true,{}}})", type,
                           type == "Binary" ? fhir_or_any_content(type) : fhir_content(type));
    }
    return out;
}

struct Fault {
    std::string_view status;
    std::string_view description;
};

constexpr Fault kFaults[] = {
    {"400", "The request cannot be used"},
    {"401", "Credentials are missing, bad or expired"},
    {"403", "The credentials do not permit the request"},
    {"404", "It does not exist"},
    {"405", "The path does not support this method, or it is disabled"},
    {"406", "The response is not available in the requested format"},
    {"409", "A conflict with the current state of the store"},
    {"410", "It was deleted, or is no longer available"},
    {"412", "A precondition failed, or several resources match"},
    {"413", "The body is too large, or has too many entries"},
    {"415", "The body is of an unsupported media type"},
    {"416", "The range is outside the file"},
    {"422", "The resource violates a rule, or the operation cannot be performed"},
    {"429", "Too many requests"},
    {"500", "A server error, or a failed job"},
    {"default", "Any other error"},
};

std::string responses() {
    constexpr std::string_view kVersionHeaders =
        R"("headers":{"ETag":{"$ref":"#/components/headers/ETag"},)"
        R"("Last-Modified":{"$ref":"#/components/headers/Last-Modified"}},)";
    constexpr std::string_view kPlaceHeaders =
        R"("headers":{"ETag":{"$ref":"#/components/headers/ETag"},)"
        R"("Last-Modified":{"$ref":"#/components/headers/Last-Modified"},)"
        R"("Content-Location":{"$ref":"#/components/headers/Location"}},)";
    std::string out = fmt::format(
        R"("resource":{{"description":"The resource",{6}{1}}},)"
        R"("content":{{"description":"The resource; for a Binary also its content",{0}{5}}},)"
        R"("created":{{"description":"The created resource",{2}{1}}},)"
        R"("bundle":{{"description":"A Bundle",{3}}},)"
        R"("outcome":{{"description":"The outcome",{4}}},)"
        R"("parameters":{{"description":"Parameters, or the resource that is the result",{1}}},)"
        R"("statement":{{"description":"The CapabilityStatement, or with mode=terminology the TerminologyCapabilities",{0}{1}}},)",
        kVersionHeaders, fhir_content("Resource"),
        R"("headers":{"ETag":{"$ref":"#/components/headers/ETag"},)"
        R"("Last-Modified":{"$ref":"#/components/headers/Last-Modified"},)"
        R"("Location":{"$ref":"#/components/headers/Location"}},)",
        fhir_content("Bundle"), fhir_content("OperationOutcome"), fhir_or_any_content("Resource"),
        kPlaceHeaders);
    out += fmt::format(
        R"("accepted":{{"description":"Accepted; Content-Location is the URL of the status",)"
        R"("headers":{{"Content-Location":{{"schema":{{"type":"string"}}}},)"
        R"("X-Progress":{{"schema":{{"type":"string"}}}},"Retry-After":{{"schema":{{"type":"integer"}}}}}},{}}},)",
        fhir_content("OperationOutcome"));
    out += fhir_or_json("versions", "Parameters, or plain JSON", "Parameters");
    out += fhir_or_json("manifest", "The job's manifest, or the response to a Bundle", "Bundle");
    out +=
        R"("noContent":{"description":"Done","headers":{"ETag":{"$ref":"#/components/headers/ETag"},)"
        R"("Last-Modified":{"$ref":"#/components/headers/Last-Modified"}}},)"
        R"("304":{"description":"Not modified"},)"
        R"("file":{"description":"One resource per line",)"
        R"("content":{"application/fhir+ndjson":{"schema":{"type":"string"}}}},)"
        R"("changes":{"description":"Versions in commit order","content":{)"
        R"("application/fhir+ndjson":{"schema":{"type":"string"}},)"
        R"("text/event-stream":{"schema":{"type":"string"}}}},)"
        R"("graphql":{"description":"The result; what could not be returned is listed in errors",)"
        R"("content":{"application/json":{"schema":{"type":"object","properties":{)"
        R"("data":{"type":["object","null"]},"errors":{"type":"array","items":{"type":"object"}}}}}}},)"
        R"("openapi":{"description":"This document",)"
        R"("content":{"application/json":{"schema":{"type":"object"}}}})";
    for (const Fault& fault : kFaults) {
        out += fmt::format(R"(,"{}":{{"description":"{}",{}}})", fault.status, fault.description,
                           fhir_content("OperationOutcome"));
    }
    return out;
}

std::string schemas() {
    std::string out =
        R"("id":{"type":"string","pattern":"^[A-Za-z0-9.-]{1,64}$"},)"
        R"("Resource":{"type":"object","required":["resourceType"],"properties":{)"
        R"("resourceType":{"type":"string"},"id":{"$ref":"#/components/schemas/id"},)"
        R"("meta":{"type":"object"}}},)"
        R"("JsonPatch":{"type":"array","items":{"type":"object","required":["op","path"],)"
        R"("properties":{"op":{"enum":["add","remove","replace","move","copy","test"]},)"
        R"("path":{"type":"string"},"from":{"type":"string"},"value":{}}}},)"
        R"("type":{"enum":[)";
    for (const std::string_view type : resource_type_names()) {
        if (type != "Parameters") {
            out += fmt::format(R"({}"{}")", out.ends_with('[') ? "" : ",", type);
        }
    }
    out += "]}";
    for (const std::string_view type : resource_type_names()) {
        out += fmt::format(R"(,"{0}":{{"allOf":[{{"$ref":"#/components/schemas/Resource"}}],)"
                           R"("properties":{{"resourceType":{{"const":"{0}"}}}}}})",
                           type);
    }
    return out;
}

constexpr std::string_view kSchemes =
    R"("bearer":{"type":"http","scheme":"bearer","bearerFormat":"JWT",)"
    R"("description":"An access token with SMART scopes"},)"
    R"("apiKey":{"type":"apiKey","in":"header","name":"X-API-Key"},)"
    R"("certificate":{"type":"mutualTLS","description":"A client certificate"})";

}  // namespace

const std::string& SearchComponents::key(const search::Parameter& parameter) {
    const std::string_view kind = schema::search_type_name(parameter.type);
    const auto [found, is_new] =
        keys_.try_emplace(fmt::format("{}\n{}", kind, parameter.code), std::string());
    std::string& key = found->second;
    if (is_new) {
        for (const char c : parameter.code) {
            key += is_letter_or_digit(c) || c == '-' ? c : '_';
        }
        key += '.';
        key += kind;
        while (!taken_.insert(key).second) {
            key += '_';
        }
        json_ += fmt::format(
            R"(,"{}":{{"name":{},"in":"query","description":"{}; repeated: all must hold",)"
            R"("schema":{{"type":"array","items":{{"type":"string"}}}}}})",
            key, json::quoted(parameter.code), kind);
    }
    return key;
}

std::string openapi_components(const SearchComponents& parameters, const Config& config) {
    std::string out = fmt::format(
        R"({{"parameters":{{{}{}}},"requestBodies":{{{}}},"responses":{{{}}},"schemas":{{{}}},)"
        R"("headers":{{"ETag":{{"description":"The version, as W/\"3\"","schema":{{"type":"string"}}}},)"
        R"("Last-Modified":{{"schema":{{"type":"string"}}}},)"
        R"("Location":{{"description":"The URL of the version","schema":{{"type":"string"}}}}}})",
        parameters_json(), parameters.json(), request_bodies(), responses(), schemas());
    const bool secured = config.auth.mode != "none" || !config.tls.client_ca_file.empty();
    if (secured) {
        out += fmt::format(R"(,"securitySchemes":{{{}}})", kSchemes);
    }
    return out + "}";
}

std::string openapi_security(const Config& config, bool everybody) {
    const std::string certificate = config.tls.client_ca_file.empty() ? "" : R"("certificate":[])";
    std::string out;
    const auto add = [&](std::string_view scheme) {
        out += fmt::format(R"({}{{"{}":[]{}{}}})", out.empty() ? "" : ",", scheme,
                           certificate.empty() ? "" : ",", certificate);
    };
    if (!everybody && config.auth.takes_tokens()) {
        add("bearer");
    }
    if (!everybody && config.auth.takes_keys()) {
        add("apiKey");
    }
    if (out.empty() && !certificate.empty()) {
        out = fmt::format("{{{}}}", certificate);
    }
    return fmt::format("[{}]", out);
}

}  // namespace annals::core
