// What create, update, delete and their conditional forms share: from a body to a commit to an answer.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#create, #update, #delete; docs/api/create.md, update.md, delete.md.
// Threads: runs on the loop of its request; parses with that thread's own Parser.

#pragma once

#include "codec/json/document.h"
#include "codec/json/resource.h"
#include "core/exchange.h"
#include "core/interactions/negotiation.h"
#include "core/service.h"
#include "storage/types.h"

#include <asio/awaitable.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {

/// How often a write is decided again before it answers 503: each time another writer was faster.
inline constexpr int kAttemptsMax = 64;

/// The parser of the calling thread.
json::Parser& thread_parser();

/// Parses what is to be stored, its keys written without needless escapes; unless `validation` is off, looks on the way at
/// what check_resource() asks for.
/// Errors: invalid, body_too_large.
Result<json::Document> parse_submitted(const Config& config, json::Parser& parser,
                                       std::string_view text);

/// Refuses what check_whole() refuses.
Result<void> check_whole(const json::ResourceFacts& facts);

/// A reference as a key of this server: `Patient/1`, `Patient/1/_history/2` or either below `base_url`;
/// none for all others. Lifetime: the id points into `reference`.
std::optional<std::pair<TypeId, std::string_view>> local_reference(std::string_view reference,
                                                                   std::string_view base_url);

/// "2" of a local reference `Patient/1/_history/2`, whatever stands there; empty if it names no version.
std::string_view referred_version(std::string_view reference) noexcept;

/// What is to be required of a version that a reference names so: what is no number names none that there is.
std::optional<VersionNumber> required_version(std::string_view version) noexcept;

/// Whether `resource` is what `validation` asks for: built as R4 defines its type, and in full also true to
/// bindings, invariants and the profiles that it claims; expressions begin with `prefix`, or else with its type.
/// Errors: structure, required, value; in full also business_rule: the first fault, all others in
///         Error::others.
Result<void> check_resource(const Service& service, json::Value resource,
                            std::string_view prefix = {});

/// Whether the scopes of whoever sends `request` permit that `resource` becomes what `write` says. Errors: forbidden.
Result<void> check_written(const Service& service, const Request& request,
                           const storage::VersionWrite& write, json::Value resource);

/// The resource in a request's body, parsed once, and submitted as often as it takes.
class SubmittedResource {
  public:
    SubmittedResource() = default;
    ~SubmittedResource();
    SubmittedResource(const SubmittedResource&) = delete;
    SubmittedResource& operator=(const SubmittedResource&) = delete;

    /// Parses the body and checks that it is a resource of `type` that can be stored.
    /// Errors: unsupported_media; invalid, structure, required, value with place and byte offset; too_costly;
    ///         forbidden (check_subscriber()).
    Result<void> read(const Service& service, const Request& request, TypeId type);

    /// The same for what is parsed already.
    /// Errors: invalid, structure, required, value; too_costly.
    Result<void> take(const Service& service, const Request& request, TypeId type,
                      json::Document document);

    /// Is the body a whole resource, one that may replace another? Requires: read() succeeded.
    /// Errors: business_rule (the tag SUBSETTED: it came from a read with _summary or _elements).
    Result<void> check_whole() const;

    /// The id in the body, if there is one; not checked.
    std::optional<std::string_view> id() const noexcept { return facts_.id; }

    /// Submits `write`, completed by its body and what it can be found by, with `guards` and what the configuration requires of
    /// references. Requires: read() succeeded.
    storage::Submission submit(const Service& service, storage::VersionWrite& write,
                               std::span<const storage::Guard> guards = {},
                               std::string_view client_request_id = {});

    /// Gives the parser its buffers back; only read(), take() or destruction may follow.
    void release() noexcept;

    /// Why whoever sends `request` may not write this as `type`/`id`, if his scopes hold him to a part: it would not be of
    /// that part, or refers to what he is not told of. Errors: forbidden; conflict, as for what does not exist.
    Result<void> check_scopes(const Service& service, const Request& request,
                              const storage::VersionWrite& write) const;

    /// The error for a submission of Status::requirement_failed.
    Error missing_reference(std::size_t requirement) const;

  private:
    struct Reference {
        TypeId type;
        std::string id;
        std::string version;  ///< empty: it names none
        std::string expression;
    };

    json::Document document_;
    json::ResourceFacts facts_;
    std::vector<Reference> references_;
};

/// Whether `body`, which is stored, is what `plan` makes, whatever stands in its holes.
bool is_body_of(const json::BodyPlan& plan, std::string_view body) noexcept;

/// The error for a submission that no new decision can help: overloaded, too_large, no_number, no_space,
/// failed, read_only.
Error submission_error(storage::Submission::Status status);

/// After a submission that was not accepted: the error to answer, or none once what stood in its way has
/// settled and the write can be decided again.
asio::awaitable<std::optional<Error>> settle_refusal(Loop& loop, storage::Submission submission);

/// A write that was accepted, for its answer.
struct Written {
    TypeId type;
    std::string id;
    storage::VersionWrite::Outcome outcome;
};

/// Answers once `ticket` has settled: 201 with Location if the write brought its resource to life, else 200 with
/// Content-Location, with the body that Prefer asks for; 503 if it was dropped.
asio::awaitable<Response> answer_written(const Service& service, const Request& request,
                                         storage::Ticket ticket, Written written);

/// An answer that nothing has to be awaited for, where it is to be awaited.
asio::awaitable<Response> answer_at_once(Response response);

/// What commit_resource() does where nothing stands in the way, at once and without a coroutine of its own: the answer
/// to await, a refusal too. None, and nothing done, if it has to wait for another commit: then it takes commit_resource().
///
/// Lifetime: `resource` and what `write` views are needed during the call only.
std::optional<asio::awaitable<Response>> commit_at_once(const Service& service,
                                                        const Request& request,
                                                        SubmittedResource& resource,
                                                        storage::VersionWrite write);

/// Submits `write` of `resource` and answers as answer_written() does, or why it is refused. None once what stood in its
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
