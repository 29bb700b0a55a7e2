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

/// The parser of the calling thread, for resources: what holds them may nest deeper.
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

/// Whether `reference` is to be found below the server that has it: no URL with a scheme, and no fragment alone.
bool is_relative_reference(std::string_view reference) noexcept;

/// "2" of a local reference `Patient/1/_history/2`, whatever stands there; empty if it names no version.
std::string_view referred_version(std::string_view reference) noexcept;

/// What is to be required of a version that a reference names so: what is no number names none that there is.
std::optional<VersionNumber> required_version(std::string_view version) noexcept;

/// Whether `resource` can be stored: it nests no deeper than kJsonDepthMax, and is what `validation` asks for: built as R4
/// defines its type, and in full also true to bindings, invariants and the profiles that it claims; expressions begin with
/// `prefix`, or else with its type.
/// Errors: invalid (too deep), structure, required, value; in full also business_rule: the first fault, all others in
///         Error::others.
/// `unread`: where the positions go of stored definitions that it goes by and that are on the device only; what is returned then
/// means nothing. Null: they are waited for.
Result<void> check_resource(const Service& service, json::Value resource,
                            std::string_view prefix = {}, std::vector<Position>* unread = nullptr);

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
    /// `unread`: as of check_resource(); then it is read_fetched().
    /// Errors: unsupported_media; invalid, structure, required, value with place and byte offset; too_costly;
    ///         forbidden (check_subscriber()).
    Result<void> read(const Service& service, const Request& request, TypeId type,
                      std::vector<Position>* unread);

    /// The same again, once what is in `unread` has been fetched. Lifetime: this and what is passed outlive the await.
    asio::awaitable<Result<void>> read_fetched(const Service& service, const Request& request,
                                               TypeId type, std::vector<Position> unread);

    /// The same for what is parsed already.
    /// Errors: invalid, structure, required, value; too_costly.
    Result<void> take(const Service& service, const Request& request, TypeId type,
                      json::Document document, std::vector<Position>* unread = nullptr);

    /// Is the body a whole resource, one that may replace another? Requires: read() succeeded.
    /// Errors: business_rule (the tag SUBSETTED: it came from a read with _summary or _elements).
    Result<void> check_whole() const;

    /// The id in the body, if there is one; not checked.
    std::optional<std::string_view> id() const noexcept { return facts_.id; }

    /// Submits `write`, completed by its body and what it can be found by, with `guards` and what the configuration requires of
    /// references. Requires: read() succeeded.
    /// `stored`: where the body goes as it is stored, if the submission is accepted; null: nowhere.
    storage::Submission submit(const Service& service, storage::VersionWrite& write,
                               std::span<const storage::Guard> guards = {},
                               std::string_view client_request_id = {},
                               std::string* stored = nullptr);

    /// Gives the parser its buffers back; only read(), take() or destruction may follow.
    void release() noexcept;

    /// Why whoever sends `request` may not write this as `type`/`id`, if his scopes hold him to a part: it would not be of
    /// that part, or refers to what he is not told of. Errors: forbidden; conflict, as for what does not exist.
    Result<void> check_scopes(const Service& service, const Request& request,
                              const storage::VersionWrite& write) const;

    /// Has fetched what check_scopes() looks at.
    asio::awaitable<void> fetch_referred(const Service& service, const Request& request) const;

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
