#include "core/interactions/create.h"

#include "core/base/random.h"
#include "core/interactions/answer.h"
#include "core/interactions/criteria.h"
#include "core/interactions/negotiation.h"
#include "core/interactions/preconditions.h"
#include "core/interactions/submitted_resource.h"
#include "core/interactions/write.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

Response answer_existing(const Request& request, const storage::StoredVersion& match) {
    Response response;
    set_version(response, match.info.version, match.info.instant);
    response.location =
        version_url(request.base_url, match.info.type, match.id, match.info.version);
    response.content_location =
        version_path(request.base_url, match.info.type, match.id, match.info.version);
    const Preference::Return form = read_preference(request).return_form;
    if (form == Preference::Return::operation_outcome) {
        response.body = Body(information(describe_match(match.info.type, match.id)));
    } else if (form != Preference::Return::minimal) {
        response.body.append_view(match.body, match.pin);
    }
    return response;
}

storage::VersionWrite write_of(TypeId type, std::string_view id) {
    storage::VersionWrite write;
    write.type = type;
    write.id = id;
    write.method = storage::Method::post;
    write.expect = storage::Expect::absent;
    return write;
}

/// Whether any header may set a condition. A quick check, since most requests have none.
bool may_have_conditions(const Request& request) noexcept {
    for (const Header& header : request.headers) {
        const std::string_view name = header.name;
        if (name.size() > 3 && name[2] == '-' && (name[0] | 0x20) == 'i' &&
            (name[1] | 0x20) == 'f') {
            return true;
        }
    }
    return false;
}

/// The query of If-None-Exist; none without it. Errors: invalid (also a malformed If-Match or If-None-Match, although
/// these don't apply to a resource that doesn't exist yet). Lifetime: that of the request.
Result<std::optional<std::string_view>> read_conditions(const Request& request, TypeId type) {
    constexpr std::string_view kIfNoneExist = "If-None-Exist";
    std::optional<std::string_view> query;
    ANNALS_TRY_VOID(read_preconditions(request));
    for (const Header& header : request.headers) {
        if (!equal_ignoring_case(header.name, kIfNoneExist)) {
            continue;
        }
        if (query) {
            return Error{Errc::invalid, "If-None-Exist is given more than once"};
        }
        ANNALS_TRY(query, query_of_if_none_exist(type, trimmed(header.value)));
    }
    return query;
}

}  // namespace

asio::awaitable<Response> create(const Service& service, const Request& request,
                                 const Target& target) {
    std::optional<Criteria> criteria;
    if (may_have_conditions(request)) {
        const auto query = read_conditions(request, target.type);
        if (!query) {
            co_return query.error();
        }
        if (*query) {
            Result<Criteria> read = co_await read_criteria(service, request, target.type, **query);
            if (!read) {
                co_return std::move(read.error());
            }
            criteria = *std::move(read);
        }
    }
    SubmittedResource resource;
    const Result<void> fit = co_await resource.read_by_turns(service, request, target.type);
    if (!fit) {
        co_return fit.error();
    }

    const std::string id = make_uuid();
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        CriteriaMatches matches;
        if (criteria) {
            Result<CriteriaMatches> found =
                co_await find_matches(service, *request.loop, *criteria);
            if (!found) {
                co_return found.error();
            }
            matches = *std::move(found);
            if (matches.more) {
                co_return several_matches(*criteria, matches.count);
            }
            if (matches.found.size() == 1) {
                if (Result<void> lasts = check_nothing_to_write(service); !lasts) {
                    co_return std::move(lasts.error());
                }
                co_return answer_existing(request, matches.found.front());
            }
        }

        std::optional<Response> response = co_await commit_resource(
            service, request, resource, write_of(target.type, id), matches.guards);
        if (response) {
            co_return *std::move(response);
        }
    }
    co_return too_many_attempts();
}

std::optional<Response> create_early(const Service& service, const Request& request,
                                     const Target& target) {
    if (may_have_conditions(request) || !is_answered_early(service, request)) {
        return std::nullopt;
    }
    SubmittedResource resource;
    const Result<void> fit = resource.read_early(service, request, target.type);
    if (resource.is_unfinished()) {
        return std::nullopt;
    }
    if (!fit) {
        return fit.error();
    }
    const std::string id = make_uuid();
    return commit_early(service, request, resource, write_of(target.type, id));
}

std::string describe_match(TypeId type, std::string_view id) {
    return fmt::format("{} matches: nothing created", resource_name(type, id));
}

}  // namespace annals::core
