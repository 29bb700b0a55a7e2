#include "core/interactions/rewrite.h"

#include "core/interactions/answer.h"
#include "core/interactions/patch_document.h"
#include "core/interactions/preconditions.h"
#include "core/interactions/submitted_resource.h"
#include "core/interactions/write.h"
#include "core/scoped_view.h"
#include "core/subscriptions/subscriber.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

/// How often a rewrite waits for other writers of its resource before it answers 503. A wait costs only an index
/// look-up, so that many clients may rewrite one resource at a time, in the order of their arrival.
constexpr int kWaitsMax = 1 << 14;

/// How often it is applied in vain: only another loop, or a write that is not a rewrite, can be faster.
constexpr int kAppliedMax = 1 << 10;

/// How often the worker makes or checks it: that may take long, and any write meanwhile makes it useless.
constexpr int kChecksMax = 16;

/// The version that the next one is computed from, or why there is none.
struct Base {
    storage::StoredVersion version;
    std::vector<storage::Guard> guards;
    storage::Ticket pending;  // not 0: a newer version is being committed
    std::optional<Response> refusal;
};

asio::awaitable<Base> find_by_id(const Service& service, const Request& request,
                                 const Rewrite& rewrite) {
    Base base;
    base.pending = service.store().head(rewrite.type, rewrite.id).ticket;
    if (base.pending.value != 0) {
        co_return base;
    }
    const auto info = service.store().current(rewrite.type, rewrite.id);
    if (info) {
        co_await fetch_version(service, request, rewrite.id, *info);
    }
    if (!info || !ScopedView(service, request, kMayUpdate).shows(*info)) {
        base.refusal = no_such_resource(rewrite.type, rewrite.id);
    } else if (info->deletion && !rewrite.deleted_too) {
        base.refusal = answer_deleted(service, rewrite.id, *info);
    } else if (auto stored = service.store().load(*info)) {
        base.version = *std::move(stored);
    } else {
        base.refusal = stored.error();
    }
    co_return base;
}

asio::awaitable<Base> find_by_criteria(const Service& service, const Request& request,
                                       const Criteria& criteria) {
    Base base;
    Result<CriteriaMatches> matches = co_await find_matches(service, *request.loop, criteria);
    if (!matches) {
        base.refusal = matches.error();
        co_return base;
    }
    if (matches->found.empty()) {
        base.refusal = Error{Errc::not_found, fmt::format("No {} matches the criteria",
                                                          resource_type_name(criteria.type))};
    } else if (matches->more) {
        base.refusal = several_matches(criteria, matches->count);
    } else if (!ScopedView(service, request, kMayUpdate).shows(matches->found.front().info)) {
        base.refusal = beyond_scopes(kMayUpdate, criteria.type);
    } else {
        base.version = std::move(matches->found.front());
        base.guards = std::move(matches->guards);
        base.pending = service.store().head(criteria.type, base.version.id).ticket;
    }
    co_return base;
}

/// Makes `resource` from the base; false if there is no new version. `unfinished`: as for SubmittedResource::take().
/// Errors: those returned to the client.
Result<bool> make(const Service& service, const Request& request, const Rewrite& rewrite,
                  const storage::StoredVersion& base, SubmittedResource& resource,
                  Unfinished& unfinished) {
    ANNALS_TRY(std::optional<json::Document> next, rewrite.make(base, unfinished));
    if (!next) {
        return false;
    }
    const json::Value made = next->root();
    if (Result<void> fit =
            resource.take(service, request, base.info.type, *std::move(next), &unfinished);
        !fit) {
        return fault_of_patched(std::move(fit.error()));
    }
    ANNALS_TRY_VOID(check_subscriber(service, request, made, unfinished.positions()));
    return true;
}

}  // namespace

asio::awaitable<Response> rewrite_resource(const Service& service, const Request& request,
                                           const Rewrite& rewrite) {
    const Result<Preconditions> conditions = read_preconditions(request);
    if (!conditions) {
        co_return conditions.error();
    }
    Unfinished unfinished;
    int applied_in_vain = 0;
    int checks = 0;
    for (int tries = 0; tries < kWaitsMax && applied_in_vain < kAppliedMax; ++tries) {
        Base base;
        if (rewrite.criteria != nullptr) {
            base = co_await find_by_criteria(service, request, *rewrite.criteria);
        } else {
            base = co_await find_by_id(service, request, rewrite);
        }
        if (base.pending.value != 0) {
            // Whether it was committed or dropped, the next attempt sees the result.
            const Result<void> settled = co_await request.loop->settled_ticket(base.pending);
            static_cast<void>(settled);
            continue;
        }
        if (base.refusal) {
            co_return *std::move(base.refusal);
        }
        const storage::VersionInfo& info = base.version.info;
        if (const Result<void> fit =
                check_preconditions(*conditions, info.type, base.version.id, head_of(info));
            !fit) {
            co_return fit.error();
        }
        SubmittedResource resource;
        const Result<bool> made =
            make(service, request, rewrite, base.version, resource, unfinished);
        if (unfinished.any()) {
            if (unfinished.unread.empty() && ++checks > kChecksMax) {
                break;
            }
            // An erasure waits for readers of the base, so none is held meanwhile. Beginning again finds what became of it.
            resource.release();
            base = Base();
            co_await finish(service, *request.loop, unfinished);
            continue;
        }
        if (!made) {
            co_return made.error();
        }
        if (!*made) {
            if (Result<void> lasts = check_nothing_to_write(service); !lasts) {
                co_return std::move(lasts.error());
            }
            Response unchanged;
            set_version(unchanged, info.version, info.instant);
            co_return unchanged;
        }
        storage::VersionWrite write;
        write.type = info.type;
        write.id = base.version.id;
        write.method = rewrite.method;
        write.expect = storage::Expect::version;
        write.expected_version = info.version;
        std::optional<Response> response =
            co_await commit_resource(service, request, resource, write, base.guards);
        if (response) {
            co_return *std::move(response);
        }
        ++applied_in_vain;
    }
    co_return too_many_attempts();
}

}  // namespace annals::core
