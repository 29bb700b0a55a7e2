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

/// How often a write is decided again before it answers 503: each time another writer was faster.
inline constexpr int kAttemptsMax = 64;

/// Whether `body`, which is stored, is what `plan` makes, whatever stands in its holes.
bool is_body_of(const json::BodyPlan& plan, std::string_view body) noexcept;

/// The error for a submission that no new decision can help: overloaded, too_large, no_number, no_space,
/// failed, read_only.
Error submission_error(storage::Submission::Status status);

/// Whether an answer may say that there was nothing to write. What a commit that was given up has left in the log may be read
/// from it when the store is opened again, and be newer than what it was decided by. Errors: no_store.
Result<void> check_nothing_to_write(const Service& service);

/// After a submission that was not accepted: the error to answer, or none once what stood in its way has
/// settled and the write can be decided again.
asio::awaitable<std::optional<Error>> settle_refusal(Loop& loop, storage::Submission submission);

/// Whether the body is so small that an answer with it may be kept until it may be said, and no stored one is looked at.
bool is_answered_early(const Service& service, const Request& request) noexcept;

/// Submits `write` of `resource` and answers before it is durable (Response::unsettled): 201 with Location if it brings its
/// resource to life, else 200 with Content-Location, with the body that Prefer asks for; or why it is refused. None, and nothing
/// is done, if it has to wait for another commit: then it takes commit_resource().
std::optional<Response> commit_early(const Service& service, const Request& request,
                                     SubmittedResource& resource, storage::VersionWrite write);

/// `early` once it has settled; 503 if what it speaks of was dropped.
asio::awaitable<Response> answer_settled(const Request& request, Response early);

/// Submits `write` of `resource` and answers as commit_early() does, but once it is durable. None once what stood in its
/// way has settled and it can be decided again.
///
/// Lifetime: `resource`, what `write` views and `guards` outlive the await; `resource` is released by an answer.
asio::awaitable<std::optional<Response>> commit_resource(
    const Service& service, const Request& request, SubmittedResource& resource,
    storage::VersionWrite write, std::span<const storage::Guard> guards = {});

/// Fills a 2xx answer's body as `preference` says: with the stored bytes of `info`, with nothing, or with an
/// OperationOutcome: "Patient/1 updated as version 2". What is done is done whatever becomes of its bytes: erased
/// meanwhile (no `info`), it is answered without them. Requires: the response has its ETag.
void put_body(const Service& service, Response& response, const Preference& preference,
              const std::optional<storage::VersionInfo>& info, TypeId type, std::string_view id,
              std::string_view what);

/// "http://host/fhir/Patient/1/_history/2".
std::string version_url(std::string_view base_url, TypeId type, std::string_view id,
                        VersionNumber version);

/// "/fhir/Patient/1/_history/2": without scheme and host.
std::string version_path(std::string_view base_url, TypeId type, std::string_view id,
                         VersionNumber version);

/// 503: other writers were faster too often.
Error too_many_attempts();

}  // namespace annals::core
