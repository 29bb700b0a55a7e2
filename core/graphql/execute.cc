#include "core/graphql/execute.h"

#include "core/graphql/execution.h"
#include "core/graphql/parser.h"
#include "core/graphql/search_fields.h"
#include "core/graphql/validate.h"
#include "core/graphql/walk.h"
#include "core/scoped_view.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

namespace annals::core::graphql {

namespace {

using storage::VersionInfo;

/// Executes a query step by step.
class Executor {
  public:
    Executor(const Service& service, const Request& request, Planner planner,
             std::shared_ptr<const search::ParameterSet> parameters, const ScopedView& searched,
             search::Snapshot& snapshot, Turns& turns)
        : service_(service),
          snapshot_(snapshot),
          read_(service, request, kMayRead, "read"),
          turns_(turns),
          execution_(planner),
          walker_(service, request, read_, snapshot, execution_, turns_),
          searcher_(service, request, searched, std::move(parameters), snapshot, turns_),
          search_fields_(searcher_, execution_),
          reader_(service.store()) {}

    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    /// Where the query failed.
    Location fault() const noexcept { return execution_.fault(); }

    /// Errors: invalid, too_costly: the query fails; those of the server.
    asio::awaitable<Result<std::string>> run(std::optional<VersionInfo> focus) {
        Result<void> done = co_await begin(focus);
        while (done) {
            std::vector<Task> step = execution_.take_step();
            if (step.empty()) {
                co_return execution_.output().json();
            }
            done = co_await run_step(step);
        }
        co_return std::move(done.error());
    }

  private:
    asio::awaitable<Result<void>> begin(const std::optional<VersionInfo>& focus) {
        const ObjectType type =
            focus ? ObjectType{ObjectKind::fhir, schema::Type(focus->type)} : ObjectType{};
        Result<std::unique_ptr<ObjectPlan>> root = execution_.plan_root(type);
        if (!root) {
            co_return std::move(root.error());
        }
        root_ = *std::move(root);
        if (focus) {
            execution_.begin(*focus);
            co_return Result<void>();
        }
        Result<void> done = co_await begin_query();
        co_return done;
    }

    /// Adds the fields of the system level.
    asio::awaitable<Result<void>> begin_query() {
        const Place place;
        for (FieldPlan& field : root_->fields) {
            Result<void> done = Result<void>();
            if (field.definition.kind == FieldKind::type_name) {
                done = execution_.add_text(place, field, false, R"("Query")");
            } else if (field.definition.kind == FieldKind::read) {
                done = co_await begin_read(place, field);
            } else {
                done = execution_.begin_search(place, field);
            }
            if (!done) {
                co_return std::move(done.error());
            }
        }
        co_return Result<void>();
    }

    asio::awaitable<Result<void>> begin_read(const Place& place, FieldPlan& field) {
        const TypeId type = *field.definition.type.resource_type();
        if (const Result<void> may = walker_.may_read(type); !may) {
            co_return execution_.fail(place, field, may.error());
        }
        const std::string& id = field.call.id;
        const auto info = is_resource_id(id) && snapshot_.position().value != 0
                              ? service_.store().current(type, id, snapshot_.position())
                              : std::nullopt;
        const Result<bool> readable = co_await walker_.is_readable(info, field);
        if (!readable) {
            co_return readable.error();
        }
        co_return *readable ? execution_.begin_resource(place, field, *info, false, false)
                            : execution_.fail(place, field, absent(field));
    }

    asio::awaitable<Result<void>> run_step(std::vector<Task>& step) {
        std::vector<VersionInfo> versions;
        for (const Task& task : step) {
            if (task.resource) {
                versions.push_back(*task.resource);
            }
        }
        std::size_t at = 0;
        for (Task& task : step) {
            if (turns_.pace().is_over()) {
                Result<void> in_time = co_await turns_.next();
                if (!in_time) {
                    co_return std::move(in_time.error());
                }
            }
            Result<void> done = Result<void>();
            if (!task.resource) {
                done = co_await search_fields_.run(task);
            } else {
                if (at % kFetchedAtOnce == 0) {
                    co_await turns_.fetched_from(versions, at);
                }
                ++at;
                done = co_await run_resource(task);
            }
            if (!done) {
                co_return std::move(done.error());
            }
        }
        co_return Result<void>();
    }

    asio::awaitable<Result<void>> run_resource(Task& task) {
        const VersionInfo& info = *task.resource;
        const json::Value body = reader_.read(info.position);
        if (!body) {
            co_return leave_out(task);
        }
        const Focus focus{body, fmt::format("{}/{}", resource_type_name(info.type), reader_.id())};
        const schema::Type type(info.type);
        ObjectPlan* plan = root_.get();
        if (task.field != nullptr) {
            Result<ObjectPlan*> below =
                execution_.plan_below(*task.field, {ObjectKind::fhir, type});
            if (!below) {
                co_return std::move(below.error());
            }
            plan = *below;
        }
        Result<void> done = co_await walker_.walk(body, type, *plan, task.place, focus);
        co_return done;
    }

    /// Called if a resource has disappeared since it was found.
    Result<void> leave_out(const Task& task) {
        Output& output = execution_.output();
        if (!task.place.flattened) {
            output.set_null(task.place.node);
        }
        return task.optional || task.field == nullptr
                   ? Result<void>()
                   : output.add_error(absent(*task.field), task.field->selection->at,
                                      task.place.node);
    }

    const Service& service_;
    search::Snapshot& snapshot_;
    ScopedView read_;
    Turns& turns_;
    Execution execution_;
    Walker walker_;
    Searcher searcher_;
    SearchFields search_fields_;
    search::BodyReader reader_;
    std::unique_ptr<ObjectPlan> root_;
};

}  // namespace

asio::awaitable<Result<std::string>> execute(const Service& service, const Request& request,
                                             const Query& query, search::Snapshot& snapshot,
                                             std::optional<VersionInfo> focus, Turns& turns) {
    Location fault;
    const Result<Document> document = parse(query.document, fault);
    if (!document) {
        co_return failure_json(document.error(), fault);
    }
    const auto operation = choose_operation(*document, query.operation, fault);
    if (!operation) {
        co_return failure_json(operation.error(), fault);
    }
    const Result<Variables> variables = read_variables(**operation, query.variables, fault);
    if (!variables) {
        co_return failure_json(variables.error(), fault);
    }
    const ScopedView searched(service, request, kMaySearch, "search");
    const std::shared_ptr<const search::ParameterSet> parameters = searched.parameters();
    const Scope root = focus ? Scope{ObjectKind::fhir, {schema::Type(focus->type)}} : Scope();
    const Result<void> valid =
        validate(*document, **operation, root, *variables, *parameters, fault);
    if (!valid) {
        co_return failure_json(valid.error(), fault);
    }
    Executor executor(service, request, Planner(*document, **operation, *variables, *parameters),
                      parameters, searched, snapshot, turns);
    Result<std::string> answer = co_await executor.run(focus);
    if (!answer && !is_the_servers(answer.error())) {
        co_return failure_json(answer.error(), executor.fault());
    }
    co_return answer;
}

}  // namespace annals::core::graphql
