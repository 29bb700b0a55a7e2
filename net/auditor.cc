#include "net/auditor.h"

#include <string>
#include <utility>

namespace annals::net {

namespace {

/// How much memory a thread keeps for its next line.
constexpr std::size_t kKeptLineBytesMax = 64 << 10;

/// Reading the audit events must not add to them (but it adds lines), nor must following the store,
/// which would then never end.
bool is_about_audit(std::string_view path) {
    constexpr std::string_view kPath = "/AuditEvent";
    if (path.starts_with(kPath) && (path.size() == kPath.size() || path[kPath.size()] == '/')) {
        return true;
    }
    if (path.ends_with('/')) {
        path.remove_suffix(1);
    }
    return path == "/_changes" || path == "/_history";
}

}  // namespace

Result<std::shared_ptr<Auditor>> Auditor::open(const core::Service& service,
                                               storage::FileSystem& files) {
    const core::Config::Audit& config = service.config().audit;
    ANNALS_TRY(std::unique_ptr<AuditLog> log, AuditLog::open(config, files));
    auto auditor = std::make_shared<Auditor>(std::move(log));
    if (config.resources) {
        auditor->events_ = std::make_unique<AuditEvents>(service);
    }
    return auditor;
}

void Auditor::record(const core::Request& request, const core::Response& response,
                     std::string_view job) {
    write(request, response, {.address = "", .job = job});
}

void Auditor::record_access(const core::Request& request, const core::Response& response,
                            std::string_view address) {
    write(request, response, {.address = address, .job = ""});
}

void Auditor::write(const core::Request& request, const core::Response& response,
                    const AccessOrigin& origin) {
    thread_local std::string line;
    audit_line(line, request, response, origin, now());
    if (events_ != nullptr && !is_about_audit(request.path)) {
        events_->add(line);
    }
    log_->add(line);
    if (line.capacity() > kKeptLineBytesMax) {
        std::string().swap(line);
    }
}

}  // namespace annals::net
