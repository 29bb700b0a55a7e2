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

/// identifier_term() of each identifier of `resource`, each once.
/// Errors: too_costly (more than kTermsPerVersionMax).
Result<std::vector<std::uint64_t>> identifier_terms(TypeId type, json::Value resource);

/// A reference as a key of this server: `Patient/1`, `Patient/1/_history/2` or either below `base_url`;
/// none for all others. Lifetime: the id points into `reference`.
std::optional<std::pair<TypeId, std::string_view>> local_reference(std::string_view reference,
                                                                   std::string_view base_url);

/// The resource in a request's body, parsed once, and submitted as often as it takes.
class SubmittedResource {
  public:
    SubmittedResource() = default;
    ~SubmittedResource();
    SubmittedResource(const SubmittedResource&) = delete;
    SubmittedResource& operator=(const SubmittedResource&) = delete;

    /// Parses the body and checks that it is a resource of `type` that can be stored.
    /// Errors: unsupported_media; invalid, structure, required, value with place and byte offset; too_costly.
    Result<void> read(const Service& service, const Request& request, TypeId type);

    /// The id in the body, if there is one; not checked.
    std::optional<std::string_view> id() const noexcept { return facts_.id; }

    /// Submits `write`, completed by body and terms, with `guards` and what the configuration requires of
    /// references. Requires: read() succeeded.
    storage::Submission submit(const Service& service, storage::VersionWrite& write,
                               std::span<const storage::Guard> guards = {});

    /// Gives the parser its buffers back; only destruction may follow.
    void release() noexcept;

    /// The error for a submission of Status::requirement_failed.
    Error missing_reference(std::size_t requirement) const;

  private:
    struct Reference {
        TypeId type;
        std::string id;
        std::string expression;
    };

    json::Document document_;
    json::ResourceFacts facts_;
    std::vector<std::uint64_t> terms_;
    std::vector<Reference> references_;
};

/// The error for a submission that no new decision can help: overloaded, too_large, no_space, failed,
/// read_only.
Error submission_error(storage::Submission::Status status);

/// After a submission that was not accepted: the error to answer, or none once what stood in its way has
/// settled and the write can be decided again. Lifetime: `resource` outlives the await.
asio::awaitable<std::optional<Error>> settle_refusal(Loop& loop, const SubmittedResource& resource,
                                                     storage::Submission submission);

/// What was written, for the answer.
struct Written {
    TypeId type;
    std::string id;
    storage::VersionWrite::Outcome outcome;
    storage::Ticket ticket;
};

/// Waits until `written` is durable and answers: 201 with Location if it brought the resource to life, else 200
/// with Content-Location; the body as Prefer says.
asio::awaitable<Response> answer_written(const Service& service, const Request& request,
                                         Written written);

/// Puts the stored bytes of `info` into a 2xx answer. What is done is done whatever becomes of its bytes: erased
/// meanwhile (none), it is answered without them.
void put_stored(const Service& service, Response& response,
                const std::optional<storage::VersionInfo>& info);

/// Fills a 2xx answer's body as `preference` says: put_stored() unless it says otherwise.
void put_body(const Service& service, Response& response, const Preference& preference,
              const std::optional<storage::VersionInfo>& info, std::string_view outcome);

/// "http://host/fhir/Patient/1/_history/2".
std::string version_url(std::string_view base_url, TypeId type, std::string_view id,
                        VersionNumber version);

/// "/fhir/Patient/1/_history/2": without scheme and host.
std::string version_path(std::string_view base_url, TypeId type, std::string_view id,
                         VersionNumber version);

/// 503: other writers were faster too often.
Error too_many_attempts();

}  // namespace annals::core
