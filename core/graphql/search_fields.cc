#include "core/graphql/search_fields.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace annals::core::graphql {

namespace {

using storage::VersionInfo;

/// A field of a connection, as JSON.
std::string text_of(FieldKind kind, const FoundPage& page) {
    const auto cursor = [](const std::string& text) {
        return text.empty() ? std::string("null") : json::quoted(text);
    };
    switch (kind) {
        case FieldKind::count:
            return page.total ? std::to_string(*page.total) : "null";
        case FieldKind::offset:
            return std::to_string(page.offset);
        case FieldKind::pagesize:
            return std::to_string(page.size);
        case FieldKind::first:
            return cursor(page.first);
        case FieldKind::previous:
            return cursor(page.previous);
        case FieldKind::next:
            return cursor(page.next);
        default:
            return cursor(page.last);
    }
}

}  // namespace

asio::awaitable<Result<void>> SearchFields::run(Task& task) {
    FieldPlan& field = *task.field;
    const TypeId type = *field.definition.type.resource_type();
    if (field.definition.kind == FieldKind::connection) {
        co_return co_await run_connection(task, type);
    }
    const Result<FoundPage> found =
        co_await searcher_.list(type, field.call.search, std::move(task.focus));
    if (!found) {
        co_return execution_.fail(task.place, field, found.error());
    }
    if (found->matches.empty()) {
        co_return execution_.output().add_nothing(task.place, field, true);
    }
    for (const VersionInfo& match : found->matches) {
        Result<void> begun = execution_.begin_resource(task.place, field, match, true, false);
        if (!begun || field.call.first) {
            co_return begun;
        }
    }
    co_return Result<void>();
}

asio::awaitable<Result<void>> SearchFields::run_connection(Task& task, TypeId type) {
    FieldPlan& field = *task.field;
    const ObjectType object{ObjectKind::connection, schema::Type(type)};
    Result<ObjectPlan*> plan = execution_.plan_below(field, object);
    if (!plan) {
        co_return std::move(plan.error());
    }
    const bool counted = std::ranges::any_of((*plan)->fields, [](const FieldPlan& one) {
        return one.definition.kind == FieldKind::count || one.definition.kind == FieldKind::last;
    });
    const Result<FoundPage> page =
        co_await searcher_.page(type, field.call.search, std::move(task.focus), counted);
    if (!page) {
        co_return execution_.fail(task.place, field, page.error());
    }
    const Result<std::optional<Place>> own =
        execution_.begin_object(task.place, field, object, false);
    if (!own) {
        co_return own.error();
    }
    if (!*own) {
        co_return Result<void>();
    }
    co_return add_connection(object, **plan, **own, *page);
}

Result<void> SearchFields::add_connection(const ObjectType& type, ObjectPlan& plan,
                                          const Place& place, const FoundPage& page) {
    for (FieldPlan& field : plan.fields) {
        const FieldKind kind = field.definition.kind;
        if (kind == FieldKind::edges) {
            ANNALS_TRY_VOID(add_edges(field, place, page));
        } else {
            const std::string text =
                kind == FieldKind::type_name ? json::quoted(type_name(type)) : text_of(kind, page);
            ANNALS_TRY_VOID(execution_.add_text(place, field, false, text));
        }
    }
    return {};
}

Result<void> SearchFields::add_edges(FieldPlan& field, const Place& place, const FoundPage& page) {
    if (page.matches.empty()) {
        return execution_.output().add_nothing(place, field, true);
    }
    const ObjectType type{ObjectKind::edge, field.definition.type};
    for (const VersionInfo& match : page.matches) {
        ANNALS_TRY(const std::optional<Place> own,
                   execution_.begin_object(place, field, type, true));
        ANNALS_TRY(ObjectPlan* const plan, execution_.plan_below(field, type));
        if (!own) {
            return {};
        }
        ANNALS_TRY_VOID(add_edge(type, *plan, *own, match));
        if (field.call.first) {
            break;
        }
    }
    return {};
}

Result<void> SearchFields::add_edge(const ObjectType& type, ObjectPlan& plan, const Place& place,
                                    const VersionInfo& match) {
    for (FieldPlan& field : plan.fields) {
        switch (field.definition.kind) {
            case FieldKind::edge_resource:
                ANNALS_TRY_VOID(execution_.begin_resource(place, field, match, false, false));
                break;
            case FieldKind::mode:
                ANNALS_TRY_VOID(execution_.add_text(place, field, false, R"("match")"));
                break;
            case FieldKind::type_name:
                ANNALS_TRY_VOID(
                    execution_.add_text(place, field, false, json::quoted(type_name(type))));
                break;
            default:
                ANNALS_TRY_VOID(execution_.output().add_nothing(place, field, false));
                break;
        }
    }
    return {};
}

}  // namespace annals::core::graphql
