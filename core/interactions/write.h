// What create, update, delete and their conditional forms share: from a submitted resource to a commit to an answer.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#create, #update, #delete; docs/api/create.md, update.md, delete.md.
// Threads: runs on the loop of its request.

#pragma once

#include "codec/json/resource.h"
#include "core/exchange.h"
#include "core/interactions/negotiation.h"
#include "core/interactions/submitted_resource.h"
#include "core/service.h"
#include "storage/types.h"

#include <asio/awaitable.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace annals::core {

/// How often a write is decided before it answers 503; another writer was faster each time.
inline constexpr int kAttemptsMax = 64;

/// Whether the stored `body` is what `plan` makes, whatever its holes contain.
bool is_body_of(const json::BodyPlan& plan, std::string_view body) noexcept;

/// The error for a submission that deciding again would not help: overloaded, too_large, no_number, no_space,
/// failed, read_only.
Error submission_error(storage::Submission::Status status);

/// Whether an answer may say that there was nothing to write. The log may contain a commit that was given up, which a reopened
/// store would read and which would be newer than what the answer is based on. Errors: no_store.
Result<void> check_nothing_to_write(const Service& service);

/// After a submission that was not accepted: the error to answer; or none, once the conflicting commit has
/// settled and the write can be decided again.
asio::awaitable<std::optional<Error>> settle_refusal(Loop& loop, storage::Submission submission);

/// Whether the body is small enough (1 MiB) to be kept until the commit has settled, and no other resource needs to be
/// read, as it is to check references against restricted scopes.
bool is_answered_early(const Service& service, const Request& request) noexcept;

/// Submits `write` of `resource` and answers before it is durable (Response::unsettled): 201 with Location if it creates or
/// revives the resource, otherwise 200 with Content-Location, with the body that Prefer asks for; or the refusal. None, and
/// nothing has been done, if it must wait for another commit: then use commit_resource().
std::optional<Response> commit_early(const Service& service, const Request& request,
                                     SubmittedResource& resource, storage::VersionWrite write);

/// Returns `early` once its commit has settled; 503 if that was dropped.
asio::awaitable<Response> answer_settled(const Request& request, Response early);

/// Submits `write` of `resource` and answers as commit_early() does, but once it is durable. None if another commit was in
/// the way, which has settled, so that the write can be decided again.
///
/// Lifetime: `resource`, what `write` views and `guards` outlive the await; once there is an answer, `resource` is released.
asio::awaitable<std::optional<Response>> commit_resource(
    const Service& service, const Request& request, SubmittedResource& resource,
    storage::VersionWrite write, std::span<const storage::Guard> guards = {});

/// Puts the stored bytes of `info` into a 2xx answer. If the version was erased meanwhile (no `info`), the answer has no
/// bytes, but is still a success.
void put_stored(const Service& service, Response& response,
                const std::optional<storage::VersionInfo>& info);

/// An OperationOutcome: "Patient/1 updated as version 2".
std::string describe_written(TypeId type, std::string_view id,
                             const storage::VersionWrite::Outcome& outcome);

/// "http://host/fhir/Patient/1/_history/2".
std::string version_url(std::string_view base_url, TypeId type, std::string_view id,
                        VersionNumber version);

/// "/fhir/Patient/1/_history/2": without scheme and host.
std::string version_path(std::string_view base_url, TypeId type, std::string_view id,
                         VersionNumber version);

/// 503: other writers were faster too often.
Error too_many_attempts();

}  // namespace annals::core
