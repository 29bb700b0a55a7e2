#include "core/operations/meta.h"

#include "core/definitions.h"
#include "core/interactions/answer.h"
#include "core/interactions/preconditions.h"
#include "core/interactions/rewrite.h"
#include "core/interactions/submitted_resource.h"
#include "core/interactions/turns.h"
#include "core/interactions/vread.h"
#include "core/operations/input.h"
#include "core/operations/meta_set.h"
#include "core/operations/parameters_writer.h"
#include "core/scoped_view.h"
#include "core/search/execute.h"
#include "core/search/query.h"
#include "core/search/snapshot_resources.h"

#include <fmt/format.h>

#include <memory>

namespace annals::core {

namespace {

/// The most resources with a profile, tag or label that are read for a union.
constexpr std::size_t kResourcesMax = 2'000'000;

/// R4 requires exactly one `return`, but elements are never empty: an empty Meta says why it is (`reason`).
Body meta_body(std::string_view meta, std::string_view reason = "not-applicable") {
    ParametersWriter out;
    if (meta == "{}") {
        out.add("return", "valueMeta",
                fmt::format(R"({{"extension":[{{"url":)"
                            R"("http://hl7.org/fhir/StructureDefinition/data-absent-reason",)"
                            R"("valueCode":"{}"}}]}})",
                            reason));
    } else {
        out.add("return", "valueMeta", meta);
    }
    return Body(out.resource());
}

/// Returns its meta as stored.
asio::awaitable<Response> answer_meta(const Service& service, const Request& request,
                                      storage::VersionInfo info) {
    co_await request.loop->fetched(std::span(&info, 1));
    const Result<storage::StoredVersion> stored = service.store().load(info);
    if (!stored) {
        co_return stored.error();
    }
    const Result<json::Document> document = thread_parser().parse(stored->body);
    if (!document) {
        co_return document.error();
    }
    Response response;
    set_version(response, info.version, info.instant);
    response.body = meta_body(document->root()["meta"].raw());
    co_return response;
}

/// The same to who reads it; 304 if he has it.
asio::awaitable<Response> answer_read_meta(const Service& service, const Request& request,
                                           storage::VersionInfo info) {
    if (request.method != HttpMethod::post && not_modified(request, info.version, info.instant)) {
        Response response;
        response.status = 304;
        set_version(response, info.version, info.instant);
        co_return response;
    }
    co_return co_await answer_meta(service, request, info);
}

/// Visits, one by one, all live resources of the target's types, or only those whose meta may matter.
class MetaScan {
  public:
    MetaScan(const Service& service, const Request& request, const Target& target)
        : service_(service),
          request_(request),
          target_(target),
          parameters_(service.indexing().parameters()),
          view_(service, request, kMayRead),
          snapshot_(service.store()),
          turns_(*request.loop, service.config().limits.request_timeout) {}

    asio::awaitable<Result<std::string>> run() {
        Result<void> done = read_plans();
        for (std::size_t i = 0; done && i < types_.size(); ++i) {
            done = co_await look_at(types_[i]);
        }
        if (!done) {
            co_return std::move(done.error());
        }
        co_return union_.json();
    }

  private:
    /// For each type: the resources with any profile, tag or label.
    Result<void> read_plans() {
        const search::SnapshotResources stored(snapshot_, service_.definitions().carried());
        const search::QueryContext context{.stored = stored,
                                           .view = view_,
                                           .parameters = parameters_,
                                           .base_url = std::string(request_.base_url)};
        std::vector<TypeId> types;
        if (target_.level == Level::type_operation) {
            types.push_back(target_.type);
        }
        for (const char* name : {"_profile:missing", "_security:missing", "_tag:missing"}) {
            const std::vector<search::QueryPair> pairs{{name, "false"}};
            ANNALS_TRY(search::Query query, search::parse_query(context, types, pairs));
            for (std::size_t i = 0; i < query.types.size(); ++i) {
                if (i == types_.size()) {
                    types_.push_back({query.types[i].type, search::nothing()});
                }
                types_[i].plan =
                    search::any_of(std::move(types_[i].plan), std::move(query.types[i].plan));
            }
        }
        return {};
    }

    asio::awaitable<Result<void>> look_at(const search::Query::TypePlan& one) {
        if (snapshot_.runs(one.type).runs.empty()) {
            co_return Result<void>();
        }
        search::Execution execution(snapshot_, one.type, one.plan);
        execution.want({.limit = kResourcesMax - looked_at_ + 1});
        Result<void> done = co_await turns_.finish(execution);
        if (!done) {
            co_return std::move(done.error());
        }
        looked_at_ += execution.matches().size();
        if (looked_at_ > kResourcesMax) {
            co_return Error{
                Errc::too_costly,
                fmt::format("More than {} resources have a profile, tag or label", kResourcesMax)};
        }
        const std::span<const search::Match> matches = execution.matches();
        for (std::size_t i = 0; i < matches.size(); ++i) {
            if (i % kFetchedAtOnce == 0) {
                co_await fetch(matches.subspan(i));
            }
            Result<void> added = union_.add(bodies_.read(matches[i].position())["meta"]);
            if (!added) {
                co_return std::move(added.error());
            }
            if (turns_.pace().is_over()) {
                done = co_await turns_.next();
                if (!done) {
                    co_return std::move(done.error());
                }
            }
        }
        co_return Result<void>();
    }

    /// Fetches the first of these.
    asio::awaitable<void> fetch(std::span<const search::Match> matches) {
        std::vector<Position> positions;
        for (const search::Match& match : matches.first(std::min(matches.size(), kFetchedAtOnce))) {
            positions.push_back(match.position());
        }
        positions = snapshot_.unread(positions);
        if (!positions.empty()) {
            co_await request_.loop->fetched(std::move(positions));
        }
    }

    const Service& service_;
    const Request& request_;
    const Target& target_;
    std::shared_ptr<const search::ParameterSet> parameters_;
    ScopedView view_;
    search::Snapshot snapshot_;
    Turns turns_;
    search::BodyReader bodies_{service_.store()};
    std::vector<search::Query::TypePlan> types_;
    MetaUnion union_;
    std::size_t looked_at_ = 0;
};

/// Makes a new version with the changed meta; returns the newest one if nothing changes.
asio::awaitable<Response> change(const Service& service, const Request& request,
                                 const Target& target, const OperationInput& input,
                                 MetaChange what) {
    const json::Value meta = input.value("meta");
    Rewrite rewrite;
    rewrite.type = target.type;
    rewrite.id = target.id;
    rewrite.make = [&](const storage::StoredVersion& base,
                       Unfinished&) -> Result<std::optional<json::Document>> {
        ANNALS_TRY(const json::Document before, thread_parser().parse(base.body));
        const json::Value old = before.root()["meta"];
        ANNALS_TRY(const std::optional<std::string> changed, change_meta(old, meta, what));
        if (!changed) {
            return std::optional<json::Document>();
        }
        const std::string_view text = before.text();
        const json::Node& node = old.node();
        ANNALS_TRY(json::Document after,
                   thread_parser().parse(fmt::format("{}{}{}", text.substr(0, node.begin), *changed,
                                                     text.substr(node.end))));
        return std::optional<json::Document>(std::move(after));
    };
    Response written = co_await rewrite_resource(service, request, rewrite);
    if (written.status >= 300) {
        co_return written;
    }
    const auto info = service.store().version(target.type, target.id, *written.etag);
    if (!info) {
        co_return no_such_resource(target.type, target.id);  // erased a moment ago
    }
    if (is_restricted(request)) {
        co_await request.loop->fetched(std::span(&*info, 1));
    }
    Response done;
    if (may_be_told(service, request, *info)) {
        done = co_await answer_meta(service, request, *info);
    } else {
        set_version(done, info->version, info->instant);
        done.body = meta_body("{}", "masked");
    }
    done.position = written.position;
    co_return done;
}

Result<OperationInput> read_change(const Request& request) {
    ANNALS_TRY(OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"meta"}));
    ANNALS_TRY_VOID(input.once({"meta"}));
    ANNALS_TRY(const std::vector<json::Value> given, input.parts("meta"));
    if (given.empty() || !given.front()["valueMeta"].is_object()) {
        return Error{Errc::required, "The parameter meta (valueMeta) is required"};
    }
    return input;
}

asio::awaitable<Response> read_and_change(const Service& service, const Request& request,
                                          const Target& target, MetaChange what) {
    if (Result<void> allowed = require(service, request, kMayUpdate, target.type, Extent::part);
        !allowed) {
        co_return allowed.error();
    }
    const Result<OperationInput> input = read_change(request);
    if (!input) {
        const auto newest = service.store().current(target.type, target.id);
        if (!newest || !ScopedView(service, request, kMayUpdate).shows(*newest)) {
            co_return no_such_resource(target.type, target.id);
        }
        co_return input.error();
    }
    Response response = co_await change(service, request, target, *input, what);
    co_return response;
}

/// For the newest version, or the one in the URL.
asio::awaitable<Response> meta_of_instance(const Service& service, const Request& request,
                                           const Target& target) {
    const ScopedView view(service, request, kMayRead);
    const auto newest = service.store().current(target.type, target.id);
    if (newest) {
        co_await fetch_version(service, request, target.id, *newest);
    }
    if (!newest || (target.level == Level::instance_operation && !view.shows(*newest))) {
        co_return no_such_resource(target.type, target.id);
    }
    if (target.level == Level::instance_operation) {
        if (newest->deletion) {
            co_return answer_deleted(service, target.id, *newest);
        }
        co_return co_await answer_read_meta(service, request, *newest);
    }
    const auto info = find_version(service.store(), target.type, target.id, target.version);
    if (info) {
        co_await fetch_version(service, request, target.id, *info);
    }
    if (!info || !view.shows(*info)) {
        if (!view.shows(*newest)) {
            co_return no_such_resource(target.type, target.id);
        }
        co_return no_such_version(target.type, target.id, target.version);
    }
    if (info->deletion) {
        co_return answer_deleted(service, target.id, *info);
    }
    co_return co_await answer_read_meta(service, request, *info);
}

}  // namespace

asio::awaitable<Response> meta_operation(const Service& service, const Request& request,
                                         const Target& target) {
    if (request.method == HttpMethod::post && target.level == Level::instance_operation) {
        Response response = co_await read_and_change(service, request, target, MetaChange::add);
        co_return response;
    }
    if (const Result<void> fit = OperationInput::none(request); !fit) {
        co_return fit.error();
    }
    if (target.level == Level::instance_operation || target.level == Level::version_operation) {
        co_return co_await meta_of_instance(service, request, target);
    }
    MetaScan scan(service, request, target);
    const Result<std::string> meta = co_await scan.run();
    if (!meta) {
        co_return meta.error();
    }
    Response response;
    response.body = meta_body(*meta);
    co_return response;
}

asio::awaitable<Response> meta_add_operation(const Service& service, const Request& request,
                                             const Target& target) {
    return read_and_change(service, request, target, MetaChange::add);
}

asio::awaitable<Response> meta_delete_operation(const Service& service, const Request& request,
                                                const Target& target) {
    return read_and_change(service, request, target, MetaChange::remove);
}

}  // namespace annals::core
