// Auditor: records every access by requests and jobs, as a line and, if configured, as a resource.
//
// Layer:   net.
// Spec:    docs/security.md, "Audit".
// Threads: any.

#pragma once

#include "core/jobs/access_log.h"
#include "core/service.h"
#include "net/audit.h"
#include "net/audit_events.h"

#include <memory>
#include <string_view>

namespace annals::net {

class Auditor : public core::AccessLog {
  public:
    /// Lifetime: `service` and `files` outlive it. Errors: usage, as AuditLog::open().
    static Result<std::shared_ptr<Auditor>> open(const core::Service& service,
                                                 storage::FileSystem& files);

    explicit Auditor(std::unique_ptr<AuditLog> log) : log_(std::move(log)) {}

    bool reserve() noexcept override { return log_->reserve(); }

    void release() noexcept override { log_->release(); }

    /// Records what a job did.
    void record(const core::Request& request, const core::Response& response,
                std::string_view job) override;

    /// Records a request from `address`.
    void record_access(const core::Request& request, const core::Response& response,
                       std::string_view address);

    const AuditLog& log() const noexcept { return *log_; }

    /// Null if no resources are written.
    const AuditEvents* events() const noexcept { return events_.get(); }

  private:
    void write(const core::Request& request, const core::Response& response,
               const AccessOrigin& origin);

    std::unique_ptr<AuditLog> log_;
    std::unique_ptr<AuditEvents> events_;
};

}  // namespace annals::net
