#include "core/interactions/bundle.h"

#include "codec/json/document.h"
#include "core/interactions/bundle_job.h"
#include "core/interactions/min_position.h"
#include "core/interactions/negotiation.h"
#include "core/interactions/submitted_resource.h"

#include <fmt/format.h>

#include <array>

namespace annals::core {

namespace {

/// Whether `body` may exceed the limit of a request by what it takes to wrap a resource of the maximum size.
bool wraps_one_resource(json::Value body) {
    const json::Value type = body["type"];
    const json::Value entry = body["entry"];
    return body["resourceType"].equals("Bundle") &&
           (type.equals("history") || type.equals("batch")) && entry.is_array() &&
           entry.size() == 1;
}

/// The type of the submitted Bundle, or why it is refused as a whole.
Result<BundleType> check_bundle(const Config& config, json::Value bundle) {
    if (!bundle.is_object()) {
        return Error{Errc::structure, "the body must be a Bundle"};
    }
    const json::Value resource_type = bundle["resourceType"];
    if (!resource_type) {
        return Error{Errc::required, "resourceType is missing", "Bundle.resourceType"};
    }
    if (!resource_type.equals("Bundle")) {
        return Error{Errc::invalid, "the body must be a Bundle; other resources go to /[type]",
                     "Bundle.resourceType"};
    }
    const json::Value entry = bundle["entry"];
    if (entry && !entry.is_array()) {
        return Error{Errc::structure, "entry must be an array", "Bundle.entry"};
    }
    const json::Value type = bundle["type"];
    if (!type) {
        return Error{Errc::required, "type is missing: batch, transaction or history",
                     "Bundle.type"};
    }
    if (!type.is_string()) {
        return Error{Errc::structure, "type must be a string", "Bundle.type"};
    }
    if (entry.size() > config.limits.max_bundle_entries) {
        return Error{Errc::too_costly,
                     fmt::format("the Bundle has {} entries, the limit is {}", entry.size(),
                                 config.limits.max_bundle_entries),
                     "Bundle.entry"};
    }
    if (type.equals("batch")) {
        return BundleType::batch;
    }
    if (type.equals("transaction")) {
        return BundleType::transaction;
    }
    if (type.equals("history")) {
        if (!config.allow_history_bundles || !config.interactions.system_history_bundle ||
            config.read_only) {
            return Error{Errc::method_not_allowed, "history bundles are disabled on this server",
                         "Bundle.type"};
        }
        return BundleType::history;
    }
    static constexpr std::array<std::string_view, 6> kOthers{
        "document", "message", "transaction-response", "batch-response", "searchset", "collection"};
    for (const std::string_view other : kOthers) {
        if (type.equals(other)) {
            return Error{Errc::invalid,
                         fmt::format("a Bundle of type {} cannot be submitted here", other),
                         "Bundle.type"};
        }
    }
    return Error{Errc::value, "unknown type; it must be batch, transaction or history",
                 "Bundle.type"};
}

/// Records the source's position that a replicating client sends once everything before it has been sent.
void note_source(const Service& service, const Request& request, const Response& response) {
    if (const auto text = request.header("X-Annals-Source-Position");
        text && response.status == 200) {
        if (const auto position = parse_position(*text)) {
            service.set_followed(*position);
        }
    }
}

}  // namespace

asio::awaitable<Response> submit_bundle(const Service& service, const Request& request,
                                        const Target& target) {
    if (Result<void> media = check_content_type(request); !media) {
        co_return media.error();
    }
    thread_local json::Parser parser(kJsonWrappedDepthMax);
    Result<json::Document> parsed = parse_submitted(service.config(), parser, request.body);
    if (request.oversized && !(parsed && wraps_one_resource(parsed->root()))) {
        co_return Error{Errc::body_too_large, "the request's body is larger than limits.max_body"};
    }
    if (!parsed) {
        co_return parsed.error();
    }
    json::Document bundle = *std::move(parsed);
    Result<BundleType> type = check_bundle(service.config(), bundle.root());
    if (!type) {
        Response refusal = type.error();
        if (type.error().code == Errc::method_not_allowed) {
            // Lists what the path allows: POST is still allowed for other Bundles.
            refusal.allow = allowed_methods(service.config(), target);
        }
        co_return refusal;
    }
    if (*type == BundleType::history) {
        if (Result<void> allowed = require_on_system(service, request, kMayWrite); !allowed) {
            co_return allowed.error();
        }
    }
    if (read_preference(request).respond_async) {
        co_return co_await begin_bundle_job(service, request, *type, bundle);
    }
    Response response =
        co_await answer_bundle(service, request, *type, bundle, service.request_end());
    // The next bundle reuses the memory, instead of fresh pages from the system.
    parser.recycle(std::move(bundle));
    if (*type == BundleType::history) {
        note_source(service, request, response);
    }
    co_return response;
}

}  // namespace annals::core
