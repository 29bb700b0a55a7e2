#include "net/probes.h"

#include "core/outcome.h"
#include "net/cors.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace annals::net {

namespace {

/// If a write to the log takes longer, the device is considered gone.
constexpr std::chrono::seconds kWriteWaitMax{30};

core::Response text_response(core::ContentType type, std::string text) {
    core::Response response;
    response.content_type = type;
    response.body = core::Body(std::move(text));
    response.cache_control = "no-store";
    return response;
}

core::Response not_ready(std::string_view code, std::string reason) {
    core::Response response;
    response.status = 503;
    response.body = core::Body(core::outcome_json({{"error", code, std::move(reason), ""}}));
    response.cache_control = "no-store";
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

core::Response readiness(const Shared& shared) {
    if (shared.stopping.load(std::memory_order_relaxed)) {
        return not_ready("transient", "not ready: the server is stopping");
    }
    switch (shared.service.store().write_state()) {
        case storage::WriteState::ready:
            if (shared.audit != nullptr && shared.audit->log().is_full()) {
                return not_ready("transient",
                                 "not ready: the audit log cannot be written at present, and no "
                                 "request is processed without it");
            }
            if (shared.service.store().write_wait() >= kWriteWaitMax) {
                return not_ready(
                    "transient",
                    "not ready: the device has not completed a write for 30 seconds or more");
            }
            return text_response(core::ContentType::text, "ready\n");
        case storage::WriteState::no_space:
            return not_ready("no-store",
                             "not ready: there is not enough space, or there are not enough file "
                             "descriptors; writes resume by themselves when there is enough");
        case storage::WriteState::failed:
            return not_ready("no-store",
                             "not ready: a write or sync failed; writes resume after a restart");
        case storage::WriteState::read_only:
            return not_ready("no-store", "not ready to write: the store is read-only");
    }
    return not_ready("no-store", "not ready");
}

core::Response metrics_page(const Shared& shared) {
    std::vector<const LoopMetrics*> loops;
    loops.reserve(shared.workers.size());
    for (const std::unique_ptr<Worker>& worker : shared.workers) {
        loops.push_back(&worker->metrics);
    }
    std::string page = prometheus_page(loops, shared.service);
    if (shared.audit != nullptr) {
        page += audit_metrics(*shared.audit);
    }
    if (shared.token_endpoint != nullptr) {
        page += token_metrics(*shared.token_endpoint);
    }
    if (shared.notifier != nullptr) {
        page += subscription_metrics(*shared.notifier->stats());
    }
    return text_response(core::ContentType::prometheus, std::move(page));
}

}  // namespace

core::Response answer_outside(const Shared& shared, const core::Request& request) {
    if (request.path == "*" && request.method == core::HttpMethod::options) {
        // RFC 9110 section 9.3.7: about the server as a whole, sent to find out whether it responds.
        core::Response response;
        response.allow = kAllMethods;
        return response;
    }
    const bool health = request.path == "/healthz";
    const bool ready = request.path == "/readyz";
    if (!health && !ready && request.path != "/metrics") {
        return Error{Errc::not_found, "there is nothing at this path; FHIR is served below /fhir"};
    }
    if (request.method != core::HttpMethod::get && request.method != core::HttpMethod::head) {
        core::Response response =
            Error{Errc::method_not_allowed, "this page accepts GET and HEAD only"};
        response.allow = "GET, HEAD";
        return response;
    }
    if (health) {
        return text_response(core::ContentType::text, "alive\n");
    }
    return ready ? readiness(shared) : metrics_page(shared);
}

}  // namespace annals::net
