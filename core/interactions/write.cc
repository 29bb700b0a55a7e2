#include "core/interactions/write.h"

#include "codec/schema/structure.h"
#include "core/definitions.h"
#include "core/interactions/answer.h"
#include "core/interactions/turns.h"
#include "core/interactions/vread.h"
#include "core/outcome.h"
#include "core/scoped_view.h"
#include "core/subscriptions/subscriber.h"
#include "core/subset.h"
#include "core/validation/validate.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {

namespace {

// Documents above this size keep no buffers for the next parse of the thread.
constexpr std::size_t kRecycledBytesMax = 1 << 20;

// A larger body is not copied to answer with: it is taken from where it is stored.
constexpr std::size_t kEarlyBytesMax = 1 << 20;

constexpr std::string_view kHistoryMark = "/_history/";

storage::BodyPiece piece_of(const json::Run& run) {
    switch (run.hole) {
        case json::Hole::none:
            break;
        case json::Hole::version:
            return {storage::BodyPiece::Kind::version, {}};
        case json::Hole::instant:
            return {storage::BodyPiece::Kind::instant, {}};
    }
    return {storage::BodyPiece::Kind::text, run.text};
}

/// The errors that full validation finds in a resource whose structure is sound.
Result<void> check_in_full(const Service& service, json::Value resource, std::string_view prefix,
                           std::vector<Position>* unread) {
    validation::Options options;
    options.structure_is_checked = true;
    options.refuse_unknown_codes = false;
    const Definitions::Resident definitions(service.definitions(), unread);
    validation::Report report = validation::validate(resource, definitions, options);
    std::optional<Error> fault;
    for (Issue& issue : report.issues) {
        if (issue.severity != "error") {
            continue;
        }
        if (!prefix.empty()) {
            const std::size_t type = std::min(issue.expression.find('.'), issue.expression.size());
            issue.expression.replace(0, type, prefix);
        }
        const Errc code = issue.code == "too-costly" ? Errc::too_costly : Errc::business_rule;
        Error error{code, std::move(issue.diagnostics), std::move(issue.expression)};
        if (fault) {
            fault->others.push_back(std::move(error));
        } else {
            fault = std::move(error);
        }
    }
    return fault ? Result<void>(*std::move(fault)) : Result<void>();
}

/// The error for a submission that no new decision can help; none for one that was accepted or has to wait.
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

/// Submits it; why it is refused if no new decision can help. None: it is accepted, or `submission` says for what to wait before
/// it is decided again.
std::optional<Error> submit(const Service& service, const Request& request,
                            SubmittedResource& resource, storage::VersionWrite& write,
                            std::span<const storage::Guard> guards, std::string* stored,
                            storage::Submission& submission) {
    if (is_held(request)) {
        if (Result<void> fit = resource.check_scopes(service, request, write); !fit) {
            return std::move(fit.error());
        }
    }
    submission = resource.submit(service, write, guards, request.client_request_id, stored);
    return final_error(submission, resource);
}

bool brings_to_life(const storage::VersionWrite::Outcome& outcome) noexcept {
    return !outcome.previous.exists || outcome.previous.deletion;
}

/// The answer to a write that was accepted, but for its body.
Response answer_of(const Request& request, TypeId type, std::string_view id,
                   const storage::VersionWrite::Outcome& outcome) {
    Response response;
    set_version(response, outcome.version, outcome.instant);
    response.position = outcome.position;
    if (brings_to_life(outcome)) {
        response.status = 201;
        response.location = version_url(request.base_url, type, id, outcome.version);
    } else {
        response.content_location = version_path(request.base_url, type, id, outcome.version);
    }
    return response;
}

/// An OperationOutcome: "Patient/1 updated as version 2".
std::string outcome_text(const Response& response, TypeId type, std::string_view id,
                         std::string_view what) {
    return information(
        fmt::format("{} {} as version {}", resource_name(type, id), what, response.etag->value));
}

std::string_view done_by(const storage::VersionWrite::Outcome& outcome) noexcept {
    return brings_to_life(outcome) ? "created" : "updated";
}

/// Answers with what is stored once it is durable.
asio::awaitable<Response> answer_written(const Service& service, const Request& request,
                                         storage::Ticket ticket, TypeId type, std::string id,
                                         storage::VersionWrite::Outcome outcome) {
    const Result<void> durable = co_await request.loop->settled_ticket(ticket);
    if (!durable) {
        co_return outcome_response(durable.error(), request);
    }
    Response response = answer_of(request, type, id, outcome);
    put_body(service, response, read_preference(request), service.store().at(outcome.position),
             type, id, done_by(outcome));
    co_return response;
}

}  // namespace

json::Parser& thread_parser() {
    thread_local json::Parser parser;
    return parser;
}

Result<json::Document> parse_submitted(const Config& config, json::Parser& parser,
                                       std::string_view text) {
    const auto parsed = [&](std::string_view from) {
        return config.validation == "off" ? parser.parse(from) : parser.parse_resource(from);
    };
    Result<json::Document> document = parsed(text);
    if (document) {
        // Whoever looks for a name in what is stored compares it as it stands.
        if (const std::string plain = parser.with_plain_keys(*document); !plain.empty())
            [[unlikely]] {
            parser.recycle(*std::move(document));
            return parsed(plain);
        }
    }
    return document;
}

Result<void> check_whole(const json::ResourceFacts& facts) {
    if (is_subsetted(facts.meta)) {
        return Error{
            Errc::business_rule,
            "The resource has the tag SUBSETTED: it is a part of what was read, and an update "
            "would lose the rest",
            fmt::format("{}.meta.tag", resource_type_name(facts.type))};
    }
    return {};
}

std::optional<std::pair<TypeId, std::string_view>> local_reference(std::string_view reference,
                                                                   std::string_view base_url) {
    if (reference.starts_with(base_url) && reference.substr(base_url.size()).starts_with('/')) {
        reference.remove_prefix(base_url.size() + 1);
    }
    const std::size_t slash = reference.find('/');
    if (slash == std::string_view::npos) {
        return {};
    }
    const std::optional<TypeId> type = find_resource_type(reference.substr(0, slash));
    std::string_view id = reference.substr(slash + 1);
    if (const std::size_t history = id.find(kHistoryMark); history != std::string_view::npos) {
        id = id.substr(0, history);
    }
    if (!type || !is_resource_id(id)) {
        return {};
    }
    return std::pair{*type, id};
}

bool is_relative_reference(std::string_view reference) noexcept {
    if (reference.empty() || reference.front() == '#') {
        return false;
    }
    const std::size_t end = reference.find_first_of(":/?#");
    return end == std::string_view::npos || reference[end] != ':';
}

std::string_view referred_version(std::string_view reference) noexcept {
    const std::size_t history = reference.find(kHistoryMark);
    if (history == std::string_view::npos) {
        return {};
    }
    reference.remove_prefix(history + kHistoryMark.size());
    return reference.substr(0, reference.find('#'));
}

std::optional<VersionNumber> required_version(std::string_view version) noexcept {
    return version.empty() ? std::nullopt
                           : std::optional(read_version_number(version).value_or(VersionNumber{}));
}

Result<void> check_resource(const Service& service, json::Value resource, std::string_view prefix,
                            std::vector<Position>* unread) {
    const Config& config = service.config();
    // Whatever holds it may nest deeper, so that what is stored can be told of and sent on.
    if (json::is_too_deep(resource)) {
        return Error{Errc::invalid,
                     fmt::format("The resource is nested deeper than {} levels", kJsonDepthMax),
                     std::string(prefix)};
    }
    if (config.validation == "off") {
        return {};
    }
    ANNALS_TRY_VOID(schema::check_structure(
        resource, {.allow_unknown_elements = config.allow_unknown_elements}, prefix));
    return config.validation == "full" ? check_in_full(service, resource, prefix, unread)
                                       : Result<void>();
}

Result<void> check_written(const Service& service, const Request& request,
                           const storage::VersionWrite& write, json::Value resource) {
    const Permission needed = write.method == storage::Method::post ? kMayCreate : kMayUpdate;
    const ScopedView view(service, request, needed);
    if (!view.is_whole() && !view.shows(write.type, write.id, resource)) {
        return beyond_scopes(needed, write.type);
    }
    return {};
}

SubmittedResource::~SubmittedResource() {
    release();
}

void SubmittedResource::release() noexcept {
    if (!document_.nodes().empty() && document_.text().size() <= kRecycledBytesMax) {
        thread_parser().recycle(std::move(document_));
    }
    document_ = {};
    facts_ = {};
}

Result<void> SubmittedResource::read(const Service& service, const Request& request, TypeId type,
                                     std::vector<Position>* unread) {
    ANNALS_TRY_VOID(check_content_type(request));
    const std::string_view name = resource_type_name(type);
    if (name == "Parameters") {
        return Error{Errc::invalid, "Parameters resources are sent, not stored", "Parameters"};
    }
    if (request.body.empty()) {
        return Error{Errc::invalid, fmt::format("The body is empty: expected a {}", name), ""};
    }
    ANNALS_TRY(json::Document document,
               parse_submitted(service.config(), thread_parser(), request.body));
    ANNALS_TRY_VOID(take(service, request, type, std::move(document), unread));
    return check_subscriber(service, request, document_.root());
}

asio::awaitable<Result<void>> SubmittedResource::read_fetched(const Service& service,
                                                              const Request& request, TypeId type,
                                                              std::vector<Position> unread) {
    co_await request.loop->fetched(std::move(unread));
    co_return co_await fetch_and_look(*request.loop, [&](std::vector<Position>* more) {
        release();
        return read(service, request, type, more);
    });
}

Result<void> SubmittedResource::take(const Service& service, const Request& request, TypeId type,
                                     json::Document document, std::vector<Position>* unread) {
    document_ = std::move(document);
    Result<json::ResourceFacts> facts = json::read_facts(document_.root());
    if (facts && facts->type != type) {
        return Error{Errc::invalid,
                     fmt::format("The body's resourceType is {}, the URL's {}",
                                 resource_type_name(facts->type), resource_type_name(type)),
                     fmt::format("{}.resourceType", resource_type_name(facts->type))};
    }
    // It tells every fault, read_facts() the first.
    ANNALS_TRY_VOID(check_resource(service, document_.root(), {}, unread));
    ANNALS_TRY(facts_, std::move(facts));

    if (service.config().integrity_on_write) {
        std::vector<json::ReferenceSite> sites;
        json::find_references(facts_.resource, sites);
        // What a stored Bundle refers to by other than a key may be one of its own entries.
        const bool is_bundle = resource_type_name(type) == "Bundle";
        for (const json::ReferenceSite& site : sites) {
            if (site.kind != json::ReferenceSite::Kind::reference) {
                continue;
            }
            const std::string text = site.value.string();
            const auto key =
                local_reference(std::string_view(text).substr(0, text.find('#')), request.base_url);
            if (key) {
                references_.push_back({key->first, std::string(key->second),
                                       std::string(referred_version(text)),
                                       json::expression_of(facts_.resource, site.path)});
            } else if (is_relative_reference(text) && !is_bundle) {
                return Error{
                    Errc::conflict,
                    fmt::format("The resource refers to {}, which names nothing on this server",
                                text),
                    json::expression_of(facts_.resource, site.path)};
            }
        }
    }
    return {};
}

Result<void> SubmittedResource::check_whole() const {
    return core::check_whole(facts_);
}

storage::Submission SubmittedResource::submit(const Service& service, storage::VersionWrite& write,
                                              std::span<const storage::Guard> guards,
                                              std::string_view client_request_id,
                                              std::string* stored) {
    const json::BodyPlan plan(facts_, write.id, {});
    std::vector<storage::BodyPiece> pieces;
    pieces.reserve(plan.runs().size());
    for (const json::Run& run : plan.runs()) {
        pieces.push_back(piece_of(run));
    }
    write.body = pieces;

    std::vector<storage::Requirement> requirements;
    requirements.reserve(references_.size());
    for (const Reference& reference : references_) {
        storage::Requirement requirement{.type = reference.type,
                                         .id = reference.id,
                                         .version = required_version(reference.version)};
        if (reference.type == write.type && reference.id == write.id) {
            requirement.writer = 0;  // What a resource says of itself is there as soon as it is.
        }
        requirements.push_back(requirement);
    }

    service.store().fetch_ahead(write.type, write.id);
    storage::Commit commit;
    commit.writes = std::span(&write, 1);
    commit.guards = guards;
    commit.requirements = requirements;
    commit.request = client_request_id;
    const auto epoch = service.indexing().epoch();
    write.search = &epoch->entries_of(write.type, facts_.resource);
    storage::Submission submission = service.store().submit(commit);
    search::Indexing::submitted(*epoch, submission.ticket);
    if (stored != nullptr && submission.status == storage::Submission::Status::accepted) {
        storage::append_body(pieces, write.outcome.version, write.outcome.instant, *stored);
    }
    write.body = {};
    write.search = nullptr;
    return submission;
}

Result<void> SubmittedResource::check_scopes(const Service& service, const Request& request,
                                             const storage::VersionWrite& write) const {
    ANNALS_TRY_VOID(check_written(service, request, write, facts_.resource));
    for (std::size_t i = 0; i < references_.size(); ++i) {
        if (!may_refer(service, request, references_[i].type, references_[i].id)) {
            return missing_reference(i);
        }
    }
    return {};
}

asio::awaitable<void> SubmittedResource::fetch_referred(const Service& service,
                                                        const Request& request) const {
    std::vector<storage::VersionInfo> versions;
    for (const Reference& reference : references_) {
        if (const auto info = service.store().current(reference.type, reference.id)) {
            versions.push_back(*info);
        }
    }
    co_await request.loop->fetched(versions);
}

Error SubmittedResource::missing_reference(std::size_t requirement) const {
    const Reference& missing = references_[requirement];
    return {Errc::conflict,
            fmt::format("The resource refers to {}{}{}, which does not exist",
                        resource_name(missing.type, missing.id),
                        missing.version.empty() ? "" : kHistoryMark, missing.version),
            missing.expression};
}

bool is_body_of(const json::BodyPlan& plan, std::string_view body) noexcept {
    for (const json::Run& run : plan.runs()) {
        if (run.hole == json::Hole::none) {
            if (!body.starts_with(run.text)) {
                return false;
            }
            body.remove_prefix(run.text.size());
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
            return {Errc::overloaded, "", ""};
        case Status::too_large:
            return {Errc::body_too_large, "The resource is too large to be stored", ""};
        case Status::no_number:
            return {Errc::conflict,
                    fmt::format("The resource's newest version has the number {}, the largest that "
                                "there is: it takes no more versions",
                                kVersionNumberMax),
                    ""};
        case Status::no_space:
        case Status::failed:
        case Status::read_only:
            return {Errc::no_store, "", ""};
        case Status::accepted:
        case Status::expectation_failed:
        case Status::requirement_failed:
        case Status::version_unknown:
            break;
    }
    return {Errc::internal, "a submission was refused for a reason that its caller left open", ""};
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
    // Settled well or dropped: either way the next decision sees what is.
    const Result<void> settled = co_await loop.settled_ticket(obstacle);
    static_cast<void>(settled);
    co_return std::nullopt;
}

Error too_many_attempts() {
    return {Errc::overloaded, "", ""};
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

void put_body(const Service& service, Response& response, const Preference& preference,
              const std::optional<storage::VersionInfo>& info, TypeId type, std::string_view id,
              std::string_view what) {
    if (preference.return_form == Preference::Return::operation_outcome) {
        response.body = Body(outcome_text(response, type, id, what));
        return;
    }
    if (preference.return_form == Preference::Return::minimal || !info) {
        return;
    }
    if (Result<storage::StoredVersion> stored = service.store().load(*info)) {
        response.body.append_view(stored->body, std::move(stored->pin));
    }
}

bool is_answered_early(const Service& service, const Request& request) noexcept {
    // What somebody refers to who is not shown everything is looked at.
    const bool looks = is_held(request) && service.config().integrity_on_write;
    return request.body.size() <= kEarlyBytesMax && !looks;
}

std::optional<Response> commit_early(const Service& service, const Request& request,
                                     SubmittedResource& resource, storage::VersionWrite write) {
    const Preference preference = read_preference(request);
    const bool outcome = preference.return_form == Preference::Return::operation_outcome;
    const bool body = !outcome && preference.return_form != Preference::Return::minimal;
    std::string stored;
    storage::Submission submission;
    if (const std::optional<Error> refusal =
            submit(service, request, resource, write, {}, body ? &stored : nullptr, submission)) {
        return outcome_response(*refusal, request);
    }
    if (submission.status != storage::Submission::Status::accepted) {
        return std::nullopt;
    }
    Response response = answer_of(request, write.type, write.id, write.outcome);
    response.unsettled = submission.ticket;
    if (outcome) {
        response.body = Body(outcome_text(response, write.type, write.id, done_by(write.outcome)));
    } else {
        response.body = Body(std::move(stored));
    }
    return response;
}

asio::awaitable<Response> answer_settled(const Request& request, Response early) {
    const Result<void> durable = co_await request.loop->settled_ticket(early.unsettled);
    if (!durable) {
        co_return outcome_response(durable.error(), request);
    }
    early.unsettled = {};
    co_return early;
}

asio::awaitable<std::optional<Response>> commit_resource(const Service& service,
                                                         const Request& request,
                                                         SubmittedResource& resource,
                                                         storage::VersionWrite write,
                                                         std::span<const storage::Guard> guards) {
    if (is_held(request)) {
        co_await resource.fetch_referred(service, request);
    }
    storage::Submission submission;
    if (const std::optional<Error> refusal =
            submit(service, request, resource, write, guards, nullptr, submission)) {
        co_return outcome_response(*refusal, request);
    }
    if (submission.status == storage::Submission::Status::accepted) {
        resource.release();
        co_return co_await answer_written(service, request, submission.ticket, write.type,
                                          std::string(write.id), write.outcome);
    }
    // Whatever comes of what stands in the way, it is to be decided again.
    static_cast<void>(co_await settle_refusal(*request.loop, submission));
    co_return std::nullopt;
}

}  // namespace annals::core
