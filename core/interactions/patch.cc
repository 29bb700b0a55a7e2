#include "core/interactions/patch.h"

#include "core/interactions/criteria.h"
#include "core/interactions/patch_document.h"
#include "core/interactions/rewrite.h"

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
    rewrite.make =
        [&](const storage::StoredVersion& base) -> Result<std::optional<json::Document>> {
        ANNALS_TRY(json::Document patched, patch.apply(service.config(), base.body));
        return std::optional<json::Document>(std::move(patched));
    };
    Response response = co_await rewrite_resource(service, request, rewrite);
    co_return response;
}

}  // namespace

asio::awaitable<Response> patch_resource(const Service& service, const Request& request,
                                         const Target& target) {
    Response response = co_await run_patch(service, request, target, nullptr);
    co_return response;
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
