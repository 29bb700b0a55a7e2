#include "core/operations/reindex.h"

#include "core/base/all_resource_types.h"
#include "core/base/sort_unique.h"
#include "core/operations/input.h"
#include "core/operations/parameters_writer.h"
#include "core/operations/under_way.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace annals::core {

namespace {

using search::Indexing;

/// Takes the types that the search parameter with this url applies to.
Result<void> take_url(const search::ParameterSet& parameters, const std::string& url,
                      std::vector<TypeId>& types) {
    bool known = false;
    for (const TypeId type : kAllResourceTypes) {
        for (const search::Parameter& parameter : parameters.of(type)) {
            if (parameter.url == url) {
                types.push_back(type);
                known = true;
                break;
            }
        }
    }
    if (!known) {
        return Error{Errc::not_found, fmt::format("The search parameter {} does not exist", url)};
    }
    return {};
}

/// The types in the request; all if none is named.
Result<std::vector<TypeId>> read_reindexed_types(const Service& service, const Request& request) {
    const auto parameters = service.indexing().parameters();
    std::vector<TypeId> types;
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"type", "url"}));
    ANNALS_TRY(const std::vector<std::string> names, input.texts("type"));
    ANNALS_TRY(const std::vector<std::string> urls, input.texts("url"));
    for (const std::string& name : names) {
        const auto type = find_resource_type(name);
        if (!type) {
            return Error{Errc::invalid, fmt::format("'{}' is not a resource type", name)};
        }
        types.push_back(*type);
    }
    for (const std::string& url : urls) {
        ANNALS_TRY_VOID(take_url(*parameters, url, types));
    }
    if (types.empty()) {
        types.assign(kAllResourceTypes.begin(), kAllResourceTypes.end());
    }
    sort_unique(types);
    return types;
}

Response being_indexed(const Request& request, const Indexing::Progress& progress,
                       std::string_view said) {
    const std::uint64_t share =
        progress.documents == 0 ? 0 : progress.documents_done * 100 / progress.documents;
    return under_way(
        request, "$reindex",
        fmt::format("{}% ({} of {} versions, {} types left)", share, progress.documents_done,
                    progress.documents, progress.types.size()),
        said);
}

/// The response if nothing is left to do, with the SearchParameters that can't be used.
Response done(const Service& service) {
    ParametersWriter out;
    out.add_flag("done", true);
    for (const Error& fault : service.indexing().faults()) {
        out.begin_parts("fault");
        out.add_text("searchParameter", "valueUri", fault.expression);
        out.add_text("diagnostics", "valueString", fault.detail);
        out.end_parts();
    }
    return out.response();
}

}  // namespace

asio::awaitable<Response> reindex_operation(const Service& service, const Request& request,
                                            const Target& /*target*/) {
    Indexing& indexing = service.indexing();
    if (request.method != HttpMethod::post) {
        if (const Result<void> fit = OperationInput::none(request); !fit) {
            co_return fit.error();
        }
        // Includes SearchParameters that no search has used yet: their indexing begins here.
        static_cast<void>(indexing.parameters());
        const Indexing::Progress progress = indexing.progress();
        co_return progress.running ? being_indexed(request, progress, "Being indexed")
                                   : done(service);
    }
    const Result<std::vector<TypeId>> types = read_reindexed_types(service, request);
    if (!types) {
        co_return types.error();
    }
    if (!indexing.reindex(*types)) {
        co_return Error{Errc::conflict, "The store is already being indexed"};
    }
    co_return being_indexed(
        request, indexing.progress(),
        fmt::format("{} being indexed again", types->size() == 1
                                                  ? std::string("1 type is")
                                                  : fmt::format("{} types are", types->size())));
}

}  // namespace annals::core
