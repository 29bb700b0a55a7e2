#include "core/interactions/bundle_entry.h"

#include "codec/xml/reader.h"
#include "core/base/base64.h"
#include "core/base/check.h"
#include "core/base/ids.h"
#include "core/base/resource_types.h"
#include "core/interactions/negotiation.h"
#include "core/outcome.h"
#include "core/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace annals::core {

namespace {

constexpr std::string_view kOutcomeStart = R"({"resourceType":"OperationOutcome")";

HttpMethod method_named(json::Value name) {
    static constexpr std::array kMethods{HttpMethod::get, HttpMethod::head,  HttpMethod::post,
                                         HttpMethod::put, HttpMethod::patch, HttpMethod::delete_};
    for (const HttpMethod method : kMethods) {
        if (name.equals(method_name(method))) {
            return method;
        }
    }
    return HttpMethod::other;
}

/// The members of entry.request.
struct RequestMembers {
    json::Value method;
    json::Value url;
    json::Value if_match;
    json::Value if_none_match;
    json::Value if_none_exist;
    json::Value if_modified_since;
};

RequestMembers members_of(json::Value request) {
    RequestMembers members;
    for (const auto [key, value] : request.members()) {
        json::Value* const member = key.equals("method")            ? &members.method
                                    : key.equals("url")             ? &members.url
                                    : key.equals("ifMatch")         ? &members.if_match
                                    : key.equals("ifNoneMatch")     ? &members.if_none_match
                                    : key.equals("ifNoneExist")     ? &members.if_none_exist
                                    : key.equals("ifModifiedSince") ? &members.if_modified_since
                                                                    : nullptr;
        if (member != nullptr) {
            *member = value;
        }
    }
    return members;
}

/// Reads an optional string member of entry.request.
Result<std::optional<std::string>> optional_text(json::Value value, std::string_view name) {
    if (!value) {
        return std::optional<std::string>{};
    }
    if (!value.is_string()) {
        return Error{Errc::structure, "request." + std::string(name) + " must be a string"};
    }
    return std::optional<std::string>(value.string());
}

/// Splits `url` into path and query below the server's base.
Result<void> read_url(std::string url, std::string_view base_url, EntryRequest& asked) {
    std::string_view rest = url;
    if (!base_url.empty() && rest.starts_with(base_url) &&
        (rest.size() == base_url.size() || rest[base_url.size()] == '/' ||
         rest[base_url.size()] == '?')) {
        rest.remove_prefix(base_url.size());
    } else if (rest.find("://") < rest.find('?')) {
        return Error{Errc::invalid, "request.url is not below this server's base URL"};
    }
    const std::size_t mark = rest.find('?');
    const std::string_view path = rest.substr(0, mark);
    asked.path = path.starts_with('/') || path.empty() ? "" : "/";
    std::string unescaped;
    unescape_path(path, unescaped);
    asked.path += unescaped.empty() ? path : unescaped;
    if (mark != std::string_view::npos) {
        asked.query = rest.substr(mark + 1);
    }
    return {};
}

/// Reads the patch of a PATCH entry.
Result<void> read_patch(json::Value resource, EntryRequest& asked) {
    if (!resource) {
        return Error{Errc::required, "resource is missing: a Binary with the patch, or Parameters"};
    }
    if (!resource["resourceType"].equals("Binary")) {
        asked.patch = resource.raw();
        asked.patch_type = "application/fhir+json";
        return {};
    }
    asked.patch_type = resource["contentType"].string();
    std::optional<std::string> data = decode_base64(resource["data"].string());
    if (asked.patch_type.empty() || !data || data->empty()) {
        return Error{Errc::value,
                     "the Binary with the patch needs a contentType, and data in base64"};
    }
    asked.patch = *std::move(data);
    Request alone;
    alone.headers.push_back({"Content-Type", asked.patch_type});
    if (const auto format = read_content_type(alone); format && *format == BodyFormat::xml) {
        ANNALS_TRY(asked.patch, xml::json_from_xml(asked.patch));
        asked.patch_type = "application/fhir+json";
    }
    return {};
}

/// The URL that a request without one implies; empty if unknown. HAPI's client omits the URL of a create or update if the
/// resource implies it; no URL is made of anything but a type and an id, such as Patient/$match.
std::string implied_url(json::Value resource, json::Value method) {
    const std::string type = resource["resourceType"].string();
    if (!find_resource_type(type)) {
        return {};
    }
    if (method.equals("POST")) {
        return type;
    }
    const std::string id = resource["id"].string();
    return method.equals("PUT") && is_resource_id(id) ? type + '/' + id : std::string();
}

}  // namespace

Result<EntryRequest> read_entry_request(json::Value entry, std::string_view base_url) {
    if (!entry.is_object()) {
        return Error{Errc::structure, "the entry must be an object"};
    }
    const json::Value request = entry["request"];
    if (!request) {
        return Error{Errc::required, "request is missing"};
    }
    if (!request.is_object()) {
        return Error{Errc::structure, "request must be an object"};
    }
    const RequestMembers members = members_of(request);
    const json::Value method = members.method;
    const json::Value said = members.url;
    std::string url = said ? said.string() : implied_url(entry["resource"], method);
    if (!method || (!said && url.empty())) {
        return Error{Errc::required,
                     !method ? "request.method is missing" : "request.url is missing"};
    }
    if (!method.is_string() || (said && !said.is_string())) {
        return Error{Errc::structure, "request.method and request.url must be strings"};
    }

    EntryRequest asked;
    asked.method = method_named(method);
    if (asked.method == HttpMethod::other) {
        return Error{Errc::value, "request.method must be GET, HEAD, POST, PUT, PATCH or DELETE"};
    }
    ANNALS_TRY_VOID(read_url(std::move(url), base_url, asked));
    ANNALS_TRY(asked.if_match, optional_text(members.if_match, "ifMatch"));
    ANNALS_TRY(asked.if_none_match, optional_text(members.if_none_match, "ifNoneMatch"));
    ANNALS_TRY(asked.if_none_exist, optional_text(members.if_none_exist, "ifNoneExist"));
    ANNALS_TRY(const auto since, optional_text(members.if_modified_since, "ifModifiedSince"));
    if (since) {
        const auto instant = parse_instant(*since);
        if (!instant) {
            return Error{Errc::value, "request.ifModifiedSince is not an instant"};
        }
        asked.if_modified_since = *instant;
    }
    if (asked.method == HttpMethod::patch) {
        ANNALS_TRY_VOID(read_patch(entry["resource"], asked));
    }
    return asked;
}

Result<void> check_readable(const Request& outer, std::size_t index) {
    if (outer.unreadable == nullptr) {
        return {};
    }
    const auto at =
        std::ranges::lower_bound(*outer.unreadable, index, {}, &xml::UnreadableEntry::index);
    return at == outer.unreadable->end() || at->index != index ? Result<void>() : at->error;
}

Request request_of_entry(const EntryRequest& asked, const Request& outer, std::string_view body) {
    Request request;
    request.method = asked.method;
    request.path = asked.path;
    request.query = asked.query;
    const bool patches = asked.method == HttpMethod::patch;
    request.body = patches ? std::string_view(asked.patch) : body;
    request.base_url = outer.base_url;
    request.request_id = outer.request_id;
    request.client_request_id = outer.client_request_id;
    request.loop = outer.loop;
    request.principal = outer.principal;
    request.inside_bundle = true;
    if (patches) {
        request.headers.push_back({"Content-Type", asked.patch_type});
    } else if (!body.empty()) {
        request.headers.push_back({"Content-Type", "application/fhir+json"});
    }
    if (const auto prefer = outer.header("Prefer")) {
        request.headers.push_back({"Prefer", *prefer});
    }
    const auto add = [&](std::string_view name, const std::optional<std::string>& value) {
        if (value) {
            request.headers.push_back({name, *value});
        }
    };
    add("If-Match", asked.if_match);
    add("If-None-Match", asked.if_none_match);
    add("If-None-Exist", asked.if_none_exist);
    request.modified_since = asked.if_modified_since;
    return request;
}

namespace {

void append_instant(std::string& out, Instant instant) {
    if (instant.us % 1000 != 0) {
        out += format_instant(instant);
        return;
    }
    std::array<char, kInstantChars> text;
    write_instant(instant, text.data());
    out.append(text.data(), text.size());
}

}  // namespace

void fetch_ahead(json::Value entry) noexcept {
    const auto fetch = [](const void* at, std::size_t size) {
        constexpr std::size_t kLine = 64;
        constexpr std::size_t kSizeMax = 8192;  // what follows is fetched as it is read
        for (std::size_t i = 0; i < std::min(size, +kSizeMax); i += kLine) {
            __builtin_prefetch(static_cast<const char*>(at) + i);
        }
    };
    const json::Node& node = entry.node();
    fetch(entry.tree().text().data() + node.begin, node.end - node.begin);
    fetch(&node, (node.next - entry.index()) * sizeof node);
}

void append_entry_response(std::string& out, int status, std::string_view location,
                           std::optional<VersionNumber> etag,
                           std::optional<Instant> last_modified) {
    out += R"("status":")";
    out += status_text(status);
    out += '"';
    if (!location.empty()) {
        out += R"(,"location":)";
        json::append_quoted(out, location);
    }
    if (etag) {
        out += R"(,"etag":"W/\")";
        out += std::to_string(etag->value);
        out += R"(\"")";
    }
    if (last_modified) {
        out += R"(,"lastModified":")";
        append_instant(out, *last_modified);
        out += '"';
    }
}

void append_version_response(std::string& out, bool created, std::string_view escaped_base,
                             TypeId type, std::string_view id, VersionNumber version,
                             Instant instant) {
    ANNALS_CHECK(is_resource_id(id));
    // Assembled in a buffer without checking the capacity for each part; the longest type has 33 characters.
    std::array<char, 256> parts;
    char* end = parts.data();
    const auto put = [&end](std::string_view text)
                         __attribute__((always_inline)) { end += text.copy(end, text.size()); };
    const fmt::format_int digits(version.value);
    const std::string_view number(digits.data(), digits.size());
    out += created ? std::string_view(R"("status":"201 Created","location":")")
                   : std::string_view(R"("status":"200 OK","location":")");
    out += escaped_base;
    put("/");
    put(resource_type_name(type));
    put("/");
    put(id);
    put("/_history/");
    put(number);
    put(R"(","etag":"W/\")");
    put(number);
    put(R"(\"","lastModified":")");
    out.append(parts.data(), end);
    append_instant(out, instant);
    out += '"';
}

namespace {

constexpr std::string_view kBelow = "/fhir/";
constexpr std::size_t kTracedBytesMax = 200;

/// The resource that an entry's request names, without a query.
std::string asked_reference(json::Value entry) {
    const RequestMembers members = members_of(entry["request"]);
    std::string url =
        members.url ? members.url.string() : implied_url(entry["resource"], members.method);
    url.resize(std::min(url.find('?'), url.size()));
    if (const std::size_t below = url.find(kBelow); below != std::string::npos) {
        url.erase(0, below + kBelow.size());
    }
    return url;
}

/// The resource that an entry was about: by its answer, otherwise by its request.
std::string traced_reference(json::Value entry, std::string_view location,
                             const Response& response) {
    if (const std::size_t below = location.find(kBelow); below != std::string_view::npos) {
        return std::string(location.substr(below + kBelow.size()));
    }
    std::string url = asked_reference(entry);
    if (response.etag && std::count(url.begin(), url.end(), '/') == 1) {
        url += "/_history/" + std::to_string(response.etag->value);
    }
    url.resize(std::min(url.size(), kTracedBytesMax));
    return url;
}

}  // namespace

EntryTrace trace_asked(json::Value entry, int status) {
    EntryTrace trace{method_named(entry["request"]["method"]), status, asked_reference(entry)};
    trace.reference.resize(std::min(trace.reference.size(), kTracedBytesMax));
    return trace;
}

ResponseBundle::ResponseBundle(std::string_view type, std::string_view base_url, bool traced)
    : origin_(base_url.substr(0, base_url.find('/', base_url.find("://") + 3))), traced_(traced) {
    text_ = R"({"resourceType":"Bundle","type":")";
    text_ += type;
    text_ += R"(","entry":[)";
}

void ResponseBundle::reserve(std::size_t bytes) {
    text_.reserve(text_.size() + bytes);
}

void ResponseBundle::add(json::Value entry, HttpMethod method, Response response,
                         bool outcome_preferred) {
    ANNALS_CHECK(response.more == nullptr);
    std::string& text = text_;
    text += first_ ? "{" : ",{";
    first_ = false;
    const json::Value full_url = entry["fullUrl"];
    if (full_url.is_string() && method != HttpMethod::get && method != HttpMethod::head) {
        text += R"("fullUrl":)";
        text += full_url.raw();
        text += ',';
    }
    const bool has_body = !response.body.empty() &&
                          response.content_type == ContentType::fhir_json &&
                          (method != HttpMethod::head || response.status >= 400);
    const bool is_outcome =
        has_body && (response.status >= 400 ||
                     (outcome_preferred && response.body.piece(0).starts_with(kOutcomeStart)));
    if (has_body && !is_outcome) {
        text += R"("resource":)";
        append(std::move(response.body));
        text += ',';
    }

    std::string location = std::move(response.location);
    if (location.empty() && !response.content_location.empty()) {
        location = response.content_location.starts_with('/') ? origin_ + response.content_location
                                                              : response.content_location;
    }
    if (traced_) {
        trace(method, response.status, traced_reference(entry, location, response));
        std::ranges::move(response.entries, std::back_inserter(traces_));
    }
    text += R"("response":{)";
    append_entry_response(text, response.status, location, response.etag, response.last_modified);
    if (is_outcome) {
        text += R"(,"outcome":)";
        append(std::move(response.body));
    }
    text += "}}";
}

void ResponseBundle::append(Body body) {
    if (copies_) {
        for (std::size_t i = 0; i < body.piece_count(); ++i) {
            text_ += body.piece(i);
        }
        return;
    }
    body_.append(text_);
    text_.clear();
    body_.append(std::move(body));
}

void ResponseBundle::add_text(std::string_view entry_json) {
    if (!first_) {
        text_ += ',';
    }
    first_ = false;
    text_ += entry_json;
}

void ResponseBundle::add_text(std::string_view begin, std::shared_ptr<const std::string> outcome,
                              std::string_view end) {
    add_text(begin);
    body_.append(text_);
    const std::string_view view = *outcome;
    body_.append_view(view, std::move(outcome));
    text_ = end;
}

void ResponseBundle::trace(HttpMethod method, int status, std::string reference) {
    if (traced_) {
        traces_.push_back({method, status, std::move(reference)});
    }
}

Response ResponseBundle::finish() {
    text_ += "]}";
    if (body_.empty()) {
        body_ = Body(std::move(text_));
    } else {
        body_.append(text_);
    }
    Response response;
    response.entries = std::move(traces_);
    response.body = std::move(body_);
    return response;
}

}  // namespace annals::core
