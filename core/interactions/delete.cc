#include "core/interactions/delete.h"

#include "core/interactions/answer.h"
#include "core/interactions/criteria.h"
#include "core/interactions/negotiation.h"
#include "core/interactions/preconditions.h"
#include "core/interactions/referrers.h"
#include "core/interactions/turns.h"
#include "core/interactions/write.h"
#include "core/scoped_view.h"

#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

namespace annals::core {

namespace {

using storage::Expect;
using storage::Head;
using storage::Submission;
using Status = storage::Submission::Status;

// `outcome` makes the text, if one is asked for.
template <typename Outcome>
Response answer_done(const Request& request, const Outcome& outcome) {
    Response response;
    if (read_preference(request).return_form == Preference::Return::operation_outcome) {
        response.body = Body(information(outcome()));
    } else {
        response.status = 204;
    }
    return response;
}

// The decision on the deletion of one resource.
struct Deletion {
    bool nothing = true;  // there is nothing to do
    bool live = false;
    std::optional<Error> refusal;
};

Deletion decide(const Config& config, const Preconditions& conditions, TypeId type,
                std::string_view id, const Head& head) {
    Deletion deletion;
    if (!head.exists) {
        if (conditions.match || config.delete_absent == 404) {
            deletion.refusal = no_such_resource(type, id);
        }
        return deletion;
    }
    // Deleting a deleted resource succeeds whatever the conditions (RFC 9110 13.1.1): the answer to the first attempt
    // may have been lost. A hard deletion of it is not a repetition and must meet them.
    if (head.deletion && !config.hard_delete) {
        return deletion;
    }
    if (Result<void> fit = check_preconditions(conditions, type, id, head); !fit) {
        deletion.refusal = std::move(fit.error());
        return deletion;
    }
    deletion.nothing = false;
    deletion.live = !head.deletion;
    return deletion;
}

/// As check_erased(), for one resource, of which perhaps nothing was ever erased.
asio::awaitable<Result<void>> check_resource_erased(const Service& service, const Request& request,
                                                    const Target& target) {
    const Head head = service.store().head(target.type, target.id);
    if (head.exists || head.erased_through.value == 0) {
        co_return Result<void>();
    }
    co_return co_await check_erased(service, request);
}

/// A resource to be deleted, and its current version.
struct Doomed {
    std::string_view id;
    VersionNumber version;
};

// The result of a submitted deletion.
struct Submitted {
    Submission submission;
    VersionNumber version;  // of the deletion version, if one resource was deleted softly
    Position position;      // of the last deletion version; 0 if all were erased
    std::uint64_t versions_erased = 0;
};

// Deletes all of them in one commit.
Submitted submit(const Service& service, TypeId type, std::span<const Doomed> all,
                 std::span<const storage::Guard> guards, std::string_view client_request_id) {
    Submitted done;
    storage::Commit commit;
    commit.request = client_request_id;
    commit.guards = guards;
    std::vector<storage::Erase> erases;
    std::vector<storage::VersionWrite> writes;
    for (const Doomed& one : all) {
        if (service.config().hard_delete) {
            storage::Erase& erase = erases.emplace_back();
            erase.type = type;
            erase.id = one.id;
            erase.scope = storage::Erase::Scope::everything;
            erase.expect = Expect::version;
            erase.expected_version = one.version;
        } else {
            storage::VersionWrite& write = writes.emplace_back();
            write.type = type;
            write.id = one.id;
            write.method = storage::Method::deletion;
            write.deletion = true;
            write.expect = Expect::version;
            write.expected_version = one.version;
        }
    }
    commit.erases = erases;
    commit.writes = writes;
    done.submission = service.store().submit(commit);
    for (const storage::Erase& erase : erases) {
        done.versions_erased += erase.outcome.versions_erased;
    }
    if (!writes.empty()) {
        done.position = writes.back().outcome.position;
    }
    if (writes.size() == 1) {
        done.version = writes.front().outcome.version;
    }
    return done;
}

std::string describe(const Submitted& done, TypeId type, std::string_view first,
                     std::size_t count) {
    if (count > 1) {
        return fmt::format("{} resources deleted", count);
    }
    return describe_deletion(type, first, done.version, done.versions_erased);
}

// The answer once it is durable, for `count` resources, among them `first`.
Response answer_of(const Service& service, const Request& request, TypeId type,
                   std::string_view first, std::size_t count, const Submitted& done) {
    Response response = answer_done(request, [&] { return describe(done, type, first, count); });
    if (done.version.value != 0) {
        set_version(response, done.version, done.submission.instant);
    }
    response.position = done.position.value != 0 ? done.position : service.store().last_position();
    return response;
}

// Lifetime: `first` outlives the await.
asio::awaitable<Response> answer_durable(const Service& service, const Request& request,
                                         TypeId type, std::string_view first, std::size_t count,
                                         Submitted done) {
    Result<void> durable;
    if (done.versions_erased > 0) {
        durable = co_await request.loop->erased_ticket(done.submission.ticket);
    } else {
        durable = co_await request.loop->settled_ticket(done.submission.ticket);
    }
    if (!durable) {
        co_return durable.error();
    }
    co_return answer_of(service, request, type, first, count, done);
}

// Submits the deletion and answers once it is durable, or with the refusal; none once a conflicting commit has settled and it
// can be decided again. `referrers` knows the live ones of `all`. Lifetime: `all` and `referrers` outlive the await.
asio::awaitable<std::optional<Response>> commit_deletion(const Service& service,
                                                         const Request& request, TypeId type,
                                                         std::span<const Doomed> all,
                                                         Referrers& referrers,
                                                         std::vector<storage::Guard> guards) {
    const Result<void> free = co_await referrers.check();
    if (!free) {
        co_return free.error();
    }
    referrers.guard(guards);
    const Submitted done = submit(service, type, all, guards, request.client_request_id);
    if (done.submission.status != Status::accepted) {
        const std::optional<Error> refusal =
            co_await settle_refusal(*request.loop, done.submission);
        if (refusal) {
            co_return *refusal;
        }
        co_return std::nullopt;
    }
    co_return co_await answer_durable(service, request, type, all.front().id, all.size(), done);
}

}  // namespace

asio::awaitable<Result<void>> check_erased(const Service& service, const Request& request) {
    if (!service.config().hard_delete) {
        co_return Result<void>();
    }
    co_return co_await request.loop->all_erased();
}

asio::awaitable<Response> delete_resource(const Service& service, const Request& request,
                                          const Target& target) {
    if (const Result<void> fit = check_no_body(request); !fit) {
        co_return fit.error();
    }
    const Result<Preconditions> conditions = read_preconditions(request);
    if (!conditions) {
        co_return conditions.error();
    }

    const ScopedView view(service, request, kMayDelete);
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        const std::optional<Head> head =
            co_await newest_shown(service, request, view, target.type, target.id);
        if (!head) {
            continue;
        }
        const Deletion deletion =
            decide(service.config(), *conditions, target.type, target.id, *head);
        if (deletion.refusal || deletion.nothing) {
            const Result<void> durable = co_await request.loop->settled_ticket(head->ticket);
            if (!durable) {
                continue;
            }
            const Result<void> erased = co_await check_resource_erased(service, request, target);
            if (!erased) {
                co_return erased.error();
            }
            if (deletion.refusal) {
                co_return *deletion.refusal;
            }
            const Result<void> lasts = check_nothing_to_write(service);
            if (!lasts) {
                co_return lasts.error();
            }
            Response response = answer_done(
                request, [&] { return describe_no_deletion(target.type, target.id, *head); });
            if (head->exists) {
                set_version(response, head->version, head->instant);
            }
            co_return response;
        }

        const Doomed doomed{target.id, head->version};
        Referrers referrers(service, request);
        if (deletion.live) {
            referrers.add_deleted(target.type, target.id);
        }
        std::optional<Response> response = co_await commit_deletion(
            service, request, target.type, std::span(&doomed, 1), referrers, {});
        if (response) {
            co_return *std::move(response);
        }
    }
    co_return too_many_attempts();
}

Result<void> check_no_body(const Request& request) {
    if (!request.body.empty()) {
        return Error{Errc::invalid, "DELETE must not have a body"};
    }
    return {};
}

std::string describe_deletion(TypeId type, std::string_view id, VersionNumber version,
                              std::uint64_t versions_erased) {
    const std::string name = resource_name(type, id);
    if (version.value != 0) {
        return fmt::format("1 resource deleted: {} version {}", name, version.value);
    }
    return versions_erased == 1
               ? fmt::format("1 resource deleted: {} with its only version", name)
               : fmt::format("1 resource deleted: {} with all {} versions", name, versions_erased);
}

std::string describe_no_deletion(TypeId type, std::string_view id, const Head& head) {
    return fmt::format("{} {}", resource_name(type, id),
                       head.exists ? "was already deleted" : "does not exist");
}

std::optional<Response> delete_early(const Service& service, const Request& request,
                                     const Target& target) {
    const Result<Preconditions> conditions = read_preconditions(request);
    if (!conditions || !request.body.empty() || service.config().hard_delete ||
        service.config().integrity_on_delete || is_restricted(request)) {
        return std::nullopt;
    }
    const Head head = service.store().head(target.type, target.id);
    const Deletion deletion = decide(service.config(), *conditions, target.type, target.id, head);
    if (deletion.refusal || deletion.nothing) {
        return std::nullopt;
    }
    const Doomed doomed{target.id, head.version};
    const Submitted done =
        submit(service, target.type, std::span(&doomed, 1), {}, request.client_request_id);
    if (done.submission.status != Status::accepted) {
        return std::nullopt;
    }
    Response response = answer_of(service, request, target.type, target.id, 1, done);
    response.unsettled = done.submission.ticket;
    return response;
}

namespace {

// The error for more matches than may be deleted at once.
Error more_than(std::size_t limit, TypeId type) {
    return {Errc::multiple_matches,
            fmt::format("more than {} {} resources match, which is the most that one request may "
                        "delete: nothing was deleted",
                        limit, resource_type_name(type))};
}

// Checks that the sender may delete all of them and that they meet the preconditions. Lifetime: the arguments outlive
// the await.
asio::awaitable<Result<void>> check_found(const ScopedView& view, const Preconditions& conditions,
                                          std::span<const storage::StoredVersion> all,
                                          Turns& turns) {
    for (const storage::StoredVersion& found : all) {
        if (turns.pace().is_over()) {
            Result<void> in_time = co_await turns.next();
            if (!in_time) {
                co_return in_time;
            }
        }
        const TypeId type = found.info.type;
        if (!view.shows(found.info)) {
            co_return beyond_scopes(kMayDelete, type);
        }
        Result<void> fit = check_preconditions(conditions, type, found.id, head_of(found.info));
        if (!fit) {
            co_return fit;
        }
    }
    co_return Result<void>();
}

}  // namespace

asio::awaitable<Response> conditional_delete(const Service& service, const Request& request,
                                             const Target& target) {
    if (const Result<void> fit = check_no_body(request); !fit) {
        co_return fit.error();
    }
    const Result<Criteria> criteria =
        co_await read_criteria(service, request, target.type, request.query);
    if (!criteria) {
        co_return criteria.error();
    }
    const Result<Preconditions> conditions = read_preconditions(request);
    if (!conditions) {
        co_return conditions.error();
    }
    // If-Match makes sense only for a single match.
    const bool several = service.config().conditional_delete == "multiple" && !conditions->match;
    const std::size_t limit = several ? service.config().conditional_delete_max : 1;

    const ScopedView view(service, request, kMayDelete);
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        Result<CriteriaMatches> matches =
            co_await find_matches(service, *request.loop, *criteria, limit);
        if (!matches) {
            co_return matches.error();
        }
        if (matches->found.empty()) {
            const Result<void> lasts = check_nothing_to_write(service);
            if (!lasts) {
                co_return lasts.error();
            }
            const Result<void> erased = co_await check_erased(service, request);
            if (!erased) {
                co_return erased.error();
            }
            co_return answer_done(request, [] { return kNothingMatched; });
        }
        if (matches->more) {
            co_return several ? more_than(limit, target.type)
                              : several_matches(*criteria, matches->count);
        }
        // Scopes are checked for each of them.
        Turns turns(*request.loop, service.config().limits.request_timeout);
        const Result<void> fit = co_await check_found(view, *conditions, matches->found, turns);
        if (!fit) {
            co_return fit.error();
        }
        // The criteria are known to hold only for these versions.
        std::vector<Doomed> all;
        std::vector<std::string> ids;
        ids.reserve(matches->found.size());
        Referrers referrers(service, request);
        for (const storage::StoredVersion& found : matches->found) {
            all.push_back({ids.emplace_back(found.id), found.info.version});
            referrers.add_deleted(target.type, found.id);
        }
        // An erasure waits until nobody holds the bytes.
        matches->found.clear();
        std::optional<Response> response = co_await commit_deletion(
            service, request, target.type, all, referrers, matches->guards);
        if (response && service.config().audited()) {
            for (const Doomed& one : all) {
                response->entries.push_back(
                    {HttpMethod::delete_, response->status, resource_name(target.type, one.id)});
            }
        }
        if (response) {
            co_return *std::move(response);
        }
    }
    co_return too_many_attempts();
}

}  // namespace annals::core
