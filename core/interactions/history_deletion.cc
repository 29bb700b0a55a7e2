#include "core/interactions/history_deletion.h"

#include "core/interactions/answer.h"
#include "core/interactions/delete.h"
#include "core/interactions/negotiation.h"
#include "core/interactions/preconditions.h"
#include "core/interactions/vread.h"
#include "core/interactions/write.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

using storage::Erase;
using storage::Head;
using storage::Submission;
using Status = storage::Submission::Status;

Error not_there(const Target& target) {
    return target.level == Level::version ? no_such_version(target.type, target.id, target.version)
                                          : no_such_resource(target.type, target.id);
}

Error is_current(const Target& target) {
    return {Errc::still_current,
            fmt::format("Version {} is the current one of {}: delete the resource instead",
                        target.version, resource_name(target.type, target.id))};
}

/// Whether there are versions besides the newest one, a deletion, without which they would come back to life.
bool has_others(const Service& service, const Target& target) {
    storage::HistoryQuery query;
    query.type = target.type;
    query.id = target.id;
    return service.store().history(query).total > 1;
}

/// Writes the deletion again, as the next version. Otherwise the resource would come back to life in every replica,
/// since these learn of deletions only by their versions. False: another writer was faster.
asio::awaitable<Result<bool>> delete_again(const Service& service, const Request& request,
                                           const Target& target, const Head& head) {
    storage::VersionWrite write;
    write.type = target.type;
    write.id = target.id;
    write.method = storage::Method::deletion;
    write.deletion = true;
    write.expect = storage::Expect::version;
    write.expected_version = head.version;
    storage::Commit commit;
    commit.writes = std::span(&write, 1);
    commit.request = request.client_request_id;
    const Submission submission = service.store().submit(commit);
    if (submission.status != Status::accepted) {
        std::optional<Error> error = co_await settle_refusal(*request.loop, submission);
        if (error) {
            co_return *std::move(error);
        }
        co_return false;
    }
    Result<void> durable = co_await request.loop->settled_ticket(submission.ticket);
    if (!durable) {
        co_return std::move(durable.error());
    }
    co_return true;
}

/// Why nothing may be erased of the resource, whose newest version is `head`.
std::optional<Error> refusal_of(const Target& target, Erase::Scope scope, VersionNumber version,
                                const Preconditions& conditions, const Head& head) {
    if (!head.exists) {
        return not_there(target);
    }
    if (Result<void> fit = check_preconditions(conditions, target.type, target.id, head); !fit) {
        return std::move(fit.error());
    }
    if (scope == Erase::Scope::version && !head.deletion && head.version == version) {
        return is_current(target);
    }
    return std::nullopt;
}

// Submits the erasure until the store accepts it. Returns the number of versions once it is durable and no byte is left.
asio::awaitable<Result<std::uint64_t>> erase_versions(const Service& service,
                                                      const Request& request, const Target& target,
                                                      Erase::Scope scope, VersionNumber version) {
    const Result<Preconditions> conditions = read_preconditions(request);
    if (!conditions) {
        co_return conditions.error();
    }
    bool met = false;  // preconditions were met by the deletion that was written again since
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        const Head head = service.store().head(target.type, target.id);
        std::optional<Error> refusal =
            refusal_of(target, scope, version, met ? Preconditions() : *conditions, head);
        if (refusal) {
            const Result<void> durable = co_await request.loop->settled_ticket(head.ticket);
            if (!durable) {
                continue;
            }
            co_return *std::move(refusal);
        }
        if (scope == Erase::Scope::version && head.version == version) {
            if (head.ticket.value != 0 || has_others(service, target)) {
                const Result<bool> written = co_await delete_again(service, request, target, head);
                if (!written) {
                    co_return written.error();
                }
                met = *written;
                continue;
            }
            scope = Erase::Scope::all_but_current;  // leaves nothing of a deleted resource
        }

        Erase erase;
        erase.type = target.type;
        erase.id = target.id;
        erase.scope = scope;
        erase.version = version;
        erase.expect = storage::Expect::version;
        erase.expected_version = head.version;
        storage::Commit commit;
        commit.erases = std::span(&erase, 1);
        const Submission submission = service.store().submit(commit);
        if (submission.status == Status::version_unknown) {
            co_return not_there(target);
        }
        if (submission.status != Status::accepted) {
            std::optional<Error> error = co_await settle_refusal(*request.loop, submission);
            if (error) {
                co_return *std::move(error);
            }
            continue;
        }

        // Nothing to erase: the request may repeat one whose bytes are still there.
        Result<void> done;
        if (submission.ticket.value == 0) {
            done = co_await request.loop->all_erased();
        } else {
            done = co_await request.loop->erased_ticket(submission.ticket);
        }
        if (!done) {
            co_return std::move(done.error());
        }
        co_return erase.outcome.versions_erased;
    }
    co_return too_many_attempts();
}

asio::awaitable<Response> answer_deletion(const Service& service, const Request& request,
                                          const Target& target, Erase::Scope scope,
                                          VersionNumber version) {
    if (const Result<void> fit = check_no_body(request); !fit) {
        co_return fit.error();
    }
    const Result<std::uint64_t> erased =
        co_await erase_versions(service, request, target, scope, version);
    if (!erased) {
        co_return erased.error();
    }
    Response response;
    response.status = 204;
    response.position = service.store().last_position();
    if (read_preference(request).return_form == Preference::Return::operation_outcome) {
        response.status = 200;
        response.body = Body(
            information(fmt::format("{} version{} removed: {}", *erased, *erased == 1 ? "" : "s",
                                    resource_name(target.type, target.id))));
    }
    co_return response;
}

}  // namespace

bool hard_delete_on(const Config& config) {
    return config.hard_delete;
}

asio::awaitable<Response> delete_version(const Service& service, const Request& request,
                                         const Target& target) {
    const std::optional<VersionNumber> number = read_version_number(target.version);
    if (!number) {
        co_return not_there(target);
    }
    Response response =
        co_await answer_deletion(service, request, target, Erase::Scope::version, *number);
    co_return response;
}

asio::awaitable<Response> delete_history(const Service& service, const Request& request,
                                         const Target& target) {
    return answer_deletion(service, request, target, Erase::Scope::all_but_current, {});
}

asio::awaitable<Result<std::uint64_t>> erase_history(const Service& service, const Request& request,
                                                     const Target& target) {
    return erase_versions(service, request, target, Erase::Scope::all_but_current, {});
}

}  // namespace annals::core
