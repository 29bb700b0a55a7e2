#include "tests/simulate/service_bodies.h"

#include "core/base/base64.h"

#include <fmt/format.h>

#include <charconv>

namespace annals::test {

namespace {

constexpr std::string_view kSystem = "http://s";

std::uint64_t number_of(std::string_view digits) {
    std::uint64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

std::string tags_of(const std::vector<std::string>& tags) {
    std::string list;
    for (const std::string& tag : tags) {
        list += fmt::format(R"({}{{"system":"{}","code":"{}"}})", list.empty() ? "" : ",", kSystem,
                            tag);
    }
    return list.empty() ? list : R"("tag":[)" + list + ']';
}

/// A JSON Patch that sets the text.
std::string json_patch(const Write& write) {
    std::string operations = write.fails_test ? R"({"op":"test","path":"/id","value":"?"},)" : "";
    operations += write.type == "Patient"
                      ? fmt::format(R"({{"op":"add","path":"/name","value":[{{"family":"{}"}}]}})",
                                    write.content.text)
                      : fmt::format(R"({{"op":"add","path":"/valueString","value":"{}"}})",
                                    write.content.text);
    return '[' + operations + ']';
}

std::string fhirpath_patch(const Write& write) {
    return fmt::format(R"({{"resourceType":"Parameters","parameter":[{{"name":"operation","part":[)"
                       R"({{"name":"type","valueCode":"delete"}},)"
                       R"({{"name":"path","valueString":"{}"}}]}}]}})",
                       write.type == "Patient" ? "Patient.name" : "Observation.value");
}

std::string resource_of(const Write& write, std::size_t filler) {
    return body_of(write.type, write.kind == Write::Kind::create ? "" : write.id, write.content, {},
                   filler);
}

std::string body_of(const Write& write, std::size_t filler) {
    switch (write.kind) {
        case Write::Kind::create:
        case Write::Kind::update:
            return resource_of(write, filler);
        case Write::Kind::patch:
            return write.with_fhirpath ? fhirpath_patch(write) : json_patch(write);
        case Write::Kind::remove:
            break;
        case Write::Kind::add_tag:
        case Write::Kind::remove_tag:
            return fmt::format(R"({{"resourceType":"Parameters","parameter":[)"
                               R"({{"name":"meta","valueMeta":{{{}}}}}]}})",
                               tags_of(write.content.tags));
    }
    return {};
}

std::string url_of(const Write& write) {
    switch (write.kind) {
        case Write::Kind::create:
            return write.type;
        case Write::Kind::add_tag:
            return write.name() + "/$meta-add";
        case Write::Kind::remove_tag:
            return write.name() + "/$meta-delete";
        default:
            return write.criteria ? write.type + '?' + write.criteria->query : write.name();
    }
}

std::string method_of(const Write& write) {
    switch (write.kind) {
        case Write::Kind::update:
            return "PUT";
        case Write::Kind::patch:
            return "PATCH";
        case Write::Kind::remove:
            return "DELETE";
        default:
            return "POST";
    }
}

std::string tag_of(const std::string& version) {
    return version == "*" ? version : "W/\"" + version + '"';
}

}  // namespace

std::string body_of(std::string_view type, std::string_view id, const Content& content,
                    std::string_view meta, std::size_t filler) {
    std::string text = fmt::format(R"({{"resourceType":"{}")", type);
    if (!id.empty()) {
        text += fmt::format(R"(,"id":"{}")", id);
    }
    const std::string tags = tags_of(content.tags);
    if (!tags.empty() || !meta.empty()) {
        text += fmt::format(R"(,"meta":{{{}{}{}}})", meta, tags.empty() || meta.empty() ? "" : ",",
                            tags);
    }
    const auto append = [&text](std::string_view format, const std::string& value) {
        if (!value.empty()) {
            text += fmt::format(fmt::runtime(format), value);
        }
    };
    if (type == "Patient") {
        append(R"(,"identifier":[{{"system":"http://s","value":"{}"}}])", content.code);
        append(R"(,"name":[{{"family":"{}"}}])", content.text);
        append(R"(,"birthDate":"{}")", content.date);
        append(R"(,"managingOrganization":{{"reference":"{}"}})", content.target);
    } else {
        text += R"(,"status":"final")";
        append(R"(,"code":{{"coding":[{{"system":"http://s","code":"{}"}}]}})", content.code);
        append(R"(,"subject":{{"reference":"{}"}})", content.target);
        append(R"(,"focus":[{{"reference":"{}"}}])", content.focus);
        append(
            R"(,"contained":[{{"resourceType":"Patient","id":"c","name":[{{"family":"{}"}}]}}],"performer":[{{"reference":"#c"}}])",
            content.contained);
        append(R"(,"effectiveDateTime":"{}")", content.date);
        append(R"(,"valueString":"{}")", content.text);
    }
    if (filler > 0) {
        text += fmt::format(
            R"(,"text":{{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">{}</div>"}})",
            std::string(filler, 'x'));
    }
    return text + '}';
}

namespace {

json::Value first(json::Value list) {
    for (const json::Value element : list.elements()) {
        return element;
    }
    return {};
}

}  // namespace

std::vector<std::string> tags_in(json::Value meta) {
    std::vector<std::string> tags;
    for (const json::Value tag : meta["tag"].elements()) {
        tags.push_back(tag["code"].string());
    }
    return tags;
}

Content content_of(json::Value resource) {
    Content content;
    if (resource["resourceType"].equals("Patient")) {
        content.text = first(resource["name"])["family"].string();
        content.code = first(resource["identifier"])["value"].string();
        content.date = resource["birthDate"].string();
        content.target = resource["managingOrganization"]["reference"].string();
    } else {
        content.text = resource["valueString"].string();
        content.code = first(resource["code"]["coding"])["code"].string();
        content.date = resource["effectiveDateTime"].string();
        content.target = resource["subject"]["reference"].string();
        content.focus = first(resource["focus"])["reference"].string();
        content.contained = first(first(resource["contained"])["name"])["family"].string();
    }
    content.tags = tags_in(resource["meta"]);
    return content;
}

WriteRequest request_of(const Write& write, std::size_t filler) {
    WriteRequest request{method_of(write), '/' + url_of(write), {}, body_of(write, filler)};
    if (write.kind == Write::Kind::patch) {
        request.headers.emplace_back("Content-Type", write.with_fhirpath
                                                         ? "application/fhir+json"
                                                         : "application/json-patch+json");
    }
    if (write.kind == Write::Kind::create && write.criteria) {
        request.headers.emplace_back("If-None-Exist", write.criteria->query);
    }
    if (!write.if_match.empty()) {
        request.headers.emplace_back("If-Match", tag_of(write.if_match));
    }
    if (write.if_none_match) {
        request.headers.emplace_back("If-None-Match", "*");
    }
    return request;
}

std::string entry_of(const Write& write, std::size_t filler) {
    std::string entry = "{";
    if (!write.urn.empty()) {
        entry += fmt::format(R"("fullUrl":"{}",)", write.urn);
    }
    if (write.kind == Write::Kind::patch && !write.with_fhirpath) {
        std::string data;
        append_base64(json_patch(write), data);
        entry += fmt::format(R"("resource":{{"resourceType":"Binary","contentType":)"
                             R"("application/json-patch+json","data":"{}"}},)",
                             data);
    } else if (write.kind != Write::Kind::remove) {
        entry += R"("resource":)" + body_of(write, filler) + ',';
    }
    entry +=
        fmt::format(R"("request":{{"method":"{}","url":"{}")", method_of(write), url_of(write));
    if (write.kind == Write::Kind::create && write.criteria) {
        entry += fmt::format(R"(,"ifNoneExist":"{}")", write.criteria->query);
    }
    if (!write.if_match.empty()) {
        entry += fmt::format(R"(,"ifMatch":{})", json::quoted(tag_of(write.if_match)));
    }
    if (write.if_none_match) {
        entry += R"(,"ifNoneMatch":"*")";
    }
    return entry + "}}";
}

std::string entry_of(const HistoryItem& item, std::size_t filler) {
    const std::string type = item.name.substr(0, item.name.find('/'));
    const std::string id = item.name.substr(type.size() + 1);
    if (item.deletion) {
        std::string response = R"("status":"410 Gone")";
        if (item.version) {
            response += fmt::format(R"(,"etag":"W/\"{}\"")", *item.version);
        }
        if (item.instant) {
            response += fmt::format(R"(,"lastModified":"{}")", format_instant(*item.instant));
        }
        return fmt::format(R"({{"request":{{"method":"DELETE","url":"{}"}},"response":{{{}}}}})",
                           item.name, response);
    }
    std::string meta;
    if (item.version) {
        meta = fmt::format(R"("versionId":"{}")", *item.version);
    }
    if (item.instant) {
        meta += fmt::format(R"({}"lastUpdated":"{}")", meta.empty() ? "" : ",",
                            format_instant(*item.instant));
    }
    return fmt::format(R"({{"resource":{},"request":{{"method":"PUT","url":"{}"}}}})",
                       body_of(type, id, item.content, meta, filler), item.name);
}

std::string bundle_of(std::string_view type, const std::vector<std::string>& entries) {
    return fmt::format(R"({{"resourceType":"Bundle","type":"{}"{}{}{}}})", type,
                       entries.empty() ? "" : R"(,"entry":[)", fmt::join(entries, ","),
                       entries.empty() ? "" : "]");
}

ReceivedEntry read_entry(json::Value entry, std::string_view base_url) {
    ReceivedEntry read;
    const json::Value response = entry["response"];
    read.location = response["location"].string();
    std::string url = entry["fullUrl"].string();
    if (!read.location.empty()) {
        url = read.location;
    }
    if (url.starts_with(base_url)) {
        url = url.substr(base_url.size() + 1);
    }
    read.name = url.substr(0, url.find("/_history"));
    read.method = entry["request"]["method"].string();
    read.status = response["status"].string().substr(0, 3);
    read.mode = entry["search"]["mode"].string();
    read.last_modified = response["lastModified"].string();
    const std::string etag = response["etag"].string();  // W/"3"
    if (etag.size() > 4) {
        read.version = etag.substr(3, etag.size() - 4);
    } else {
        read.version = entry["resource"]["meta"]["versionId"].string();
    }
    read.body = entry["resource"].raw();
    for (const json::Value issue : response["outcome"]["issue"].elements()) {
        read.codes.push_back(issue["code"].string());
    }
    read.position = number_of(entry["position"].raw());
    read.commit = number_of(entry["commit"].raw());
    return read;
}

std::optional<ReceivedBundle> read_bundle(std::string_view text, std::string_view base_url) {
    json::Parser parser(kJsonWrappedDepthMax);
    const Result<json::Document> document = parser.parse(text);
    if (!document || !document->root()["resourceType"].equals("Bundle")) {
        return std::nullopt;
    }
    const json::Value root = document->root();
    ReceivedBundle bundle;
    bundle.type = root["type"].string();
    if (root["total"]) {
        bundle.total = number_of(root["total"].raw());
    }
    for (const json::Value link : root["link"].elements()) {
        const std::string url = link["url"].string();
        bundle.links[link["relation"].string()] =
            url.starts_with(base_url) ? url.substr(base_url.size()) : url;
    }
    for (const json::Value entry : root["entry"].elements()) {
        bundle.entries.push_back(read_entry(entry, base_url));
    }
    return bundle;
}

}  // namespace annals::test
