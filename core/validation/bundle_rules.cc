#include "core/base/parts.h"
#include "core/validation/context.h"
#include "core/validation/references.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace annals::validation {

namespace {

/// Entries to be written may lack a fullUrl, as may results of operations without an id.
void check_has_full_url(Context& context, std::string_view bundle, json::Value entry) {
    const json::Value resource = entry["resource"];
    const bool refers = bundle == "document" || bundle == "message";
    const bool is_identified =
        resource["id"] && !resource["resourceType"].equals("OperationOutcome");
    const bool is_written = bundle.starts_with("batch") || bundle.starts_with("transaction") ||
                            entry["request"]["method"].equals("POST");
    if (resource.is_object() && !entry["_fullUrl"] && !is_written && (refers || is_identified)) {
        context.error("invalid", entry, "The entry has no fullUrl");
    }
}

void check_full_url(Context& context, const Frame& frame, json::Value entry) {
    const json::Value full_url = entry["fullUrl"];
    const json::Value resource = entry["resource"];
    if (!full_url.is_string()) {
        check_has_full_url(context, frame.resource.value()["type"].string(), entry);
        return;
    }
    const std::string text = full_url.string();
    if (!is_absolute(text)) {
        context.error("invalid", full_url, fmt::format("A fullUrl must be absolute, not {}", text));
        return;
    }
    const Literal literal = parse_literal(text);
    const bool is_http = text.starts_with("http://") || text.starts_with("https://");
    if (!is_http || !literal.type || !resource.is_object()) {
        return;
    }
    const std::string id = resource["id"].string();
    if (id.empty()) {
        const std::string method = entry["request"]["method"].string();
        const bool is_history = frame.resource.value()["type"].equals("history");
        if (method != "POST" && method != "PUT" && !is_history) {
            context.error("invalid", full_url,
                          fmt::format("The fullUrl {} is that of a resource on a server, but the "
                                      "resource has no id",
                                      text));
        }
        return;
    }
    if (id != literal.id || !resource["resourceType"].equals(literal.type_name)) {
        context.error(
            "invalid", full_url,
            fmt::format("The fullUrl {} does not end in the resource's type and id: {}/{}", text,
                        resource["resourceType"].string(), id));
    }
}

/// Each reference in the element must have exactly one match in the bundle.
void check_in_bundle(Context& context, const Frame& frame, const Spot& spot) {
    const json::Value reference = spot.value()["reference"];
    const std::string text = reference.string();
    if (text.empty() || text.starts_with('#')) {
        return;
    }
    const std::optional<std::size_t> count = count_in_bundle(context, frame, text);
    if (count == std::size_t{0}) {
        context.error("invalid", spot, fmt::format("{} is not in the bundle", text));
    } else if (count && *count > 1) {
        context.error("invalid", spot,
                      fmt::format("{} resources in the bundle are {}", *count, text));
    }
}

/// The same for all references at `path`: "event.detail".
void check_references_in_bundle(Context& context, const Frame& frame, const Spot& spot,
                                std::string_view path) {
    if (path.empty()) {
        check_in_bundle(context, frame, spot);
        return;
    }
    std::vector<Spot> found;
    collect(spot, take_until(path, '.'), found);
    for (const Spot& inner : found) {
        check_references_in_bundle(context, frame, inner, path);
    }
}

void check_sections(Context& context, const Frame& frame, const Spot& spot, std::size_t depth) {
    std::vector<Spot> sections;
    collect(spot, "section", sections);
    for (const Spot& section : sections) {
        for (const std::string_view path : {"entry", "author", "focus"}) {
            check_references_in_bundle(context, frame, section, path);
        }
        if (depth < kJsonDepthMax) {
            check_sections(context, frame, section, depth + 1);
        }
    }
}

/// What a document's Composition or a message's header refers to must be in the bundle (documents.html, messaging.html).
void check_first_entry(Context& context, const Frame& bundle, std::string_view type) {
    const json::Value entries = bundle.resource.value()["entry"];
    if (entries.size() == 0) {
        return;
    }
    Frame frame;
    frame.entry = *entries.elements().begin();
    frame.resource = resource_spot(frame.entry["resource"]);
    frame.container = frame.resource;
    frame.outer = &bundle;
    if (type == "document" && frame.resource.type.name() == "Composition") {
        for (const std::string_view path :
             {"subject", "encounter", "author", "custodian", "attester.party", "event.detail"}) {
            check_references_in_bundle(context, frame, frame.resource, path);
        }
        check_sections(context, frame, frame.resource, 0);
    } else if (type == "message" && frame.resource.type.name() == "MessageHeader") {
        check_references_in_bundle(context, frame, frame.resource, "focus");
    }
}

void check_search_entry(Context& context, json::Value entry) {
    const json::Value resource = entry["resource"];
    const json::Value mode = entry["search"]["mode"];
    const bool is_outcome = resource["resourceType"].equals("OperationOutcome");
    if (!resource.is_object() || !mode) {
        return;
    }
    if (mode.equals("outcome") && !is_outcome) {
        context.error("invalid", resource,
                      "An entry with the mode outcome must be an OperationOutcome");
    } else if (!mode.equals("outcome") && !resource["id"]) {
        context.error("invalid", resource, "A resource found by a search must have an id");
    }
}

}  // namespace

void check_bundle(Context& context, const Frame& frame) {
    const json::Value bundle = frame.resource.value();
    const std::string type = bundle["type"].string();
    for (const json::Value entry : bundle["entry"].elements()) {
        if (!context.spend()) {
            return;
        }
        check_full_url(context, frame, entry);
        if (type == "searchset") {
            check_search_entry(context, entry);
        }
    }
    std::set<std::string> relations;
    for (const json::Value link : bundle["link"].elements()) {
        const std::string relation = link["relation"].string();
        static constexpr std::string_view kOnce[] = {"self", "first", "last",
                                                     "next", "prev",  "previous"};
        if (std::find(std::begin(kOnce), std::end(kOnce), relation) != std::end(kOnce) &&
            !relations.insert(relation).second) {
            context.error("invalid", link, fmt::format("There is more than one link {}", relation));
        }
    }
    if (type == "document" || type == "message") {
        check_first_entry(context, frame, type);
    }
}

}  // namespace annals::validation
