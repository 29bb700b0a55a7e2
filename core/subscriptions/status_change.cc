#include "core/subscriptions/status_change.h"

#include "core/interactions/submitted_resource.h"
#include "core/interactions/write.h"

namespace annals::core {

using Status = storage::Submission::Status;

Result<bool> change_status(const Service& service, const storage::StoredVersion& base,
                           SubscriptionStatus status, std::string_view error) {
    ANNALS_TRY(const json::Document before, thread_parser().parse(base.body));
    ANNALS_TRY(json::Document after,
               thread_parser().parse(with_status(before.root(), status, error)));
    Request request;
    request.base_url = service.config().base_url;
    SubmittedResource resource;
    ANNALS_TRY_VOID(resource.take(service, request, base.info.type, std::move(after)));

    const std::string id(base.id);
    storage::VersionWrite write;
    write.type = base.info.type;
    write.id = id;
    write.method = storage::Method::put;
    write.expect = storage::Expect::version;
    write.expected_version = base.info.version;
    storage::Store& store = service.store();
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        const storage::Submission submission = resource.submit(service, write);
        switch (submission.status) {
            case Status::accepted:
                ANNALS_TRY_VOID(store.wait(submission.ticket));
                return true;
            case Status::expectation_failed:
                return false;
            case Status::busy: {
                // Whether it settled or was dropped, the next attempt sees the current state.
                const Result<void> settled = store.wait(submission.ticket);
                static_cast<void>(settled);
                continue;
            }
            case Status::requirement_failed:
                return resource.missing_reference(submission.failed);
            default:
                return submission_error(submission.status);
        }
    }
    return too_many_attempts();
}

}  // namespace annals::core
