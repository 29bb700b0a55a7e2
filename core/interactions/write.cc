#include "core/interactions/write.h"

#include "core/interactions/answer.h"
#include "core/interactions/references.h"
#include "core/interactions/submitted_resource.h"
#include "core/scoped_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace annals::core {

namespace {

// A larger body is not copied for the answer, but read back from the store.
constexpr std::size_t kEarlyBytesMax = 1 << 20;

/// The error of a submission that deciding again would not help; none if it was accepted or has to wait.
std::optional<Error> final_error(const storage::Submission& submission,
                                 const SubmittedResource& resource) {
    using Status = storage::Submission::Status;
    const Status status = submission.status;
    if (status == Status::accepted || status == Status::busy ||
        status == Status::expectation_failed) {
        return std::nullopt;
    }
    return status == Status::requirement_failed ? resource.missing_reference(submission.failed)
                                                : submission_error(status);
}

/// Submits a write. Returns why it is refused if deciding again would not help. None: it is accepted, or `submission`
/// says what to wait for before it is decided again.
std::optional<Error> submit(const Service& service, const Request& request,
                            SubmittedResource& resource, storage::VersionWrite& write,
                            std::span<const storage::Guard> guards,
                            storage::Submission& submission) {
    if (is_restricted(request)) {
        if (Result<void> fit = resource.check_scopes(service, request, write); !fit) {
            return std::move(fit.error());
        }
    }
    submission = resource.submit(service, write, guards, request.client_request_id);
    return final_error(submission, resource);
}

/// Fills in the answer to an accepted write, except for its body.
void answer(Response& response, const Request& request, TypeId type, std::string_view id,
            const storage::VersionWrite::Outcome& outcome) {
    set_version(response, outcome.version, outcome.instant);
    response.position = outcome.position;
    if (outcome.previous.is_live()) {
        response.content_location = version_path(request.base_url, type, id, outcome.version);
    } else {
        response.status = 201;
        response.location = version_url(request.base_url, type, id, outcome.version);
    }
}

/// Answers with the stored version once it is durable.
asio::awaitable<Response> answer_written(const Service& service, const Request& request,
                                         storage::Ticket ticket, TypeId type, std::string id,
                                         storage::VersionWrite::Outcome outcome) {
    const Result<void> durable = co_await request.loop->settled_ticket(ticket);
    if (!durable) {
        co_return durable.error();
    }
    Response response;
    answer(response, request, type, id, outcome);
    const Preference::Return form = read_preference(request).return_form;
    if (form == Preference::Return::operation_outcome) {
        response.body = Body(describe_written(type, id, outcome));
    } else if (form != Preference::Return::minimal) {
        put_stored(service, response, service.store().at(outcome.position));
    }
    co_return response;
}

}  // namespace

bool is_body_of(const json::BodyPlan& plan, std::string_view body) noexcept {
    for (const BodyPiece& piece : plan.pieces()) {
        if (piece.kind == BodyPiece::Kind::text) {
            if (!body.starts_with(piece.text)) {
                return false;
            }
            body.remove_prefix(piece.text.size());
        } else {
            body.remove_prefix(std::min(body.size(), body.find('"')));
        }
    }
    return body.empty();
}

Error submission_error(storage::Submission::Status status) {
    using Status = storage::Submission::Status;
    switch (status) {
        case Status::overloaded:
        case Status::busy:
            return {Errc::overloaded};
        case Status::too_large:
            return {Errc::body_too_large, "The resource is too large to be stored"};
        case Status::no_number:
            return {Errc::conflict,
                    fmt::format("The resource's newest version has the number {}, the largest "
                                "possible: no further version can be written",
                                kVersionNumberMax)};
        case Status::no_space:
        case Status::failed:
        case Status::read_only:
            return {Errc::no_store};
        case Status::accepted:
        case Status::expectation_failed:
        case Status::requirement_failed:
        case Status::version_unknown:
            break;
    }
    return {Errc::internal, "a submission was refused for a reason that its caller left open"};
}

Result<void> check_nothing_to_write(const Service& service) {
    if (service.store().write_state() == storage::WriteState::failed) {
        return submission_error(storage::Submission::Status::failed);
    }
    return {};
}

asio::awaitable<std::optional<Error>> settle_refusal(Loop& loop, storage::Submission submission) {
    using Status = storage::Submission::Status;
    storage::Ticket obstacle;
    if (submission.status == Status::busy) {
        obstacle = submission.ticket;
    } else if (submission.status == Status::expectation_failed) {
        obstacle = submission.head.ticket;
    } else {
        co_return submission_error(submission.status);
    }
    // Whether it was committed or dropped, the next decision sees the result.
    const Result<void> settled = co_await loop.settled_ticket(obstacle);
    static_cast<void>(settled);
    co_return std::nullopt;
}

Error too_many_attempts() {
    return {Errc::overloaded};
}

std::string version_url(std::string_view base_url, TypeId type, std::string_view id,
                        VersionNumber version) {
    const std::string_view name = resource_type_name(type);
    const fmt::format_int number(version.value);
    std::string url;
    url.reserve(base_url.size() + name.size() + id.size() + kHistoryMark.size() + number.size() +
                2);
    url.append(base_url) += '/';
    url.append(name) += '/';
    url.append(id).append(kHistoryMark).append(number.data(), number.size());
    return url;
}

std::string version_path(std::string_view base_url, TypeId type, std::string_view id,
                         VersionNumber version) {
    const std::size_t scheme = base_url.find("://");
    const std::size_t path = scheme == std::string_view::npos ? 0 : base_url.find('/', scheme + 3);
    return version_url(path == std::string_view::npos ? "" : base_url.substr(path), type, id,
                       version);
}

void put_stored(const Service& service, Response& response,
                const std::optional<storage::VersionInfo>& info) {
    if (!info) {
        return;
    }
    if (Result<storage::StoredVersion> stored = service.store().load(*info)) {
        response.body.append_view(stored->body, std::move(stored->pin));
    }
}

std::string describe_written(TypeId type, std::string_view id,
                             const storage::VersionWrite::Outcome& outcome) {
    return information(fmt::format("{} {} as version {}", resource_name(type, id),
                                   outcome.previous.is_live() ? "updated" : "created",
                                   outcome.version.value));
}

bool is_answered_early(const Service& service, const Request& request) noexcept {
    // With restricted scopes, the resources that it refers to are read.
    const bool looks = is_restricted(request) && service.config().integrity_on_write;
    return request.body.size() <= kEarlyBytesMax && !looks;
}

std::optional<Response> commit_early(const Service& service, const Request& request,
                                     SubmittedResource& resource, storage::VersionWrite write) {
    const Preference preference = read_preference(request);
    const bool outcome = preference.return_form == Preference::Return::operation_outcome;
    const bool body = !outcome && preference.return_form != Preference::Return::minimal;
    std::string stored;
    write.stored = body ? &stored : nullptr;
    storage::Submission submission;
    if (const std::optional<Error> refusal =
            submit(service, request, resource, write, {}, submission)) {
        return *refusal;
    }
    if (submission.status != storage::Submission::Status::accepted) {
        return std::nullopt;
    }
    std::optional<Response> answered(std::in_place);
    Response& response = *answered;
    answer(response, request, write.type, write.id, write.outcome);
    response.unsettled = submission.ticket;
    if (outcome) {
        response.body = Body(describe_written(write.type, write.id, write.outcome));
    } else {
        response.body = Body(std::move(stored));
    }
    return answered;
}

asio::awaitable<Response> answer_settled(const Request& request, Response early) {
    const Result<void> durable = co_await request.loop->settled_ticket(early.unsettled);
    if (!durable) {
        co_return durable.error();
    }
    early.unsettled = {};
    co_return early;
}

asio::awaitable<std::optional<Response>> commit_resource(const Service& service,
                                                         const Request& request,
                                                         SubmittedResource& resource,
                                                         storage::VersionWrite write,
                                                         std::span<const storage::Guard> guards) {
    if (is_restricted(request)) {
        co_await resource.fetch_referred(service, request);
    }
    storage::Submission submission;
    if (const std::optional<Error> refusal =
            submit(service, request, resource, write, guards, submission)) {
        co_return *refusal;
    }
    if (submission.status == storage::Submission::Status::accepted) {
        resource.release();
        co_return co_await answer_written(service, request, submission.ticket, write.type,
                                          std::string(write.id), write.outcome);
    }
    // Whatever becomes of the conflicting commit, the write must be decided again.
    static_cast<void>(co_await settle_refusal(*request.loop, submission));
    co_return std::nullopt;
}

}  // namespace annals::core
