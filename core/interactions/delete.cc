#include "core/interactions/delete.h"

#include "core/interactions/answer.h"
#include "core/interactions/criteria.h"
#include "core/interactions/negotiation.h"
#include "core/interactions/preconditions.h"
#include "core/interactions/write.h"
#include "core/outcome.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

using storage::Expect;
using storage::Head;
using storage::Submission;
using Status = storage::Submission::Status;

Result<void> check_no_body(const Request& request) {
    if (!request.body.empty()) {
        return Error{Errc::invalid, "DELETE takes no body", ""};
    }
    return {};
}

Response answer_done(const Request& request, std::string_view outcome) {
    Response response;
    if (read_preference(request).return_form == Preference::Return::operation_outcome) {
        response.body = Body(information(outcome));
    } else {
        response.status = 204;
    }
    return response;
}

// One deletion of one resource, decided on `head`.
struct Deletion {
    enum class Kind : std::uint8_t {
        nothing,  // there is nothing to do
        soft,
        hard,
    };
    Kind kind = Kind::nothing;
    Expect expect = Expect::exists;
    std::optional<Error> refusal;
};

Deletion decide(const Config& config, const std::optional<EntityTags>& match, TypeId type,
                std::string_view id, const Head& head) {
    Deletion deletion;
    if (!head.exists) {
        if (match || config.delete_absent == 404) {
            deletion.refusal = Error{Errc::not_found,
                                     fmt::format("{} does not exist", resource_name(type, id)), ""};
        }
        return deletion;
    }
    // To delete what is deleted succeeds whatever the client thought to delete (RFC 9110 13.1.1): the first
    // answer may have been lost. Hard deletion of it is no repetition and must meet its condition.
    if (head.deletion && !config.hard_delete) {
        return deletion;
    }
    if (match && !match->any && !match->names(head.version)) {
        deletion.refusal = match_failed(*match, head.version);
        return deletion;
    }
    deletion.kind = config.hard_delete ? Deletion::Kind::hard : Deletion::Kind::soft;
    deletion.expect = Expect::version;
    return deletion;
}

// What became of a submitted deletion.
struct Submitted {
    Submission submission;
    VersionNumber version;  // of the deletion version; 0 after a hard deletion
    std::uint64_t versions_erased = 0;
};

Submitted submit(const Service& service, const Deletion& deletion, TypeId type, std::string_view id,
                 VersionNumber expected, std::span<const storage::Guard> guards) {
    Submitted done;
    storage::Commit commit;
    commit.guards = guards;
    if (deletion.kind == Deletion::Kind::hard) {
        storage::Erase erase;
        erase.type = type;
        erase.id = id;
        erase.scope = storage::Erase::Scope::everything;
        erase.expect = deletion.expect;
        erase.expected_version = expected;
        commit.erases = std::span(&erase, 1);
        done.submission = service.store().submit(commit);
        done.versions_erased = erase.outcome.versions_erased;
        return done;
    }
    storage::VersionWrite write;
    write.type = type;
    write.id = id;
    write.method = storage::Method::deletion;
    write.deletion = true;
    write.expect = deletion.expect;
    write.expected_version = expected;
    commit.writes = std::span(&write, 1);
    done.submission = service.store().submit(commit);
    done.version = write.outcome.version;
    return done;
}

std::string describe(const Submitted& done, TypeId type, std::string_view id) {
    return done.version.value != 0 ? fmt::format("1 resource deleted: {} version {}",
                                                 resource_name(type, id), done.version.value)
                                   : fmt::format("1 resource deleted: {} with all {} versions",
                                                 resource_name(type, id), done.versions_erased);
}

// Submits the deletion and answers once it is durable, or why it is refused; none once what stood in its way has
// settled and it can be decided again. Lifetime: `id` and `guards` outlive the await.
asio::awaitable<std::optional<Response>> commit_deletion(const Service& service,
                                                         const Request& request, Deletion deletion,
                                                         TypeId type, std::string_view id,
                                                         VersionNumber expected,
                                                         std::span<const storage::Guard> guards) {
    const Submitted done = submit(service, deletion, type, id, expected, guards);
    if (done.submission.status != Status::accepted) {
        const std::optional<Error> refusal =
            co_await settle_refusal(*request.loop, done.submission);
        if (refusal) {
            co_return outcome_response(*refusal, request);
        }
        co_return std::nullopt;
    }
    const Result<void> durable = co_await request.loop->settled_ticket(done.submission.ticket);
    if (!durable) {
        co_return outcome_response(durable.error(), request);
    }
    Response response = answer_done(request, describe(done, type, id));
    if (done.version.value != 0) {
        set_version(response, done.version, done.submission.instant);
    }
    co_return response;
}

}  // namespace

asio::awaitable<Response> delete_resource(const Service& service, const Request& request,
                                          const Target& target) {
    if (const Result<void> fit = check_no_body(request); !fit) {
        co_return outcome_response(fit.error(), request);
    }
    const auto match = read_entity_tags(request, "If-Match");
    if (!match) {
        co_return outcome_response(match.error(), request);
    }

    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        const Head head = service.store().head(target.type, target.id);
        const Deletion deletion = decide(service.config(), *match, target.type, target.id, head);
        if (deletion.refusal || deletion.kind == Deletion::Kind::nothing) {
            const Result<void> durable = co_await request.loop->settled_ticket(head.ticket);
            if (!durable) {
                continue;
            }
            if (deletion.refusal) {
                co_return outcome_response(*deletion.refusal, request);
            }
            Response response = answer_done(
                request, fmt::format("{} {}", resource_name(target.type, target.id),
                                     head.exists ? "was deleted before" : "does not exist"));
            if (head.exists) {
                set_version(response, head.version, head.instant);
            }
            co_return response;
        }

        std::optional<Response> response = co_await commit_deletion(
            service, request, deletion, target.type, target.id, head.version, {});
        if (response) {
            co_return *std::move(response);
        }
    }
    co_return outcome_response(too_many_attempts(), request);
}

asio::awaitable<Response> conditional_delete(const Service& service, const Request& request,
                                             const Target& target) {
    if (const Result<void> fit = check_no_body(request); !fit) {
        co_return outcome_response(fit.error(), request);
    }
    const Result<Criteria> criteria = parse_criteria(target.type, request.query);
    if (!criteria) {
        co_return outcome_response(criteria.error(), request);
    }
    const auto match = read_entity_tags(request, "If-Match");
    if (!match) {
        co_return outcome_response(match.error(), request);
    }

    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        const Result<CriteriaMatches> matches = find_matches(service.store(), *criteria);
        if (!matches) {
            co_return outcome_response(matches.error(), request);
        }
        if (matches->pending.value != 0) {
            const Result<void> settled = co_await request.loop->settled_ticket(matches->pending);
            static_cast<void>(settled);
            continue;
        }
        if (matches->found.empty()) {
            co_return answer_done(request, "Nothing matches: nothing deleted");
        }
        if (matches->found.size() > 1) {
            co_return outcome_response(several_matches(*criteria, matches->found.size()), request);
        }

        const storage::StoredVersion& found = matches->found.front();
        if (*match && !(*match)->any && !(*match)->names(found.info.version)) {
            co_return outcome_response(match_failed(**match, found.info.version), request);
        }
        Deletion deletion;
        deletion.kind = service.config().hard_delete ? Deletion::Kind::hard : Deletion::Kind::soft;
        // The criteria were seen to hold for this version and no other.
        deletion.expect = Expect::version;
        std::optional<Response> response = co_await commit_deletion(
            service, request, deletion, target.type, found.id, found.info.version, matches->guards);
        if (response) {
            co_return *std::move(response);
        }
    }
    co_return outcome_response(too_many_attempts(), request);
}

}  // namespace annals::core
