#include "core/interactions/patch.h"

#include "core/interactions/criteria.h"
#include "core/interactions/negotiation.h"
#include "core/interactions/patch_document.h"
#include "core/interactions/rewrite.h"
#include "core/loop.h"
#include "core/scoped_view.h"

#include <span>

namespace annals::core {

namespace {

asio::awaitable<Response> run_patch(const Service& service, const Request& request,
                                    const Target& target, const Criteria* criteria) {
    PatchDocument patch;
    if (const Result<void> read = patch.read(request); !read) {
        co_return read.error();
    }
    Rewrite rewrite;
    rewrite.type = target.type;
    rewrite.id = target.id;
    rewrite.criteria = criteria;
    rewrite.method = storage::Method::patch;
    rewrite.make = [&](const storage::StoredVersion& base,
                       Unfinished& unfinished) -> Result<std::optional<json::Document>> {
        ANNALS_TRY(json::Document patched, patch.apply(service.config(), base.body, unfinished));
        return std::optional<json::Document>(std::move(patched));
    };
    Response response = co_await rewrite_resource(service, request, rewrite);
    using enum Preference::Return;
    if (response.position && read_preference(request).return_form != operation_outcome) {
        // What the patch left unchanged was written by somebody else.
        const auto info = service.store().at(*response.position);
        if (info && is_restricted(request)) {
            co_await request.loop->fetched(std::span(&*info, 1));
        }
        if (info && !may_be_told(service, request, *info)) {
            response.body = Body();
        }
    }
    co_return response;
}

}  // namespace

asio::awaitable<Response> patch_resource(const Service& service, const Request& request,
                                         const Target& target) {
    return run_patch(service, request, target, nullptr);
}

asio::awaitable<Response> conditional_patch(const Service& service, const Request& request,
                                            const Target& target) {
    const Result<Criteria> criteria =
        co_await read_criteria(service, request, target.type, request.query);
    if (!criteria) {
        co_return criteria.error();
    }
    Response response = co_await run_patch(service, request, target, &*criteria);
    co_return response;
}

}  // namespace annals::core
