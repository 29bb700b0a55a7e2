#include "core/interactions/update.h"

#include "core/base/random.h"
#include "core/interactions/answer.h"
#include "core/interactions/criteria.h"
#include "core/interactions/preconditions.h"
#include "core/interactions/submitted_resource.h"
#include "core/interactions/write.h"
#include "core/scoped_view.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

using storage::Expect;
using storage::Head;

// Whether a PUT may create. Not with restricted scopes: it would reveal whether a resource exists that the sender can't see.
bool creates(const Service& service, const ScopedView& view) {
    return service.config().update_create && view.is_whole();
}

// Whether the write depends on what there is. If not, the store need not expect anything.
bool needs_head(const Service& service, const ScopedView& view, const Preconditions& conditions) {
    return !conditions.none() || !creates(service, view);
}

// Sets what the store must expect, by `head`; or returns why the write must be refused.
Result<void> decide(bool creates, const Preconditions& conditions, TypeId type, std::string_view id,
                    const Head& head, storage::VersionWrite& write) {
    ANNALS_TRY_VOID(check_preconditions(conditions, type, id, head));
    if (!head.exists && !creates) {
        return Error{Errc::not_found, fmt::format("{} does not exist, and update_create is off",
                                                  resource_name(type, id))};
    }
    write.expect = head.exists ? Expect::version : Expect::absent;
    write.expected_version = head.version;
    return {};
}

Error differing_id(TypeId type, std::string_view body_id, std::string_view wanted) {
    return {Errc::invalid, fmt::format("The body's id is '{}', expected '{}'", body_id, wanted),
            fmt::format("{}.id", resource_type_name(type))};
}

Result<void> check_update(const SubmittedResource& resource, const Target& target) {
    ANNALS_TRY_VOID(resource.check_whole());
    if (!resource.id()) {
        return Error{Errc::required, fmt::format("The body has no id, expected '{}'", target.id),
                     fmt::format("{}.id", resource_type_name(target.type))};
    }
    if (*resource.id() != target.id) {
        return differing_id(target.type, *resource.id(), target.id);
    }
    return {};
}

storage::VersionWrite write_of(const Target& target) {
    storage::VersionWrite write;
    write.type = target.type;
    write.id = target.id;
    write.method = storage::Method::put;
    write.expect = Expect::anything;
    return write;
}

}  // namespace

asio::awaitable<Response> update(const Service& service, const Request& request,
                                 const Target& target) {
    const Result<Preconditions> conditions = read_preconditions(request);
    if (!conditions) {
        co_return conditions.error();
    }
    SubmittedResource resource;
    Result<void> fit = co_await resource.read_by_turns(service, request, target.type);
    if (!fit) {
        co_return fit.error();
    }
    fit = check_update(resource, target);
    if (!fit) {
        co_return fit.error();
    }

    const ScopedView view(service, request, kMayUpdate);
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        storage::VersionWrite write = write_of(target);
        if (needs_head(service, view, *conditions)) {
            const std::optional<Head> head =
                co_await newest_shown(service, request, view, target.type, target.id);
            if (!head) {
                continue;
            }
            const Result<void> decided =
                decide(creates(service, view), *conditions, target.type, target.id, *head, write);
            if (!decided) {
                // A refusal may mention a version, which must not disappear in a power failure.
                const Result<void> durable = co_await request.loop->settled_ticket(head->ticket);
                if (!durable) {
                    continue;
                }
                co_return decided.error();
            }
        }

        std::optional<Response> response =
            co_await commit_resource(service, request, resource, write);
        if (response) {
            co_return *std::move(response);
        }
    }
    co_return too_many_attempts();
}

std::optional<Response> update_early(const Service& service, const Request& request,
                                     const Target& target) {
    const Result<Preconditions> conditions = read_preconditions(request);
    const ScopedView view(service, request, kMayUpdate);
    if (!conditions || !view.is_whole() || !is_answered_early(service, request)) {
        return std::nullopt;
    }
    storage::VersionWrite write = write_of(target);
    // Before the body is read: for a refusal, update() parses it.
    if (needs_head(service, view, *conditions)) {
        const Head head = service.store().head(target.type, target.id);
        if (!decide(creates(service, view), *conditions, target.type, target.id, head, write)) {
            return std::nullopt;  // the refusal must wait until that head is durable
        }
    }
    SubmittedResource resource;
    Result<void> fit = resource.read_early(service, request, target.type);
    if (resource.is_unfinished()) {
        return std::nullopt;
    }
    if (fit) {
        fit = check_update(resource, target);
    }
    if (!fit) {
        return fit.error();
    }
    return commit_early(service, request, resource, write);
}

namespace {

// The decision on a conditional update, once its matches are known.
struct ConditionalWrite {
    std::string id;
    storage::VersionWrite write;
    storage::Ticket head_ticket;  // of the version that a refusal mentions
    std::optional<Error> refusal;
    bool again = false;  // to be decided again once `head_ticket` has settled

    void refuse_unless(Result<void> fit) {
        if (!fit) {
            refusal = std::move(fit.error());
        }
    }
};

// There is one match, which is to be replaced.
void replace_found(const Service& service, const ScopedView& view, const Preconditions& conditions,
                   const storage::StoredVersion& found, std::optional<std::string_view> body_id,
                   ConditionalWrite& out) {
    const TypeId type = found.info.type;
    out.id = found.id;
    if (!view.shows(found.info)) {
        out.refusal = beyond_scopes(kMayUpdate, type);
    } else if (body_id && *body_id != out.id) {
        out.refusal = differing_id(type, *body_id, out.id);
    } else {
        // The criteria are known to hold only for this version.
        out.refuse_unless(decide(creates(service, view), conditions, type, out.id,
                                 head_of(found.info), out.write));
    }
}

// Nothing matches, and the body has an id: of a resource to be created, or of one that does not match.
void write_named(const Service& service, const ScopedView& view, const Preconditions& conditions,
                 Position as_of, std::string_view id, ConditionalWrite& out) {
    const TypeId type = out.write.type;
    if (!is_resource_id(id)) {
        out.refusal = Error{Errc::value, fmt::format("'{}' is not a valid id", id),
                            fmt::format("{}.id", resource_type_name(type))};
        return;
    }
    out.id = id;
    Head head = service.store().head(type, out.id);
    out.head_ticket = head.ticket;
    if (!view.is_whole() && head.ticket.value != 0) {
        out.again = true;
        return;
    }
    head = view.shown(type, out.id, head);
    if (head.is_live()) {
        // A version written after the search may match.
        out.again = head.position > as_of;
        out.refusal = Error{Errc::conflict, fmt::format("{} exists and does not match the criteria",
                                                        resource_name(type, out.id))};
        return;
    }
    out.refuse_unless(decide(creates(service, view), conditions, type, out.id, head, out.write));
}

ConditionalWrite decide_conditional(const Service& service, const Request& request,
                                    const ScopedView& view, const Preconditions& conditions,
                                    const Criteria& criteria, const CriteriaMatches& matches,
                                    std::optional<std::string_view> body_id) {
    ConditionalWrite out;
    const TypeId type = criteria.type;
    out.write.type = type;
    out.write.method = storage::Method::put;

    if (matches.more) {
        out.refusal = several_matches(criteria, matches.count);
    } else if (!matches.found.empty()) {
        replace_found(service, view, conditions, matches.found.front(), body_id, out);
    } else if (Result<void> may = require(service, request, kMayCreate, type, Extent::part); !may) {
        out.refusal = std::move(may.error());
    } else if (body_id) {
        write_named(service, view, conditions, matches.as_of, *body_id, out);
    } else {
        out.id = make_uuid();
        out.write.method = storage::Method::post;
        out.write.expect = Expect::absent;
        out.refuse_unless(check_preconditions(conditions, type, out.id, Head()));
    }
    return out;
}

}  // namespace

asio::awaitable<Response> conditional_update(const Service& service, const Request& request,
                                             const Target& target) {
    const Result<Criteria> criteria =
        co_await read_criteria(service, request, target.type, request.query);
    if (!criteria) {
        co_return criteria.error();
    }
    const Result<Preconditions> conditions = read_preconditions(request);
    if (!conditions) {
        co_return conditions.error();
    }
    SubmittedResource resource;
    Result<void> fit = co_await resource.read_by_turns(service, request, target.type);
    if (!fit) {
        co_return fit.error();
    }
    fit = resource.check_whole();
    if (!fit) {
        co_return fit.error();
    }

    const ScopedView view(service, request, kMayUpdate);
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        const Result<CriteriaMatches> matches =
            co_await find_matches(service, *request.loop, *criteria);
        if (!matches) {
            co_return matches.error();
        }
        if (!view.is_whole() && matches->found.empty() && resource.id()) {
            co_await fetch_newest(service, request, target.type, *resource.id());
        }
        ConditionalWrite decided = decide_conditional(service, request, view, *conditions,
                                                      *criteria, *matches, resource.id());
        if (decided.refusal || decided.again) {
            const Result<void> durable = co_await request.loop->settled_ticket(decided.head_ticket);
            if (!durable || decided.again) {
                continue;
            }
            co_return *decided.refusal;
        }

        decided.write.id = decided.id;
        std::optional<Response> response =
            co_await commit_resource(service, request, resource, decided.write, matches->guards);
        if (response) {
            co_return *std::move(response);
        }
    }
    co_return too_many_attempts();
}

}  // namespace annals::core
