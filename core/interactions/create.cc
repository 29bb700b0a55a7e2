#include "core/interactions/create.h"

#include "core/base/random.h"
#include "core/interactions/answer.h"
#include "core/interactions/criteria.h"
#include "core/interactions/write.h"
#include "core/outcome.h"

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
        response.body = Body(information(
            fmt::format("{} matches: nothing created", resource_name(match.info.type, match.id))));
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

asio::awaitable<Response> create_by_turns(const Service& service, const Request& request,
                                          const Target& target) {
    std::optional<Criteria> criteria;
    if (const auto text = request.header("If-None-Exist")) {
        Result<Criteria> parsed = parse_if_none_exist(service, request, target.type, *text);
        if (!parsed) {
            co_return outcome_response(parsed.error(), request);
        }
        criteria = *std::move(parsed);
    }
    SubmittedResource resource;
    if (const Result<void> fit = resource.read(service, request, target.type); !fit) {
        co_return outcome_response(fit.error(), request);
    }

    const std::string id = make_uuid();
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        CriteriaMatches matches;
        if (criteria) {
            Result<CriteriaMatches> found =
                co_await find_matches(service, *request.loop, *criteria);
            if (!found) {
                co_return outcome_response(found.error(), request);
            }
            matches = *std::move(found);
            if (matches.more) {
                co_return outcome_response(several_matches(*criteria, matches.count), request);
            }
            if (matches.found.size() == 1) {
                co_return answer_existing(request, matches.found.front());
            }
        }

        std::optional<Response> response = co_await commit_resource(
            service, request, resource, write_of(target.type, id), matches.guards);
        if (response) {
            co_return *std::move(response);
        }
    }
    co_return outcome_response(too_many_attempts(), request);
}

}  // namespace

std::optional<Response> create_early(const Service& service, const Request& request,
                                     const Target& target) {
    if (request.header("If-None-Exist") || !is_answered_early(service, request)) {
        return std::nullopt;
    }
    SubmittedResource resource;
    if (const Result<void> fit = resource.read(service, request, target.type); !fit) {
        return outcome_response(fit.error(), request);
    }
    const std::string id = make_uuid();
    return commit_early(service, request, resource, write_of(target.type, id));
}

asio::awaitable<Response> create(const Service& service, const Request& request,
                                 const Target& target) {
    if (auto early = create_early(service, request, target)) {
        return answer_settled(request, *std::move(early));
    }
    return create_by_turns(service, request, target);
}

}  // namespace annals::core
